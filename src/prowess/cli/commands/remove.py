"""`prowess remove`: take installed skills away."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import (
    backup_option,
    dry_run_option,
    open_place,
    user_option,
    yes_option,
)
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.prompts import agree, shape_not_asked
from prowess.errors.install import LocalChanges
from prowess.machine.installed_folder import recover
from prowess.reports.install_check import CHANGED
from prowess.runtime import Skills
from prowess.state.install_lock import LockedSkill
from prowess.state.skill_store import SkillStore
from prowess.supply.install.apply import remove_entries
from prowess.supply.install.targets import InstallPlace
from prowess.supply.install.update import select_entries
from prowess.supply.install.verify import check_targets
from prowess.text.display import escape_line

_DONE = "removed"
_HINT = "Use --backup to keep a copy, or --force to lose the changes."
_FOLDER_HINT = "Delete the folder to remove it."


@click.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--force", is_flag=True, help="Also remove folders that were edited.")
@backup_option
@user_option
@yes_option
@dry_run_option
@host_option
@json_option
def command(
    names: tuple[str, ...],
    force: bool,
    backup: bool,
    user: bool,
    yes: bool,
    dry_run: bool,
    host: str,
    as_json: bool,
) -> int:
    """Remove installed skills: their folders, and their entries in prowess.lock.

    Where two sources have a skill of the same name, write SOURCE@NAME. Folders that you edited are
    removed only with --backup or --force.
    """
    skills, place = open_place(host, user=user)
    may_lose = force or backup
    # Nothing is lost by showing what would be removed.
    entries = _choose(skills, place, names, may_lose=may_lose or dry_run)
    folders = place.list_folders(entries)
    shape = {"names": [one.name for one in entries], "folders": folders}
    if not as_json:
        for folder in folders:
            console().print(f"Remove {shorten_path(folder, os.getcwd())}")
    if dry_run:
        return _finish(shape, Exit.OK, as_json=as_json, removed=False)
    if not yes and not agree("Remove them?", done=_DONE, as_json=as_json):
        return _finish(shape, Exit.REFUSED, as_json=as_json, removed=False)
    # Chosen again: while somebody thought about it, another program may have installed.
    with place.open_lock().hold():
        # What a killed program has left next to a folder may be what the user edited.
        recover(folders)
        entries = _choose(skills, place, names, may_lose=may_lose)
        remove_entries(place, entries, backup=backup)
    if not as_json:
        removed = ", ".join(escape_line(entry.name) for entry in entries)
        console().print(f"Removed {removed}.")
    return _finish(shape, Exit.OK, as_json=as_json, removed=True)


def _choose(
    skills: Skills, place: InstallPlace, names: tuple[str, ...], *, may_lose: bool
) -> tuple[LockedSkill, ...]:
    """The skills to remove. Raises `LocalChanges` for edited ones, unless those may be lost."""
    content = place.open_lock().load()
    entries = select_entries(content, names, skills, folder_hint=_FOLDER_HINT)
    edited = () if may_lose else _list_edited(place, entries)
    if edited:
        raise LocalChanges(edited, hint=_HINT)
    return entries


def _list_edited(place: InstallPlace, entries: tuple[LockedSkill, ...]) -> tuple[str, ...]:
    store = SkillStore.of(place.facts)
    checked = check_targets(place, entries, store)
    return tuple(dict.fromkeys(entry.name for entry, one in checked if one.state == CHANGED))


def _finish(shape: dict[str, list[str]], code: int, *, as_json: bool, removed: bool) -> int:
    if as_json:
        error = {"error": shape_not_asked(_DONE)} if code == Exit.REFUSED else {}
        print_json({**shape, "removed": removed, **error})
    return code
