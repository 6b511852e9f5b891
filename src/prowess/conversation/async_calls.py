"""Calls of a conversation from an event loop: in a thread of their own, cancelled with their task.

Waiting for a person holds no thread: a call that needs an answer ends, and is repeated with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Protocol, TypeVar

from prowess.errors.activation import ApprovalNeeded
from prowess.machine.event_loop import run_in_thread
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.ports import Approver

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
Answers = Mapping[str, ApprovalAnswer | Exception]
"""Answers by the keys of requests; in place of one, the error that came of asking."""


class AnswerableCall(Protocol[T_co]):
    """A method of a conversation, with everything given except what this module adds."""

    def __call__(
        self, *, answers: Answers | None = None, is_cancelled: Callable[[], bool] | None = None
    ) -> T_co: ...


async def call_async(
    call: AnswerableCall[T], approver: Approver | None, answers: Answers | None = None
) -> T:
    """The result of a call. An async approver is asked here, in the caller's event loop.

    With `answers`, nobody is asked: a question without an answer raises `ApprovalNeeded`.
    """
    if approver is None or answers is not None:
        return await _run(call, answers)
    # An approver that is not async may wait for a key to be pressed, so the call's thread asks it.
    given: dict[str, ApprovalAnswer | Exception] | None = None
    if iscoroutinefunction(approver.ask):
        given = {}
    # Each round has one answer more, so this ends when the call has asked all that it asks.
    while True:
        try:
            return await _run(call, given)
        except ApprovalNeeded as needed:
            request = needed.request
        given = given or {}
        given[request.key] = await _ask(approver, request)


async def ask_approver(approver: Approver, request: ApprovalRequest) -> ApprovalAnswer:
    """The answer of an approver. One that raises, whatever it is, has granted nothing."""
    if iscoroutinefunction(approver.ask):
        answer = await _ask(approver, request)
    else:
        # It may wait for a key to be pressed.
        answer = await run_in_thread(lambda is_cancelled: _ask_and_wait(approver, request))
    return answer if isinstance(answer, ApprovalAnswer) else ApprovalAnswer(ApprovalChoice.REJECT)


def _ask_and_wait(approver: Approver, request: ApprovalRequest) -> Any:
    try:
        return approver.ask(request)
    except Exception as error:
        return error


async def _run(call: AnswerableCall[T], answers: Answers | None) -> T:
    return await run_in_thread(
        lambda is_cancelled: call(answers=answers, is_cancelled=is_cancelled)
    )


async def _ask(approver: Approver, request: ApprovalRequest) -> ApprovalAnswer | Exception:
    """An approver's answer, or its error, which the repeated call judges like any other."""
    try:
        answer = approver.ask(request)
        return await answer if isinstance(answer, Awaitable) else answer
    except Exception as error:
        return error
