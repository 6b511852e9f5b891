"""What `prowess export` wrote: each link and copy, so that nothing else is ever replaced."""

from __future__ import annotations

import os

import msgspec

from prowess.model.facts import Facts
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 24
_LOST = "The list of exported skills is ignored, so none of them is updated: {reason}."


class Exported(msgspec.Struct, frozen=True):
    """A folder that was written: what it was made from, and the link or the digest it had then."""

    target: str
    source: str
    content: str


class ExportList:
    """The exports of a user, on this machine."""

    def __init__(self, facts: Facts) -> None:
        path = os.path.join(state_folder(facts), "exports.json")
        self._list = PrivateList(
            path,
            "exports",
            Exported,
            order=lambda one: one.target,
            lost=_LOST,
            most_bytes=_MOST_BYTES,
        )

    def load(self) -> dict[str, Exported]:
        """Every export by the folder that was written."""
        return {one.target: one for one in self._list.load()}

    def add(self, exported: Exported) -> None:
        """Remember an export in the place of an earlier one. Raises `MachineError`."""

        def replace(found: list[Exported]) -> list[Exported]:
            return [*(one for one in found if one.target != exported.target), exported]

        self._list.change(replace)
