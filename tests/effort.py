"""What must not take long, measured so that only the code itself can fail it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
ATTEMPTS = 3


def spend(call: Callable[[], Answer]) -> tuple[Answer, float]:
    """What a call returns, and the CPU seconds it took.

    Only this thread counts, and nothing is collected meanwhile: a full collection among what a
    thousand tests left behind, or a thread of another test, takes longer than most calls.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        started = time.thread_time()
        answer = call()
        return answer, time.thread_time() - started
    finally:
        if collected:
            gc.enable()


def soon(call: Callable[[], Answer], *, seconds: float = 2.0) -> Answer:
    """What a call returns that must not take long.

    What an attack makes slow is slow every time; what a busy machine makes slow is not. So the call
    is made again before it counts as slow.
    """
    spent = []
    for _ in range(ATTEMPTS):
        answer, taken = spend(call)
        if taken < seconds:
            return answer
        spent.append(taken)
    raise AssertionError(f"took {spent} seconds of CPU time, where {seconds} are allowed")
