"""Runs the synchronous core for libraries that wait in an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# A program that is called off is killed at once; this is for whatever else may be under way.
_SECONDS_TO_END = 1.0


async def run_in_thread(function: Callable[[Callable[[], bool]], T]) -> T:
    """Call a function in a thread of its own, and wait for its result.

    The threads of the event loop's pool are few, and a skill may run a program for minutes or wait
    for a person. The function gets a callable that says whether the task was cancelled; it has a
    second to end then.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    cancelled = threading.Event()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def work() -> None:
        result, failure = None, None
        try:
            result = context.run(function, cancelled.is_set)
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            # The loop was closed meanwhile: no one waits for the result any more.
            return

    threading.Thread(target=work, name="prowess-call", daemon=True).start()
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait({future}, timeout=_SECONDS_TO_END)
        if future.done() and not future.cancelled():
            # Retrieved, or asyncio would report an exception that no one asked for.
            future.exception()
        raise
