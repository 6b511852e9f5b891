"""Combine a user's edits of an installed skill with a new version of it."""

from __future__ import annotations

from prowess.errors import MachineError
from prowess.errors.install import MergeConflict
from prowess.machine.git import merge_files
from prowess.machine.tree_files import load_tree, read_file, write_file
from prowess.model.facts import Facts
from prowess.model.tree import Tree, TreeFile, list_blocked
from prowess.supply.install.edits import leave_out_generated

OURS = "ours"
THEIRS = "theirs"
MERGE = "merge"


class EditedSkill:
    """Three versions of a skill: as it was installed, as its user has it, and as it is upstream.

    `base` and `new` are folders with the first and the last; `own` is the user's folder.
    """

    def __init__(self, name: str, *, base: str, base_tree: Tree, own: str, new: str) -> None:
        self.name = name
        self._base, self._own, self._new = base, own, new
        self._base_files = base_tree.files
        self._own_files = leave_out_generated(load_tree(own), base_tree).files
        self._new_files = load_tree(new).files

    def combine(self, target: str, strategy: str, facts: Facts) -> None:
        """Write the combination into a new folder. Raises `MergeConflict` and `MachineError`.

        A file that only one side has changed is that side's. Where both have, `ours` keeps the
        user's, and `merge` merges their lines.
        """
        paths = sorted(self._own_files.keys() | self._new_files.keys())
        sides = {path: self._choose_side(path) for path in paths}
        conflicts = self._settle_clashes(sides, strategy)
        for path, side in sides.items():
            if path in conflicts:
                continue
            keeps_own = side == MERGE and strategy == OURS
            chosen = OURS if keeps_own else side
            # The rest is written all the same: the target is a staging folder until all is well.
            if not self._write(path, chosen, target, facts):
                conflicts.append(path)
        if conflicts:
            raise MergeConflict(self.name, tuple(sorted(conflicts)))

    def _write(self, path: str, side: str, target: str, facts: Facts) -> bool:
        """Write the file of one side, or a merge of both; whether that was possible."""
        if side == MERGE:
            return self._merge(path, target, facts)
        if side == OURS:
            return self._keep_own(path, target)
        self._take_new(path, target)
        return True

    def _settle_clashes(self, sides: dict[str, str], strategy: str) -> list[str]:
        """The paths that one side has as a file and the other as a folder.

        The user's own win with `ours`: then the new files that are in the way are left out of
        `sides`, and nothing is in conflict.
        """
        written = [path for path, side in sides.items() if self._is_written(path, side)]
        blocked = list_blocked(written)
        if not blocked or strategy != OURS:
            return blocked
        own = [path for path in written if path in self._own_files]
        new = [path for path in written if path not in self._own_files]
        for path in new:
            if list_blocked((*own, path)):
                del sides[path]
        return []

    def _is_written(self, path: str, side: str) -> bool:
        files = {THEIRS: self._new_files, OURS: self._own_files}
        return side == MERGE or path in files[side]

    def _choose_side(self, path: str) -> str:
        base = _identify(self._base_files.get(path))
        own = _identify(self._own_files.get(path))
        new = _identify(self._new_files.get(path))
        # Equal on both sides, or not touched by the user: then there is nothing to lose.
        if own in (new, base):
            return THEIRS
        return OURS if new == base else MERGE

    def _take_new(self, path: str, target: str) -> None:
        file = self._new_files.get(path)
        if file is not None:
            data = read_file(self._new, path)
            write_file(target, path, data, is_executable=file.is_executable)

    def _keep_own(self, path: str, target: str) -> bool:
        """Keep the user's file, and one that the user has removed stays removed."""
        file = self._own_files.get(path)
        if file is None:
            return True
        # A link would be copied as what it leads to.
        if not file.is_ordinary:
            return False
        data = read_file(self._own, path)
        write_file(target, path, data, is_executable=file.is_executable)
        return True

    def _merge(self, path: str, target: str, facts: Facts) -> bool:
        """Merge the lines of a file; not where one side has removed it, or it is no text."""
        versions = (self._base_files, self._own_files, self._new_files)
        if not all(path in files for files in versions):
            return False
        try:
            # git's own three-way merge is the one that people know.
            data, is_clean = merge_files(
                facts,
                base=f"{self._base}/{path}",
                ours=f"{self._own}/{path}",
                theirs=f"{self._new}/{path}",
            )
        except MachineError:
            # git refuses to merge what is not text; that is a conflict like any other.
            return False
        if is_clean:
            is_executable = self._new_files[path].is_executable
            write_file(target, path, data, is_executable=is_executable)
        return is_clean


def _identify(file: TreeFile | None) -> tuple[str, bool] | None:
    return None if file is None else (file.sha256, file.is_executable)
