"""Ctrl-C and requests to end, heard without an exception that could come at any point of the work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals by which a program is asked to end: by another program, or since its terminal is gone."""


class Stopped(KeyboardInterrupt):
    """A signal stopped what was under way, and nothing of it is left running."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)

    @property
    def exit_code(self) -> int:
        """The exit code that shells give to a program which a signal has ended."""
        return 128 + self.number


@contextmanager
def hear_interrupts(
    heard: Callable[[int], None], *, also: tuple[signal.Signals, ...] = ()
) -> Iterator[None]:
    """While it lasts, Ctrl-C calls a function with the number of the signal, in place of raising
    KeyboardInterrupt.

    So do the signals in `also`, each unless somebody hears or ignores it already. The function runs
    in the main thread, between any two steps of it, and once more for every further signal. In
    another thread nothing changes, since only the main one may say what becomes of a signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, *(one for one in also if signal.getsignal(one) is signal.SIG_DFL))
    with ExitStack() as befores:
        for number in numbers:
            before = signal.signal(number, lambda number, frame: heard(number))
            # None stands for a handler that was not set from Python and cannot be set again.
            befores.callback(signal.signal, number, signal.SIG_DFL if before is None else before)
        yield


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Ctrl-C that is pressed while it lasts counts at its end, as if it had been pressed then."""
    held: list[int] = []
    try:
        with hear_interrupts(held.append):
            yield
    finally:
        if held:
            signal.raise_signal(signal.SIGINT)
