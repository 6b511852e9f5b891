"""Turns a decision into yes or no: asks a person where the rules say `ask`, remembers “always”."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Literal

import msgspec

from prowess.errors import MachineError
from prowess.errors.activation import ApprovalNeeded
from prowess.model.permission import (
    Action,
    Approval,
    ApprovalAnswer,
    ApprovalChoice,
    ApprovalRequest,
    Decision,
)
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


class GivenAnswers:
    """An `Approver` that has its answers, by the keys of requests, and asks nobody.

    Without an answer it raises `ApprovalNeeded`. In place of an answer there may be the error that
    came of asking for it, which is raised.
    """

    def __init__(self, answers: Mapping[str, ApprovalAnswer | Exception]) -> None:
        self._answers = answers

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """The answer that was given for this very request."""
        answer = self._answers.get(request.key)
        if answer is None:
            raise ApprovalNeeded(request)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Approvals:
    """Asks where rules say so, and remembers “always” for a name, a location and a digest.

    Names are compared literally: a skill may be called `*`, and its approval must not cover others.
    An approval that cannot be saved applies until the program exits.
    """

    def __init__(self, store: ApprovalStore | None = None, *, now: Callable[[], str]) -> None:
        self._unsaved = MemoryApprovals()
        self._store: ApprovalStore = store or self._unsaved
        self._now = now
        # Re-entrant: an approver may use the conversation that asks it.
        self._asking = threading.RLock()

    def settle(
        self,
        request: ApprovalRequest,
        decision: Decision,
        *,
        location: str,
        digest: str,
        approver: Approver | None,
    ) -> Permit:
        """Grant or refuse a request. Without an approver, whatever needs approval is refused.

        Raises `ApprovalNeeded` where the approver is async, and whatever the approver raises.
        """
        if decision.action is not Action.ASK:
            granted = decision.action is Action.ALLOW
            return Permit(granted=granted, by="rule", reason=decision.reason)
        # One question at a time. What waited here looks again: the answer may have been “always”.
        with self._asking:
            approved = [
                self._find(request.permission, pattern, location) for pattern in request.patterns
            ]
            if _cover(approved, digest):
                reason = "it is already approved and has not changed"
                return Permit(granted=True, by="approval", reason=reason)
            if approver is None:
                reason = f"{decision.reason}, and there is no one to ask"
                return Permit(granted=False, by="nobody", reason=reason)
            key = _make_key(request, location, digest)
            request = msgspec.structs.replace(_note_change(request, approved, digest), key=key)
            answer = _ask(approver, request)
            return self._record(answer, request, location=location, digest=digest)

    def _find(self, permission: str, pattern: str, location: str) -> Approval | None:
        saved = self._store.find(permission, pattern, location)
        return saved or self._unsaved.find(permission, pattern, location)

    def _record(
        self, answer: ApprovalAnswer, request: ApprovalRequest, *, location: str, digest: str
    ) -> Permit:
        if answer.reply is ApprovalChoice.REJECT:
            return Permit(
                granted=False, by="person", reason="it was rejected", feedback=answer.feedback
            )
        if answer.reply is ApprovalChoice.ONCE:
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


def _note_change(
    request: ApprovalRequest, approved: Sequence[Approval | None], digest: str
) -> ApprovalRequest:
    """Tell the person who is asked if the skill has changed since it was approved."""
    for approval in approved:
        if approval is not None and approval.digest != digest:
            note = f"It has changed since it was approved ({approval.approved}); approve it again."
            return msgspec.structs.replace(request, note=note)
    return request


def _make_key(request: ApprovalRequest, location: str, digest: str) -> str:
    """What an answer is bound to: everything that is asked, and the content of the skill."""
    import hashlib
    import json

    asked = [request.permission, request.patterns, request.always, dict(request.metadata)]
    text = json.dumps([*asked, location, digest], default=repr, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _ask(approver: Approver, request: ApprovalRequest) -> ApprovalAnswer:
    """The answer of an approver. One that has to be awaited is left to whoever has a loop."""
    answer = approver.ask(request)
    if not isinstance(answer, Awaitable):
        return answer
    if isinstance(answer, Coroutine):
        # It has not begun, and begins anew when someone awaits the approver.
        answer.close()
    raise ApprovalNeeded(request)
