"""`prowess verify`: whether installed skills are what prowess.lock says."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import open_place, user_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.errors import UsageError
from prowess.reports.install_check import CheckedTarget, InstallCheck
from prowess.state.skill_store import SkillStore
from prowess.supply.install.verify import verify_installed
from prowess.text.display import count_words, escape_line


@click.command("verify")
@click.option("--frozen", is_flag=True, help="Also fail on skills that are not in prowess.lock.")
@user_option
@host_option
@json_option
def command(frozen: bool, user: bool, host: str, as_json: bool) -> int:
    """Check installed skills against prowess.lock.

    Hashes every file, and lists each one that was changed, is missing or was added. Exits with 1 if
    there is any.
    """
    _, place = open_place(host, user=user)
    content = place.open_lock().load()
    if frozen and not content.skills:
        raise UsageError(f"There is nothing to check: {place.lock_path} has no skills.")
    with Progress("checking installed skills"):
        found = verify_installed(place, content, SkillStore.of(place.facts), frozen=frozen)
    if as_json:
        print_json(found.shape())
    else:
        _print_check(found)
    return Exit.FOUND_ERRORS if found.problems else Exit.OK


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
