"""`prowess update`: newer versions of installed skills, without losing local edits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import (
    backup_option,
    begin_work,
    dry_run_option,
    open_place,
    private_host_option,
    user_option,
    yes_option,
)
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.install_output import print_plan, shorten_version
from prowess.cli.terminal.out import console, print_json
from prowess.cli.terminal.prompts import agree, shape_not_asked
from prowess.errors import UsageError
from prowess.reports.install_check import SkillVersion
from prowess.supply.install.installer import Installer
from prowess.supply.install.merge import MERGE, OURS, THEIRS
from prowess.supply.install.plan import PlannedInstall
from prowess.supply.install.update import (
    Update,
    combine_edits,
    find_updates,
    render_edits,
    select_entries,
)
from prowess.text.display import count_words, escape_line, escape_text

_DONE = "updated"
_NOTES = {
    "pinned": "is pinned",
    "gone": "is gone",
    "renamed": "was renamed",
    "failed": "cannot be updated",
    "refused": "is not updated",
}


@click.command("update")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--ours", is_flag=True, help="Keep your version of what you edited.")
@click.option("--theirs", is_flag=True, help="Drop your edits.")
@click.option("--merge", is_flag=True, help="Merge your edits, line by line.")
@backup_option
@private_host_option
@user_option
@yes_option
@dry_run_option
@host_option
@json_option
def command(
    names: tuple[str, ...],
    ours: bool,
    theirs: bool,
    merge: bool,
    backup: bool,
    private_hosts: tuple[str, ...],
    user: bool,
    yes: bool,
    dry_run: bool,
    host: str,
    as_json: bool,
) -> int:
    """Update installed skills to what their sources have now.

    Without a NAME, updates all of them except pinned ones. Local edits stop the update and are
    shown, unless you choose --ours, --theirs or --merge.
    """
    strategy = _choose_strategy({OURS: ours, THEIRS: theirs, MERGE: merge})
    skills, place = open_place(host, user=user)
    entries = select_entries(place.open_lock().load(), names, skills)
    with begin_work(place, "checking sources", private_hosts=private_hosts) as (
        installer,
        progress,
    ):
        updates = list(find_updates(installer, entries))
        progress.finish()
        planned = installer.plan([one.wanted for one in updates if one.wanted is not None])
        if not as_json:
            _print_updates(installer, updates, planned)
        is_wanted = bool(planned.wanted) and not dry_run
        if not is_wanted:
            return _finish(updates, planned, _choose_code(updates), as_json=as_json, updated=False)
        # Without a strategy this refuses edited skills, after the differences were shown.
        merged = combine_edits(installer, planned, strategy)
        question = f"Update {count_words(len(planned.wanted), 'skill')}?"
        if not yes and not agree(question, done=_DONE, as_json=as_json):
            return _finish(updates, planned, Exit.REFUSED, as_json=as_json, updated=False)
        is_theirs = strategy == THEIRS
        installer.apply(planned, merged=merged, overwrite=is_theirs, backup=backup)
    return _finish(updates, planned, _choose_code(updates), as_json=as_json, updated=True)


def _finish(
    updates: list[Update], planned: PlannedInstall, code: int, *, as_json: bool, updated: bool
) -> int:
    if as_json:
        versions = [one.version.shape() for one in updates]
        shape: dict[str, Any] = {
            "skills": versions,
            "plan": planned.plan.shape(),
            "updated": updated,
        }
        if code == Exit.REFUSED:
            shape["error"] = shape_not_asked(_DONE)
        print_json(shape)
    elif updated:
        names = ", ".join(escape_line(one.name) for one in planned.plan.skills)
        console().print(f"Updated {names}.")
    return code


def _choose_strategy(given: Mapping[str, bool]) -> str:
    """What to do with edits; "" for none. Raises `UsageError`."""
    chosen = [strategy for strategy, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise UsageError("Use one of --ours, --theirs and --merge.")
    return chosen[0] if chosen else ""


def _choose_code(updates: list[Update]) -> int:
    states = {one.version.state for one in updates}
    if "failed" in states:
        return Exit.MACHINE
    return Exit.REFUSED if "refused" in states else Exit.OK


def _print_updates(installer: Installer, updates: list[Update], planned: PlannedInstall) -> None:
    for update in updates:
        _print_note(update.version)
    if not planned.wanted:
        console().print("Nothing to update.")
        return
    print_plan(planned.plan, os.getcwd())
    for wanted, skill in zip(planned.wanted, planned.plan.skills, strict=True):
        if wanted.previous is None:
            continue
        for difference in render_edits(installer, skill, wanted.previous):
            console().print(escape_text(difference))


def _print_note(version: SkillVersion) -> None:
    note = _NOTES.get(version.state)
    if note is None:
        return
    said = f"{version.name} {note}"
    if version.state == "pinned":
        said += f" at {shorten_version(version.installed)}"
    if version.problem:
        said += f": {version.problem.rstrip('.')}"
    click.echo(escape_text(f"{said}. {version.advice}".rstrip()), err=True)
