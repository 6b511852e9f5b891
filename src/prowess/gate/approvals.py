"""Turns a decision into yes or no: asks a person where the rules say `ask`, remembers “always”."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from prowess.errors import MachineError
from prowess.model.permission import Action, Answer, Approval, Decision, Reply, Request
from prowess.ports import ApprovalStore, Approver

By = Literal["rule", "approval", "person", "nobody"]


class Permit(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a request is granted, by whom, and why.

    `feedback` is what a person said when rejecting it; `warning` is set when an “always” could not
    be saved.
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
        """The approval of a name for the skill at a location."""
        return self._approvals.get((permission, pattern, location))

    def keep(self, approval: Approval) -> None:
        """Remember an approval."""
        self._approvals[approval.key] = approval


class Approvals:
    """Asks where rules say so, and remembers “always” for a name, a location and a digest.

    Names are compared literally: a skill may be called `*`, and its approval must not cover others.
    An approval that cannot be saved applies until the program exits.
    """

    def __init__(self, store: ApprovalStore | None = None, *, now: Callable[[], str]) -> None:
        self._unsaved = MemoryApprovals()
        self._store: ApprovalStore = store or self._unsaved
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
        """Grant or refuse a request. Without an approver, whatever needs approval is refused."""
        if decision.action is not Action.ASK:
            granted = decision.action is Action.ALLOW
            return Permit(granted=granted, by="rule", reason=decision.reason)
        approved = [
            self._find(request.permission, pattern, location) for pattern in request.patterns
        ]
        if _cover(approved, digest):
            reason = "it is already approved and has not changed"
            return Permit(granted=True, by="approval", reason=reason)
        if approver is None:
            reason = f"{decision.reason}, and there is no one to ask"
            return Permit(granted=False, by="nobody", reason=reason)
        request = _note_change(request, approved, digest)
        return self._record(approver.ask(request), request, location=location, digest=digest)

    def _find(self, permission: str, pattern: str, location: str) -> Approval | None:
        saved = self._store.find(permission, pattern, location)
        return saved or self._unsaved.find(permission, pattern, location)

    def _record(self, answer: Answer, request: Request, *, location: str, digest: str) -> Permit:
        if answer.reply is Reply.REJECT:
            return Permit(
                granted=False, by="person", reason="it was rejected", feedback=answer.feedback
            )
        if answer.reply is Reply.ONCE:
            return Permit(granted=True, by="person", reason="it was approved once")
        warning = None
        for pattern in request.always:
            approval = Approval(
                permission=request.permission,
                pattern=pattern,
                location=location,
                digest=digest,
                approved=self._now(),
            )
            warning = self._keep(approval) or warning
        return Permit(
            granted=True, by="person", reason="it was approved permanently", warning=warning
        )

    def _keep(self, approval: Approval) -> str | None:
        """Save an approval; a warning if it can only be kept in memory."""
        try:
            self._store.keep(approval)
        except MachineError as error:
            self._unsaved.keep(approval)
            return f"The approval applies only until this program exits. {error}"
        return None


def _cover(approved: Sequence[Approval | None], digest: str) -> bool:
    """Whether every pattern has an approval for exactly this content."""
    return all(approval is not None and approval.digest == digest for approval in approved)


def _note_change(request: Request, approved: Sequence[Approval | None], digest: str) -> Request:
    """Tell the person who is asked if the skill has changed since it was approved."""
    for approval in approved:
        if approval is not None and approval.digest != digest:
            note = f"It has changed since it was approved ({approval.approved}); approve it again."
            return msgspec.structs.replace(request, note=note)
    return request
