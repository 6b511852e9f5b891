"""The result of a callback that may be async. The core is synchronous; callers need not be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Wait = Callable[[Awaitable[Any]], Any]
"""Waits for an awaitable and returns its result; `prowess.machine` has one, agents may have others.
"""


class NoEventLoop(Exception):
    """A callback is async, but no event-loop runner was provided."""


def settle(result: Any, wait: Wait | None) -> Any:
    """The result itself, awaited if necessary.

    Without `wait`, a coroutine that never really waits still gives its result.
    """
    if not isinstance(result, Awaitable):
        return result
    if wait is not None:
        return wait(result)
    if isinstance(result, Coroutine):
        # One step suffices for an `async def` that awaits nothing, which is common.
        try:
            result.send(None)
        except StopIteration as done:
            return done.value
        result.close()
    raise NoEventLoop("the callback is async, but no event-loop runner was provided")


def describe_failure(error: BaseException) -> str:
    """What went wrong in a callback, in one line."""
    message = " ".join(str(error).split())
    if isinstance(error, NoEventLoop):
        return message
    name = type(error).__name__
    return f"{name}: {message}" if message else name
