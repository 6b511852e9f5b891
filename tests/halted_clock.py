"""A clock for tests of time limits: what takes long to begin does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

# Only what never happens takes so long.
_SECONDS = 180.0


class HaltedClock:
    """Takes the place of the module `time`; it stands still until something has happened.

    From then on each look at it is days after the one before, and so past every limit. So a program
    has begun when its time is up, however busy the machine is.
    """

    def __init__(self, has_happened: Callable[[], bool]) -> None:
        self._has_happened = has_happened
        self._now = 0.0
        self._deadline = time.monotonic() + _SECONDS

    def monotonic(self) -> float:
        if self._has_happened():
            self._now += 1e6
        else:
            assert time.monotonic() < self._deadline, "it never happened"
        return self._now
