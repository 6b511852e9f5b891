"""Compare what is installed with the lock file, file by file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import find_tree, list_entries
from prowess.model.skill import Scope
from prowess.model.tree import Tree, TreeChanges, compare_trees, leave_out_origin
from prowess.reports.install_check import (
    CHANGED,
    MISSING,
    OK,
    OLDER,
    UNKNOWN,
    CheckedTarget,
    InstallCheck,
)
from prowess.runtime import Skills
from prowess.state.install_lock import LockContent, LockedSkill
from prowess.state.skill_store import SkillStore
from prowess.supply.install.edits import is_stored, leave_out_generated
from prowess.supply.install.fetch import SKILL_FILE
from prowess.supply.install.targets import USER, InstallPlace, list_agent_folders


def verify_installed(
    place: InstallPlace,
    content: LockContent,
    store: SkillStore,
    *,
    frozen: bool = False,
    present: Iterable[str] = (),
) -> InstallCheck:
    """The state of every installed folder. Nothing is written.

    With `frozen`, files that programs left there are problems, too. `present` are folders of skills
    that must be in the lock file. Raises `InvalidLock`.
    """
    checked = check_targets(place, content.skills, store, exact=frozen)
    targets = [target for _, target in checked]
    targets += _find_unknown(place, content, present)
    files = sum(len(entry.files) * len(entry.targets) for entry in content.skills)
    return InstallCheck(lock=place.lock_path, targets=tuple(targets), files=files)


def check_targets(
    place: InstallPlace, entries: Iterable[LockedSkill], store: SkillStore, *, exact: bool = False
) -> list[tuple[LockedSkill, CheckedTarget]]:
    """The state of every folder of these skills; with `exact`, what programs left counts, too."""
    checked: list[tuple[LockedSkill, CheckedTarget]] = []
    for entry in entries:
        for target in entry.targets:
            checked.append((entry, _check_target(place, entry, target, store, exact=exact)))
    return checked


def _check_target(
    place: InstallPlace, entry: LockedSkill, target: str, store: SkillStore, *, exact: bool
) -> CheckedTarget:
    folder = place.resolve_target(target)
    present = find_tree(folder)
    state, changes = MISSING, TreeChanges()
    if present is not None:
        expected = entry.get_tree()
        # Notes of another installer never count; what programs left behind does, if `exact`.
        kept = leave_out_origin(present) if exact else leave_out_generated(present, expected)
        changes = compare_trees(expected, kept)
        state = _choose_state(changes, present, kept, store)
    return CheckedTarget(
        name=entry.name, source=entry.source, folder=folder, state=state, changes=changes
    )


def _choose_state(changes: TreeChanges, found: Tree, kept: Tree, store: SkillStore) -> str:
    if not changes:
        return OK
    # A version that the store has is none that somebody edited.
    return OLDER if is_stored(found, kept, store) else CHANGED


def _find_unknown(
    place: InstallPlace, content: LockContent, present: Iterable[str]
) -> Iterator[CheckedTarget]:
    """The skills that nobody noted. A link to an installed one, or a copy of it, is none."""
    files = LocalFiles()
    # Installers and users link the folder of one agent to that of another.
    real = set(map(files.find_real_path, place.list_folders(content.skills)))
    trees = {one.tree for one in content.skills}
    for folder in sorted(set(present)):
        if files.find_real_path(folder) in real:
            continue
        present_tree = find_tree(folder)
        if present_tree is not None and present_tree.digest not in trees:
            name = posixpath.basename(folder)
            yield CheckedTarget(name=name, source="", folder=folder, state=UNKNOWN)


def list_present(skills: Skills, place: InstallPlace, content: LockContent) -> Iterator[str]:
    """The folders of all skills that an agent reads in a project, or of a user.

    Raises `MachineError`.
    """
    scope = Scope.USER if place.scope == USER else Scope.PROJECT
    for outcome in skills.snapshot.outcomes:
        candidate = outcome.candidate
        is_in_scope = candidate.root.scope is scope
        is_here = candidate.folder.startswith(f"{place.base}/")
        # Commands are single files, which nobody installs.
        is_skill = posixpath.basename(candidate.location) == SKILL_FILE
        if is_in_scope and is_here and is_skill:
            yield candidate.folder
    # The scan does not read the folders of other hosts, and of agents without a profile.
    installed = map(posixpath.dirname, place.list_folders(content.skills))
    parents = [*installed, *list_agent_folders(place)]
    files = LocalFiles()
    for parent in dict.fromkeys(parents):
        yield from _list_skills(files, parent)


def _list_skills(files: LocalFiles, parent: str) -> Iterable[str]:
    for entry in list_entries(parent):
        folder = posixpath.join(parent, entry.name)
        if files.find_kind(posixpath.join(folder, SKILL_FILE)) == "file":
            yield folder
