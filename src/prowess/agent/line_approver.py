"""Approvals as lines: a question is an event, and the answer a line of input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prowess.agent.events import ApprovalAsked, Event
from prowess.errors import UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.reports.approval_request import list_hooks


class LineApprover:
    """An `Approver` that asks by an event. Once the input has ended, nothing is approved."""

    def __init__(self, show: Callable[[Event], object]) -> None:
        self._show = show
        self._open: dict[str, asyncio.Future[ApprovalAnswer]] = {}
        self._asked = 0
        self._is_over = False

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask, and wait for the line with the answer."""
        if self._is_over:
            return ApprovalAnswer(ApprovalChoice.REJECT)
        self._asked += 1
        id = f"question-{self._asked}"
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._open[id] = answer
        self._show(_describe(id, request))
        try:
            return await answer
        finally:
            del self._open[id]

    def answer(self, id: str, reply: str, feedback: str | None) -> None:
        """Take an answer; without an id, to the only question. Raises `UsageError`."""
        waiting = [one for one, answer in self._open.items() if not answer.done()]
        if not id and len(waiting) == 1:
            id = waiting[0]
        if id not in waiting:
            listed = ", ".join(waiting) or "none"
            raise UsageError(f"There is no open question “{id}”; open questions: {listed}.")
        self._open[id].set_result(ApprovalAnswer(ApprovalChoice(reply), feedback))

    def end(self) -> None:
        """There are no more answers, so that everything is refused."""
        self._is_over = True
        for answer in self._open.values():
            if not answer.done():
                answer.set_result(ApprovalAnswer(ApprovalChoice.REJECT))


def _describe(id: str, request: ApprovalRequest) -> ApprovalAsked:
    details = request.metadata
    return ApprovalAsked(
        id=id,
        permission=request.permission,
        names=request.patterns,
        title=str(details.get("title", "")),
        details=tuple(map(str, details.get("details", details.get("commands", ())))),
        skill=str(details.get("skill", "")),
        location=str(details.get("location", "")),
        allowed_tools=tuple(details.get("allowed-tools", ())),
        hooks=tuple(list_hooks(details)),
        diff=str(details.get("diff", "")),
        note=request.note or "",
        choices=("once", "always", "reject") if request.always else ("once", "reject"),
    )
