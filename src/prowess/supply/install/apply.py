"""Carry out a plan: into the store, into the lock file, into the folders, in that order.

The lock file is written before the folders. A program that is killed in between leaves folders that
are older than the lock file, each of them whole, and `prowess sync` brings them up to date. Because
the store has the older version, it is not taken for an edit of the user.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import msgspec

from prowess.errors import MachineError
from prowess.machine.files import LocalFiles
from prowess.machine.installed_folder import (
    back_up,
    make_parent,
    name_staged,
    put_in_place,
    recover,
    stage_link,
    take_away,
)
from prowess.machine.tree_files import copy_tree, load_tree, remove_tree
from prowess.state.edited_files import backup_folder
from prowess.state.install_lock import LockContent, LockedSkill, format_moment
from prowess.state.skill_store import SkillStore
from prowess.supply.install.plan import LINK, PlannedInstall, Wanted
from prowess.supply.install.targets import InstallPlace


def apply_plan(
    place: InstallPlace,
    planned: PlannedInstall,
    store: SkillStore,
    *,
    merged: Mapping[str, str] | None = None,
    backup: bool = False,
    clock: Callable[[], float] = time.time,
) -> tuple[LockedSkill, ...]:
    """Install what was planned; the entries of the lock file. Raises `MachineError`.

    `merged` has folders to be used instead of the fetched files, by target: there the user's own
    edits are combined with them. With `backup` a copy of every replaced folder is kept. The caller
    holds the lock.
    """
    lock = place.open_lock()
    content = lock.load()
    moment = format_moment(clock())
    entries: list[LockedSkill] = []
    for wanted in planned.wanted:
        store.add(wanted.skill.folder, wanted.skill.tree)
        entries.append(_make_entry(place, wanted, content, moment))
    lock.save(content.replace(tuple(_list_replaced(planned)), tuple(entries)))
    merged_folders = merged or {}
    for entry, skill in zip(entries, planned.plan.skills, strict=True):
        changing = [target for target in skill.targets if target.action != "unchanged"]
        recover([target.folder for target in changing])
        for target in changing:
            if backup and target.action != "create":
                save_backup(place, target.folder)
            own = merged_folders.get(target.target)
            if not write_target(target.folder, entry, store, own=own):
                cause = "its files are missing from the store; run `prowess sync`"
                raise MachineError("write", target.folder, cause)
    return tuple(entries)


def write_target(
    folder: str, entry: LockedSkill, store: SkillStore, *, own: str | None = None
) -> bool:
    """Bring one folder to what the lock file says; whether the store had it.

    With `own`, the files of that folder are used instead. Raises `MachineError`.
    """
    make_parent(folder)
    # Beside the folder, because only a rename on one disk is one step.
    staged = name_staged(folder)
    try:
        if own is not None:
            copy_tree(own, load_tree(own), staged)
        elif entry.method == LINK:
            if not store.is_whole(entry.tree):
                return False
            stage_link(store.locate(entry.tree), staged)
        elif not store.copy(entry.get_tree(), staged, digest=entry.tree):
            return False
        put_in_place(staged, folder)
    except BaseException:
        # Also at Ctrl-C: a half-written folder is left only by a kill, and `recover` removes it.
        remove_tree(staged)
        raise
    return True


def remove_entries(
    place: InstallPlace, entries: tuple[LockedSkill, ...], *, backup: bool = False
) -> None:
    """Remove the folders of skills, then their entries. Raises `MachineError`.

    The caller holds the lock. Killed in between, `verify` reports a missing folder, and removing it
    again finishes the work.
    """
    lock = place.open_lock()
    content = lock.load()
    folders = place.list_folders(entries)
    recover(folders)
    for folder in folders:
        if backup and LocalFiles().find_kind(folder) == "folder":
            save_backup(place, folder)
        take_away(folder)
    lock.save(content.replace(entries, ()))


def save_backup(place: InstallPlace, folder: str) -> str:
    """Keep a copy of an installed folder among Prowess's backups; where it is."""
    name = folder.rpartition("/")[2]
    kept = f"{backup_folder(place.facts, 'install')}/{name}"
    back_up(folder, kept)
    return kept


def _list_replaced(planned: PlannedInstall) -> list[LockedSkill]:
    return [wanted.previous for wanted in planned.wanted if wanted.previous is not None]


def _make_entry(
    place: InstallPlace, wanted: Wanted, content: LockContent, moment: str
) -> LockedSkill:
    skill, source = wanted.skill, wanted.source
    previous = wanted.previous or content.find_same(wanted.identity)
    known = previous.targets if previous is not None else ()
    new = [place.name_target(folder) for folder in wanted.folders]
    entry = LockedSkill(
        name=skill.name,
        source=source.text,
        kind=source.kind,
        ref=source.ref,
        resolved=skill.resolved,
        path=skill.path,
        tree=skill.tree.digest,
        method=wanted.method,
        pinned=previous.pinned if previous is not None else None,
        signer=skill.signer or _find_signer(previous, skill.tree.digest),
        installed_at=moment,
        targets=tuple(sorted({*known, *new})),
        executable=skill.tree.executable,
        files=skill.tree.digests,
    )
    # Installing the same again changes nothing, so that the lock file has no difference to show.
    if previous is None:
        return entry
    again = msgspec.structs.replace(entry, installed_at=previous.installed_at)
    return previous if again == previous else entry


def _find_signer(previous: LockedSkill | None, tree: str) -> str:
    """Who signed the same version before; not everybody knows the same signers."""
    if previous is None or previous.tree != tree:
        return ""
    return previous.signer
