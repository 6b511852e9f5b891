"""Between event loops and blocking code: awaits from the one, runs the other without blocking."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from prowess.machine.spare_threads import start_in_thread

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
# How long a cancelled task waits for its work. Programs are killed within a twentieth of that.
_SECONDS_TO_END = 1.0


def is_loop_running() -> bool:
    """Whether an event loop runs in this thread."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of an awaitable, run in an event loop of its own.

    If a loop is already running in this thread, the other one runs in a second thread, and this one
    waits.
    """
    import asyncio

    async def run() -> Any:
        return await awaitable

    if not is_loop_running():
        return asyncio.run(run())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, run()).result()


async def run_in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """The result of blocking work, which runs in a thread of its own.

    The thread is of no pool, so however long the work takes, no other work waits for it. It sees
    the caller's context variables. `work` gets a function that says whether it was cancelled: when
    the task was, or when the loop was closed. A cancelled task ends as soon as its work has, and
    after a second at the latest.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    cancelled = threading.Event()
    context = contextvars.copy_context()

    def is_cancelled() -> bool:
        return cancelled.is_set() or loop.is_closed()

    def run() -> None:
        try:
            settle = partial(_set_result, done, context.run(work, is_cancelled))
        except BaseException as error:
            settle = partial(_set_exception, done, error)
        # A loop that was closed meanwhile wants no result.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)

    start_in_thread(run)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([done], timeout=_SECONDS_TO_END)
        raise
    finally:
        # Also where the coroutine is closed without being cancelled.
        cancelled.set()


def _set_result(done: asyncio.Future[T], result: T) -> None:
    if not done.done():
        done.set_result(result)


def _set_exception(done: asyncio.Future[Any], error: BaseException) -> None:
    if done.done():
        return
    if isinstance(error, StopIteration):
        # Python forbids it in a future, because it would end the coroutine that awaits it.
        error = RuntimeError(f"the work raised {error!r}")
    done.set_exception(error)
    # Read once, or asyncio would log the error of work that nobody waits for any more.
    done.exception()
