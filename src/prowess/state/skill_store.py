"""The trees of installed skills, one copy per user, found by their digest.

`trees/HEX` has the files of one tree, read-only. Every use hashes what it reads: a tree that was
damaged is moved out of the way, and counts as missing.
"""

from __future__ import annotations

import os
import time

from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder
from prowess.machine.tree_files import (
    DamagedFile,
    copy_tree,
    find_tree,
    load_tree,
    read_only_mode,
    remove_tree,
)
from prowess.model.facts import Facts
from prowess.model.tree import Tree
from prowess.state.folders import store_folder

_PREFIX = "sha256:"
# Nobody takes as long as this to write a tree.
_STRAY_SECONDS = 3600.0


class SkillStore:
    """The store of one user."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._trees = os.path.join(folder, "trees")
        self._staging = os.path.join(folder, "staging")

    @classmethod
    def of(cls, facts: Facts) -> SkillStore:
        """The store that the user of a machine has."""
        return cls(store_folder(facts))

    def locate(self, digest: str) -> str:
        """The folder of a tree, whether it is there or not."""
        return os.path.join(self._trees, digest.removeprefix(_PREFIX))

    def has(self, digest: str) -> bool:
        """Whether a tree is there; what it contains is checked when it is used."""
        return os.path.isdir(self.locate(digest))

    def add(self, source: str, tree: Tree) -> str:
        """Keep a copy of a tree, if there is none yet; its folder. Raises `MachineError`."""
        digest = tree.digest
        place = self.locate(digest)
        if self.is_whole(digest):
            return place
        make_folder(self._trees, mode=0o700)
        make_folder(self._staging, mode=0o700)
        self._remove_strays()
        aside = os.path.join(self._staging, os.urandom(8).hex())
        try:
            copy_tree(source, tree, aside, mode=read_only_mode)
            _protect_folders(aside)
            self._place(aside, place)
        finally:
            remove_tree(aside)
        return place

    def is_whole(self, digest: str) -> bool:
        """Whether a tree is there and undamaged; a damaged one is removed."""
        place = self.locate(digest)
        found = find_tree(place)
        if found is None:
            return False
        if found.digest == digest:
            return True
        self.discard(digest)
        return False

    def find(self, digest: str) -> Tree | None:
        """A tree with its files; None where it is missing or damaged."""
        return load_tree(self.locate(digest)) if self.is_whole(digest) else None

    def copy(self, tree: Tree, target: str, *, digest: str = "") -> bool:
        """Copy a tree into a new folder; whether it was there and undamaged.

        `digest` is that of the tree, where it is known already. Raises `MachineError`.
        """
        digest = digest or tree.digest
        place = self.locate(digest)
        if not os.path.isdir(place):
            return False
        try:
            copy_tree(place, tree, target)
        except DamagedFile:
            remove_tree(target)
            self.discard(digest)
            return False
        return True

    def discard(self, digest: str) -> None:
        """Remove a tree. Raises `MachineError`."""
        remove_tree(self.locate(digest))

    def _place(self, aside: str, place: str) -> None:
        try:
            os.rename(aside, place)
        except OSError as error:
            # Another process has put the same tree there meanwhile.
            if not os.path.isdir(place):
                cause = error.strerror or str(error)
                raise MachineError("add to the store", place, cause) from error

    def _remove_strays(self) -> None:
        """Remove what killed processes left."""
        with os.scandir(self._staging) as items:
            found = [item.path for item in items if _is_old(item)]
        for path in found:
            remove_tree(path)


def _is_old(item: os.DirEntry[str]) -> bool:
    try:
        return time.time() - item.stat(follow_symlinks=False).st_mtime > _STRAY_SECONDS
    except OSError:
        # Its owner has just removed it.
        return False


def _protect_folders(folder: str) -> None:
    for path, _, _ in os.walk(folder, topdown=False):
        # The top one has to stay writable for its rename.
        if path != folder:
            os.chmod(path, 0o555)
