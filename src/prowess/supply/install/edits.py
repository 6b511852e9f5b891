"""What a user changed in an installed folder, by one rule for all commands.

What programs leave in a folder when they run is no edit. `--frozen` counts it all the same: a
compiled file that somebody planted would run instead of its source.
"""

from __future__ import annotations

from prowess.model.tree import Tree, TreeChanges, TreeFile, compare_trees, leave_out_origin
from prowess.state.install_lock import LockedSkill
from prowess.state.skill_store import SkillStore

_LEFT_BEHIND = frozenset({"__pycache__", ".DS_Store"})
_NOTHING = Tree({})


def leave_out_generated(found: Tree, expected: Tree = _NOTHING) -> Tree:
    """A tree without what programs left there, and without notes of installers.

    What was installed counts, whatever its name.
    """
    kept: dict[str, TreeFile] = {}
    for path, file in leave_out_origin(found).files.items():
        if path in expected.files or not is_left_behind(path):
            kept[path] = file
    # The same object, so that `is_stored` does not hash the same tree twice.
    return found if len(kept) == len(found.files) else Tree(kept)


def is_left_behind(path: str) -> bool:
    """Whether a file is one that programs write when they run."""
    return not _LEFT_BEHIND.isdisjoint(path.split("/"))


def find_edits(found: Tree, previous: LockedSkill | None, store: SkillStore) -> TreeChanges:
    """What a user changed in an installed folder; nothing if it is a version that was installed.

    A version of the store counts as well as the locked one: it is there if a program was killed
    between the lock file and the folder.
    """
    expected = previous.get_tree() if previous is not None else _NOTHING
    kept = leave_out_generated(found, expected)
    changes = compare_trees(expected, kept)
    if changes and is_stored(found, kept, store):
        return TreeChanges()
    return changes


def is_stored(found: Tree, kept: Tree, store: SkillStore) -> bool:
    """Whether the store has a tree, with or without what programs left in it."""
    if store.has(found.digest):
        return True
    return kept is not found and store.has(kept.digest)
