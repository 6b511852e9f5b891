"""Ctrl-C, heard without an exception that could come at any point of the work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def hear_interrupts(heard: Callable[[], None]) -> Iterator[None]:
    """While it lasts, Ctrl-C calls a function in place of raising KeyboardInterrupt.

    The function runs in the main thread, between any two steps of it, and once more for every further Ctrl-C. In
    another thread nothing changes, since only the main one may say what becomes of a signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: heard())
    try:
        yield
    finally:
        # None stands for a handler that was not set from Python and cannot be set again.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Ctrl-C that is pressed while it lasts counts at its end, as if it had been pressed then."""
    held: list[bool] = []
    try:
        with hear_interrupts(lambda: held.append(True)):
            yield
    finally:
        if held:
            signal.raise_signal(signal.SIGINT)
