"""`prowess verify`: whether installed skills are what prowess.lock says."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import open_place, user_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.errors import UsageError
from prowess.reports.install_check import CheckedTarget, InstallCheck
from prowess.state.skill_store import SkillStore
from prowess.supply.install.verify import list_present, verify_installed
from prowess.text.display import count_words, escape_line


@click.command("verify")
@click.option(
    "--frozen",
    is_flag=True,
    help="For CI: also fail on skills and files that are not in prowess.lock.",
)
@click.option(
    "--own",
    multiple=True,
    metavar="FOLDER",
    help="With --frozen: the skills in this folder are the project's own; may be repeated.",
)
@user_option
@host_option
@json_option
def command(frozen: bool, own: tuple[str, ...], user: bool, host: str, as_json: bool) -> int:
    """Check installed skills against prowess.lock.

    Hashes every file, and lists each one that was changed, is missing or was added. Exits with 1 if
    there is any. What programs leave behind (`__pycache__`, `.DS_Store`) is ignored without
    --frozen. With it, all skill folders of the project are searched, for any agent.
    """
    if own and not frozen:
        raise UsageError("--own needs --frozen; without it, only installed skills are checked.")
    skills, place = open_place(host, user=user)
    content = place.open_lock().load()
    # In CI a check of nothing, for want of the lock file, must not look like a success.
    if frozen and not content.skills:
        raise UsageError(f"There is nothing to check: {place.lock_path} has no skills.")
    with Progress("checking installed skills"):
        found_here = list_present(skills, place, content) if frozen else ()
        present = _leave_out_own(found_here, own)
        store = SkillStore.of(place.facts)
        found = verify_installed(place, content, store, frozen=frozen, present=present)
    if as_json:
        print_json(found.shape())
    else:
        _print_check(found)
    return Exit.FOUND_ERRORS if found.problems else Exit.OK


def _leave_out_own(folders: Iterable[str], own: tuple[str, ...]) -> list[str]:
    """The folders without those of the project's own skills."""
    allowed = tuple(os.path.join(os.path.abspath(one), "") for one in own)
    return [folder for folder in folders if not f"{folder}/".startswith(allowed)]


def _print_check(found: InstallCheck) -> None:
    screen = console()
    for one in found.problems:
        _print_problem(one)
    checked = count_words(len(found.targets), "installed folder")
    if found.problems:
        screen.print(f"{checked} checked, {len(found.problems)} different from prowess.lock.")
    else:
        screen.print(f"{checked} checked, {count_words(found.files, 'file')}, no differences.")


def _print_problem(one: CheckedTarget) -> None:
    screen = console()
    cwd = os.getcwd()
    screen.print(f"{shorten_path(one.folder, cwd)}: {one.state}", style="bold")
    changes = one.changes
    for word, paths in (
        ("changed", changes.changed),
        ("missing", changes.missing),
        ("added", changes.added),
    ):
        for path in paths:
            screen.print(f"  {word:<8}{escape_line(path)}")
    screen.print(f"  {one.advice}")
