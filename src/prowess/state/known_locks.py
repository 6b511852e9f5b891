"""The lock files of all projects that Prowess has installed into, on this machine.

The store has to know who needs its trees. A lock file that was only cloned is added by the first
`prowess sync` in it.
"""

from __future__ import annotations

import os

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.facts import Facts
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 24
_LOST = "The list of projects with installed skills is ignored: {reason}."


class _Lock(msgspec.Struct, frozen=True):
    path: str


class KnownLocks:
    """The paths of the lock files of a user."""

    def __init__(self, facts: Facts) -> None:
        path = os.path.join(state_folder(facts), "installs.json")
        self._list = PrivateList(
            path,
            "locks",
            _Lock,
            order=lambda one: one.path,
            lost=_LOST,
            most_bytes=_MOST_BYTES,
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the list could not be read, if that was so."""
        return self._list.diagnostics

    def load(self) -> list[str]:
        """Every path that was added and not removed."""
        return [one.path for one in self._list.load()]

    def add(self, path: str) -> None:
        """Remember a lock file. Raises `MachineError`."""
        if path not in self.load():
            self._list.change(lambda known: [*known, _Lock(path)])

    def remove(self, path: str) -> None:
        """Forget a lock file that is gone. Raises `MachineError`."""
        self._list.change(lambda known: [one for one in known if one.path != path])
