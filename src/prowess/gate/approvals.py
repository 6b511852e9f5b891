"""From a decision to a yes or no: rules that say `ask` are put to a person, and “always” is
remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from prowess.errors import MachineError
from prowess.model.permission import Action, Answer, Approval, Decision, Reply, Request
from prowess.ports import ApprovalStore, Approver

By = Literal["rule", "approval", "person", "nobody"]


class Permit(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a request is granted, by whom, and why.

    `feedback` is what a person who rejected it said; `warning` that an “always” could not be
    remembered.
    """

    granted: bool
    by: By
    reason: str
    feedback: str | None = None
    warning: str | None = None


class MemoryApprovals:
    """An `ApprovalStore` that lasts as long as the program."""

    def __init__(self) -> None:
        self._approvals: dict[tuple[str, str, str], Approval] = {}

    def find(self, permission: str, pattern: str, location: str) -> Approval | None:
        """The approval that was given for a name of the skill at a place."""
        return self._approvals.get((permission, pattern, location))

    def keep(self, approval: Approval) -> None:
        """Remember an approval."""
        self._approvals[approval.key] = approval


class Approvals:
    """Asks where rules say so, and remembers “always” for a name, a place and a content.

    Names are compared as they are: a skill may be called `*`, and its approval must not cover
    others. What could not be written to the store holds for as long as the program runs.
    """

    def __init__(self, store: ApprovalStore | None = None, *, now: Callable[[], str]) -> None:
        self._held = MemoryApprovals()
        self._store: ApprovalStore = store or self._held
        self._now = now

    def settle(
        self,
        request: Request,
        decision: Decision,
        *,
        location: str,
        digest: str,
        approver: Approver | None,
    ) -> Permit:
        """Grant or refuse a request. Without an approver nobody can be asked, and what would be
        asked is refused.
        """
        if decision.action is not Action.ASK:
            return Permit(
                granted=decision.action is Action.ALLOW, by="rule", reason=decision.reason
            )
        approved = [
            self._find(request.permission, pattern, location) for pattern in request.patterns
        ]
        if all(approval is not None and approval.digest == digest for approval in approved):
            return Permit(
                granted=True,
                by="approval",
                reason="it was approved for good, and has not changed since",
            )
        if approver is None:
            return Permit(
                granted=False,
                by="nobody",
                reason=f"{decision.reason}, and nobody is here to be asked",
            )
        changed = next((old for old in approved if old is not None and old.digest != digest), None)
        if changed is not None:
            note = (
                f"It has changed since it was approved ({changed.approved}), so the approval no"
                " longer holds."
            )
            request = msgspec.structs.replace(request, note=note)
        return self._take(approver.ask(request), request, location=location, digest=digest)

    def _find(self, permission: str, pattern: str, location: str) -> Approval | None:
        kept = self._store.find(permission, pattern, location)
        return kept or self._held.find(permission, pattern, location)

    def _take(self, answer: Answer, request: Request, *, location: str, digest: str) -> Permit:
        if answer.reply is Reply.REJECT:
            return Permit(
                granted=False, by="person", reason="it was rejected", feedback=answer.feedback
            )
        if answer.reply is Reply.ONCE:
            return Permit(granted=True, by="person", reason="it was approved this once")
        warning = None
        for pattern in request.always:
            approval = Approval(
                permission=request.permission,
                pattern=pattern,
                location=location,
                digest=digest,
                approved=self._now(),
            )
            try:
                self._store.keep(approval)
            except MachineError as error:
                self._held.keep(approval)
                warning = f"The approval holds only for now. {error}"
        return Permit(granted=True, by="person", reason="it was approved for good", warning=warning)
