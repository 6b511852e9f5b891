"""Calls that no tool receives: pydantic-ai answers the model itself, and here they become events.

The model named a tool that does not exist, or gave it input that does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ToolCallPart,
)

from prowess.agent.events import Event, ToolFinished, ToolStarted
from prowess.agent.tools.plan import name_call

_MOST_TITLE = 200


class RejectedCalls:
    """Reports the rejected calls of one answer. The toolset reports all others itself."""

    def __init__(self, agent: str, emit: Callable[[Event], None]) -> None:
        self._agent = agent
        self._emit = emit
        self._seen: set[str] = set()
        self._open: dict[str, str] = {}

    def report(self, event: Any) -> None:
        """Show a call that was rejected, or the answer to one."""
        if isinstance(event, FunctionToolCallEvent):
            self._seen.add(event.tool_call_id)
            if event.args_valid is False:
                self._begin(event.part)
        elif isinstance(event, FunctionToolResultEvent) and event.tool_call_id in self._open:
            self._end(event.tool_call_id, event.part.model_response_str(wrap_if_error=False))

    def end(self, calls: Iterable[ToolCallPart], reason: str) -> None:
        """Show the calls of an answer that ended the run before they had an event."""
        for part in calls:
            if part.tool_call_id not in self._seen:
                self._begin(part)
        for call in tuple(self._open):
            self._end(call, reason)

    def _begin(self, part: ToolCallPart) -> None:
        self._open[part.tool_call_id] = part.tool_name
        input = part.args_as_dict()
        self._emit(
            ToolStarted(
                agent=self._agent,
                call=part.tool_call_id,
                tool=part.tool_name,
                title=name_call(part.tool_name, input)[:_MOST_TITLE],
                input={} if INVALID_JSON_KEY in input else input,
            )
        )

    def _end(self, call: str, answer: str) -> None:
        self._emit(
            ToolFinished(
                agent=self._agent,
                call=call,
                tool=self._open.pop(call),
                outcome="failed",
                output=answer,
            )
        )
