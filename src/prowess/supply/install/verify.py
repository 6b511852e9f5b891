"""Compare what is installed with the lock file, file by file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import find_tree
from prowess.model.tree import TreeChanges, compare_trees, leave_out_origin
from prowess.reports.install_check import (
    CHANGED,
    MISSING,
    OK,
    OLDER,
    UNKNOWN,
    CheckedTarget,
    InstallCheck,
)
from prowess.state.install_lock import LockContent, LockedSkill
from prowess.state.skill_store import SkillStore
from prowess.supply.install.fetch import SKILL_FILE
from prowess.supply.install.targets import InstallPlace


def verify_installed(
    place: InstallPlace, content: LockContent, store: SkillStore, *, frozen: bool = False
) -> InstallCheck:
    """The state of every installed folder. Nothing is written.

    With `frozen`, skills next to them that are not in the lock file are problems, too. Raises
    `InvalidLock`.
    """
    targets = [
        check_target(place, entry, target, store)
        for entry in content.skills
        for target in entry.targets
    ]
    if frozen:
        targets += _find_unknown(place, content)
    files = sum(len(entry.files) * len(entry.targets) for entry in content.skills)
    return InstallCheck(lock=place.lock_path, targets=tuple(targets), files=files)


def check_target(
    place: InstallPlace, entry: LockedSkill, target: str, store: SkillStore
) -> CheckedTarget:
    """The state of one folder of a skill."""
    folder = place.resolve_target(target)
    found = find_tree(folder)
    state, changes = OK, TreeChanges()
    if found is None:
        state = MISSING
    elif changes := compare_trees(entry.get_tree(), leave_out_origin(found)):
        # A version that the store has is none that somebody edited.
        state = OLDER if store.has(found.digest) else CHANGED
    return CheckedTarget(
        name=entry.name, source=entry.source, folder=folder, state=state, changes=changes
    )


def _find_unknown(place: InstallPlace, content: LockContent) -> Iterator[CheckedTarget]:
    """Skills in the same skill folders that nobody noted."""
    known = {place.resolve_target(target) for one in content.skills for target in one.targets}
    files = LocalFiles()
    for parent in sorted({posixpath.dirname(folder) for folder in known}):
        for folder in _list_skills(files, parent):
            if folder not in known:
                name = posixpath.basename(folder)
                yield CheckedTarget(name=name, source="", folder=folder, state=UNKNOWN)


def _list_skills(files: LocalFiles, parent: str) -> Iterable[str]:
    if files.find_kind(parent) != "folder":
        return
    for item in files.list_folder(parent):
        folder = posixpath.join(parent, item.name)
        if files.find_kind(posixpath.join(folder, SKILL_FILE)) == "file":
            yield folder
