"""Approvals on disk, outside of every project."""

from __future__ import annotations

import os

from prowess.diagnostics import Diagnostic
from prowess.model.facts import Facts
from prowess.model.permission import Approval
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 24
_LOST = "The approvals are not used, since {reason}; every skill is asked for again."


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
            most=_MOST_BYTES,
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the file was not used at the last question, where it was not."""
        return self._list.diagnostics

    def find(self, permission: str, pattern: str, location: str) -> Approval | None:
        """The approval that was given for a name of the skill at a place."""
        key = (permission, pattern, location)
        return next((approval for approval in self.load() if approval.key == key), None)

    def keep(self, approval: Approval) -> None:
        """Remember an approval in place of an earlier one for the same."""
        self._list.change(
            lambda found: [*(other for other in found if other.key != approval.key), approval]
        )

    def forget(self, name: str | None = None) -> int:
        """Take back the approvals of a name, or all of them; how many there were."""
        return self._list.change(
            lambda found: [
                approval for approval in found if name is not None and approval.pattern != name
            ]
        )

    def load(self) -> list[Approval]:
        """Every approval; none where the file is not there or cannot be relied on."""
        return self._list.load()
