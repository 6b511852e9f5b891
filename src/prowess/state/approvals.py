"""Approvals on disk, outside every project."""

from __future__ import annotations

import os
from collections.abc import Collection

from prowess.diagnostics import Diagnostic
from prowess.model.facts import Facts
from prowess.model.permission import Approval
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 24
_LOST = "The saved approvals are ignored because {reason}; you will be asked again."


def approvals_path(facts: Facts) -> str:
    """Where approvals are kept on a machine."""
    return os.path.join(state_folder(facts), "approvals.json")


class ApprovalFile:
    """An `ApprovalStore` on disk."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._list = PrivateList(
            path,
            "approvals",
            Approval,
            order=lambda approval: approval.key,
            lost=_LOST,
            most_bytes=_MOST_BYTES,
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the file was ignored the last time it was read; nothing if it was not."""
        return self._list.diagnostics

    def find(self, permission: str, pattern: str, location: str) -> Approval | None:
        """The approval of a name for the skill at a location."""
        key = (permission, pattern, location)
        return next((approval for approval in self.load() if approval.key == key), None)

    def keep(self, approval: Approval) -> None:
        """Save an approval; it replaces an earlier one for the same."""

        def add(found: list[Approval]) -> list[Approval]:
            others = [other for other in found if other.key != approval.key]
            return [*others, approval]

        self._list.change(add)

    def forget(self, name: str | None = None) -> int:
        """Revoke the approvals of a name, or all of them; returns how many there were."""

        def remove(found: list[Approval]) -> list[Approval]:
            if name is None:
                return []
            return [approval for approval in found if approval.pattern != name]

        return self._list.change(remove)

    def revoke(self, ids: Collection[str]) -> int:
        """Revoke single approvals by their ids; returns how many there were."""
        return self._list.change(lambda found: [one for one in found if one.id not in ids])

    def load(self) -> list[Approval]:
        """Every approval; none if the file is missing or cannot be trusted."""
        return self._list.load()
