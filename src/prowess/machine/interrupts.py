"""Ctrl-C and requests to end: caught without an exception at a random point, never missed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
_POLL_SECONDS = 0.2
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that ask a program to end: from another program, or because its terminal is gone."""


class Stopped(KeyboardInterrupt):
    """A signal stopped the work, and none of it is still running."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)

    @property
    def exit_code(self) -> int:
        """The exit code that shells report for a program ended by this signal."""
        return 128 + self.number


@contextmanager
def catch_interrupts(
    call: Callable[[int], None], *, also: tuple[signal.Signals, ...] = ()
) -> Iterator[None]:
    """Ctrl-C calls a function with the signal's number instead of raising KeyboardInterrupt.

    So do the signals in `also`, unless another handler is set or they are ignored. The function
    runs in the main thread, between any two of its steps, once per signal. In any other thread
    nothing changes, because only the main thread may set handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    unhandled = (one for one in also if signal.getsignal(one) is signal.SIG_DFL)
    with ExitStack() as handlers:
        for number in (signal.SIGINT, *unhandled):
            before = signal.signal(number, lambda number, frame: call(number))
            # None means a handler that was not set from Python and cannot be restored.
            handlers.callback(signal.signal, number, signal.SIG_DFL if before is None else before)
        yield


def let_interrupts_end() -> None:
    """Let Ctrl-C end the process at once: an interpreter that exits would print a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the block, as if it had been pressed then."""
    delayed: list[int] = []
    try:
        with catch_interrupts(delayed.append):
            yield
    finally:
        if delayed:
            signal.raise_signal(signal.SIGINT)


def join_thread(thread: threading.Thread) -> None:
    """Wait until a thread has ended, as `wait_for` does."""
    while thread.is_alive():
        thread.join(_POLL_SECONDS)


def wait_for(future: Future[T]) -> T:
    """The result of a future. Signal handlers run, and may raise, while it is waited for.

    With a timeout, because a signal just before the wait does not end it.
    """
    # Imported here, because most programs wait for none.
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_POLL_SECONDS)
    return future.result()


def wait_until_readable(descriptor: int) -> None:
    """Block until a read would return at once. Signal handlers run, and may raise, at any time.

    A plain `read` can miss a signal: one that arrives after Python's last check and before the
    system call, or in another thread, does not interrupt the call, so its handler would run only
    after the next key. Here the signal itself wakes the wait.
    """
    # Imported late: only commands that ask something wait for a key.
    import select

    if threading.current_thread() is not threading.main_thread():
        select.select([descriptor], [], [])
        return
    with _wake_on_signal() as signals:
        ready: list[int] = []
        while descriptor not in ready:
            # Python runs the handlers of pending signals right after this call.
            ready, _, _ = select.select([descriptor, signals], [], [])
            if signals in ready:
                os.read(signals, 4096)


@contextmanager
def _wake_on_signal() -> Iterator[int]:
    """A descriptor that becomes readable as soon as a signal with a handler arrives."""
    readable, writable = os.pipe()
    # The write happens inside the signal handler, where it must never block.
    os.set_blocking(writable, False)
    before = -1
    try:
        # Inside the block: a handler may raise as soon as this returns, and a descriptor that is
        # closed while signals are still written to it could soon be another file's.
        before = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
        yield readable
    finally:
        signal.set_wakeup_fd(before)
        os.close(readable)
        os.close(writable)
