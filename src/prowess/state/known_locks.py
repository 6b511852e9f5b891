"""The lock files of all projects that Prowess has installed into, with the trees that they need.

The list is part of the store: it has to know who needs its trees, also while a project's disk is
away. A lock file that was only cloned is added by the first `prowess sync` in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.state.private_list import PrivateList
from prowess.state.skill_store import SkillStore

_MOST_BYTES = 1 << 26
_LOST = "The list of projects with installed skills is ignored: {reason}."


class KnownLock(msgspec.Struct, frozen=True):
    """A lock file, and the digests of the trees that its project may use."""

    path: str
    trees: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of the project."""
        return os.path.dirname(self.path)

    def is_in(self, folder: str) -> bool:
        """Whether somebody means it who names a folder, or the file itself."""
        # The path was real when it was noted; a link on the way may be gone with the disk.
        named = (os.path.abspath(folder), os.path.realpath(folder))
        return self.path in named or self.folder in named

    def is_gone(self) -> bool:
        """Whether it was deleted: its folder is there, and the file is not.

        An empty folder proves nothing; a disk may be mounted there at other times.
        """
        has_others = False
        try:
            has_others = bool(os.listdir(self.folder))
            os.stat(self.path)
        except FileNotFoundError:
            return has_others
        except OSError:
            # Whatever the disk says here, it does not say that the file is gone.
            return False
        return False


class KnownLocks:
    """The lock files that need trees of a store.

    The first entry of a new list is the store itself, with all trees that are there already: who
    needs those is not known, because the list is new, was deleted, or had to be moved aside.
    """

    def __init__(self, store: SkillStore) -> None:
        self._store = store
        # In a folder of its own, because the store's may be writable for a group.
        self.path = os.path.join(store.folder, "projects", "installs.json")
        self._list = PrivateList(
            self.path,
            "locks",
            KnownLock,
            order=lambda one: one.path,
            lost=_LOST,
            most_bytes=_MOST_BYTES,
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the list could not be read, if that was so."""
        return self._list.diagnostics

    def load(self) -> list[KnownLock]:
        """Everything that needs trees. Raises `MachineError`."""
        return self._complete(self._list.load())

    def begin(self) -> None:
        """Write the list, if there is none yet. Raises `MachineError`."""
        if not self._has_begun(self._list.load()):
            self._list.change(self._complete)

    def add(self, path: str, trees: Iterable[str]) -> None:
        """Remember that a lock file needs trees, besides those it had. Raises `MachineError`."""
        before = {one.path: one.trees for one in self.load()}
        self.replace(path, {*before.get(path, ()), *trees})

    def replace(self, path: str, trees: Iterable[str]) -> None:
        """Remember that a lock file needs these trees and no others. Raises `MachineError`."""
        lock = KnownLock(path, tuple(sorted(set(trees))))
        if lock in self._list.load():
            return

        def put(known: list[KnownLock]) -> list[KnownLock]:
            others = [one for one in self._complete(known) if one.path != path]
            return [*others, lock]

        self._list.change(put)

    def remove(self, path: str) -> None:
        """Forget a lock file; the store itself forgets its trees. Raises `MachineError`."""
        if path == self._store.folder:
            self.replace(path, ())
            return
        self._list.change(lambda known: [one for one in self._complete(known) if one.path != path])

    def _complete(self, known: list[KnownLock]) -> list[KnownLock]:
        if self._has_begun(known):
            return known
        return [KnownLock(self._store.folder, tuple(self._store.list_trees())), *known]

    def _has_begun(self, known: list[KnownLock]) -> bool:
        return any(one.path == self._store.folder for one in known)
