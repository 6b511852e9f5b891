"""Restore exactly what the lock file says: from the store, or from the sources."""

from __future__ import annotations

from collections import Counter

import msgspec

from prowess.errors import UsageError
from prowess.errors.install import LocalChanges, SourceFailed
from prowess.machine.installed_folder import recover
from prowess.reports.install_check import CHANGED, MISSING, OK, OLDER, CheckedTarget
from prowess.state.install_lock import LockedSkill
from prowess.supply.install.apply import save_backup, write_target
from prowess.supply.install.fetch import FetchedSkill
from prowess.supply.install.installer import Installer
from prowess.supply.install.source import VERSIONED
from prowess.supply.install.verify import check_targets

_HINT = "Run `prowess sync --theirs` to restore what was installed; --backup keeps a copy."


class SyncOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to restore.

    `frozen` fails where folders were edited, instead of leaving them as they are. `offline` fetches
    nothing. `theirs` replaces edited folders, too. `backup` keeps a copy of what is replaced.
    """

    frozen: bool = False
    offline: bool = False
    theirs: bool = False
    backup: bool = False


class Synced(msgspec.Struct, frozen=True):
    """The folders that were restored, those that were right already, and those left as edited."""

    restored: tuple[str, ...] = ()
    unchanged: int = 0
    edited: tuple[str, ...] = ()


_Work = list[tuple[LockedSkill, CheckedTarget]]


def sync_installed(installer: Installer, options: SyncOptions) -> Synced:
    """Bring every folder to what the lock file says; the lock file itself is never written.

    Raises `LocalChanges`, `SourceFailed` and `MachineError`. Whatever fails, every folder is as it
    was or as the lock file says.
    """
    place = installer.place
    lock = place.open_lock()
    with lock.hold():
        content = lock.load()
        # In CI an empty lock file is a mistake, such as the wrong folder, and must not look like
        # success.
        if options.frozen and not content.skills:
            raise UsageError(f"There is nothing to restore: {lock.path} has no skills.")
        for entry in content.skills:
            installer.check_locked(entry)
        # What a killed program left is put in order before anything is compared.
        recover(place.list_folders(content.skills))
        work = check_targets(place, content.skills, installer.store, exact=options.frozen)
        restored = _select(work, MISSING, OLDER)
        left = _select(work, CHANGED)
        if options.theirs:
            restored, left = _select(work, MISSING, OLDER, CHANGED), []
        if options.frozen and left:
            names = dict.fromkeys(entry.name for entry, _ in left)
            raise LocalChanges(tuple(names), hint=_HINT)
        # Everything is in the store before the first folder changes: a source that fails costs
        # nothing.
        _gather_trees(installer, restored, offline=options.offline)
        for entry, checked in restored:
            if options.backup and checked.state == CHANGED:
                save_backup(place, checked.folder)
            _restore(installer, entry, checked.folder, offline=options.offline)
    return Synced(
        restored=_list_folders(restored),
        unchanged=len(_select(work, OK)),
        edited=_list_folders(left),
    )


def _select(work: _Work, *states: str) -> _Work:
    return [(entry, checked) for entry, checked in work if checked.state in states]


def _list_folders(work: _Work) -> tuple[str, ...]:
    return tuple(checked.folder for _, checked in work)


def _gather_trees(installer: Installer, work: _Work, *, offline: bool) -> None:
    """Fetch what the store does not have."""
    needed = {entry.tree: entry for entry, _ in work}
    missing = [entry for tree, entry in needed.items() if not installer.store.has(tree)]
    uses = Counter((entry.source, entry.resolved) for entry in missing)
    for entry in missing:
        is_shared = uses[entry.source, entry.resolved] > 1
        fetch_locked(installer, entry, offline=offline, is_shared=is_shared)


def _restore(installer: Installer, entry: LockedSkill, folder: str, *, offline: bool) -> None:
    """Write one folder; a damaged copy in the store is fetched anew."""
    # Every copy is hashed while it is written, so a damaged tree in the store is noticed here.
    if write_target(folder, entry, installer.store):
        return
    fetch_locked(installer, entry, offline=offline)
    if not write_target(folder, entry, installer.store):
        raise SourceFailed(entry.source, f"the store cannot keep “{entry.name}”")


def fetch_locked(
    installer: Installer, entry: LockedSkill, *, offline: bool = False, is_shared: bool = False
) -> None:
    """Bring the locked version of a skill into the store.

    Raises `SourceFailed` and `AgainstPolicy`.
    """
    if offline:
        cause = f"“{entry.name}” is not in the store, and nothing is fetched offline"
        raise SourceFailed(entry.source, cause)
    skill = get_locked_skill(installer, entry, is_shared=is_shared)
    # The lock file may have come with a clone from a machine without this policy.
    installer.check_fetched(entry.source, skill)
    installer.store.add(skill.folder, skill.tree)


def get_locked_skill(
    installer: Installer, entry: LockedSkill, *, is_shared: bool = False
) -> FetchedSkill:
    """The locked version of a skill, fetched into the staging folder. Raises `SourceFailed`."""
    # Some sources can be asked for the exact version; of all others the digest decides. An imported
    # skill may have no version; then its branch is asked.
    is_known = entry.kind in VERSIONED and entry.resolved
    ref = entry.resolved if is_known else None
    for fetched in installer.fetch_again(entry, ref=ref, is_shared=is_shared):
        for skill in fetched.skills:
            if skill.tree.digest == entry.tree:
                return skill
    cause = f"“{entry.name}” is no longer what the lock file says"
    raise SourceFailed(entry.source, cause)
