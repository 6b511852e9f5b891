"""What a function gives back, also where it is to be awaited: the core is synchronous, its callers
need not be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Wait = Callable[[Awaitable[Any]], Any]
"""Waits for something awaitable and gives its result; `prowess.machine` has one, an agent may have its own."""


class NobodyWaits(Exception):
    """Something has to be awaited, and nobody was given who can."""


def settle(result: Any, wait: Wait | None) -> Any:
    """The result itself. One that is to be awaited is waited for.

    Without `wait`, a coroutine that never has to wait for anything still gives its result.
    """
    if not isinstance(result, Awaitable):
        return result
    if wait is not None:
        return wait(result)
    if isinstance(result, Coroutine):
        try:
            result.send(None)
        except StopIteration as done:
            return done.value
        result.close()
    raise NobodyWaits("its result has to be awaited, and nobody was given who can wait")


def describe_failure(error: BaseException) -> str:
    """What went wrong in somebody's function, in one line."""
    told = " ".join(str(error).split())
    if isinstance(error, NobodyWaits):
        return told
    return f"{type(error).__name__}: {told}" if told else type(error).__name__
