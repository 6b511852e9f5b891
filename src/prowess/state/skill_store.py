"""The trees of installed skills, one copy per user, found by their digest.

`trees/HEX` has the files of one tree, read-only. Every use hashes what it reads: a tree that was
changed counts as missing. Somebody may have changed it on purpose, through a folder that links to
it, so a fresh one takes its place only when there is one, and the changed one is kept in
`set-aside`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder
from prowess.machine.folder_swap import swap_in
from prowess.machine.tree_files import (
    DamagedFile,
    copy_tree,
    find_tree,
    list_entries,
    make_writable,
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
    """The store of one user; `diagnostics` are about what was done in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.diagnostics: list[Diagnostic] = []
        self._trees = os.path.join(folder, "trees")
        self._staging = os.path.join(folder, "staging")
        self._set_aside = os.path.join(folder, "set-aside")

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
        if self.is_whole(digest) and _mark_used(place):
            return place
        make_folder(self._trees, mode=0o700)
        make_folder(self._staging, mode=0o700)
        self._remove_strays()
        aside = os.path.join(self._staging, os.urandom(8).hex())
        try:
            copy_tree(source, tree, aside, mode=read_only_mode)
            _protect_folders(aside)
            self._place(aside, digest)
        except OSError as error:
            raise MachineError.caused_by("add to the store", place, error) from error
        finally:
            remove_tree(aside)
        return place

    def is_whole(self, digest: str) -> bool:
        """Whether a tree is there and unchanged."""
        return self.find(digest) is not None

    def list_trees(self) -> list[str]:
        """The digests of all trees. Raises `MachineError`."""
        return [f"{_PREFIX}{entry.name}" for entry in list_entries(self._trees)]

    def list_unused(self, used: Container[str], *, seconds: float = _STRAY_SECONDS) -> list[str]:
        """The digests of trees that are not `used`, and were not added within some seconds.

        Raises `MachineError`.
        """
        # A tree that was just added may not be in its lock file yet.
        old = [entry for entry in list_entries(self._trees) if _is_old(entry, seconds)]
        digests = (f"{_PREFIX}{entry.name}" for entry in old)
        return [digest for digest in digests if digest not in used]

    def remove(self, digest: str) -> int:
        """Remove a tree; its size. One that somebody changed is moved aside instead.

        Raises `MachineError`.
        """
        place = self.locate(digest)
        found = find_tree(place)
        if found is not None and found.digest != digest:
            self._keep_changed(place, digest)
            return 0
        remove_tree(place)
        return 0 if found is None else found.size

    def find(self, digest: str) -> Tree | None:
        """A tree with its files; None where it is missing or changed."""
        tree = find_tree(self.locate(digest))
        if tree is None or tree.digest != digest:
            return None
        return tree

    def copy(self, tree: Tree, target: str, *, digest: str = "") -> bool:
        """Copy a tree into a new folder; whether it was there and undamaged.

        `digest` is that of the tree, where it is known already. Raises `MachineError`.
        """
        digest = digest or tree.digest
        place = self.locate(digest)
        if not os.path.isdir(place):
            return False
        try:
            # Hashes as it copies, so the tree is not read twice.
            copy_tree(place, tree, target)
        except DamagedFile:
            remove_tree(target)
            return False
        return True

    def _place(self, aside: str, digest: str) -> None:
        """Put a new tree into the store; a changed one that is there changes places with it."""
        place = self.locate(digest)
        try:
            if os.path.isdir(place):
                # Only a folder that is writable can move to another one.
                os.chmod(place, 0o755)
            swap_in(aside, place)
            os.chmod(place, 0o555)
        except OSError as error:
            # Another process may have put the same tree there meanwhile, which is as good.
            if not self.is_whole(digest):
                raise MachineError.caused_by("add to the store", place, error) from error
        # After the swap, what was in the store is where the new tree was.
        replaced = find_tree(aside)
        if replaced is not None and replaced.digest != digest:
            self._keep_changed(aside, digest)

    def _keep_changed(self, replaced: str, digest: str) -> None:
        """Keep a tree that somebody changed where its owner finds it. Raises `MachineError`."""
        moment = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime())
        name = f"{moment}-{digest.removeprefix(_PREFIX)[:12]}-{os.urandom(2).hex()}"
        kept = os.path.join(self._set_aside, name)
        make_folder(self._set_aside, mode=0o700)
        try:
            make_writable(replaced)
            os.rename(replaced, kept)
        except OSError as error:
            raise MachineError.caused_by("move aside", replaced, error) from error
        message = (
            "A copy in the store was changed, perhaps through a folder that links to it; it is now"
            f" in {kept}."
        )
        self.diagnostics.append(diagnose("store-copy-changed", message, file=kept))

    def _remove_strays(self) -> None:
        """Remove what killed processes left."""
        for entry in list_entries(self._staging):
            if _is_old(entry, _STRAY_SECONDS):
                remove_tree(entry.path)


def _mark_used(place: str) -> bool:
    """Whether a tree is still there. `prune` leaves it for a while from now on.

    It may not be in a lock file yet.
    """
    try:
        os.utime(place)
    except FileNotFoundError:
        # Somebody has just pruned it.
        return False
    except OSError:
        # Whoever may not mark it may not prune it, either.
        return True
    return True


def _is_old(entry: os.DirEntry[str], seconds: float) -> bool:
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > seconds
    except OSError:
        # Its owner has just removed it.
        return False


def _protect_folders(folder: str) -> None:
    for path, _, _ in os.walk(folder, topdown=False):
        # The top one has to stay writable for its rename.
        if path != folder:
            os.chmod(path, 0o555)
