"""Threads for blocking work: each has one at once, and a few that are done wait for more."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

_BUSY, _SPARE = "prowess", "prowess-spare"
_MOST_SPARE = 2
_SECONDS_SPARE = 10.0

_Work = Callable[[], None]
_Inbox = SimpleQueue[_Work]


class SpareThreads:
    """Threads that are used again, because to start one takes longer than most work does.

    This is not a pool: where no thread is spare, a new one starts, so however long some work takes,
    no other work waits for it.
    """

    def __init__(self, *, most: int = _MOST_SPARE, seconds: float = _SECONDS_SPARE) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._spare: list[_Inbox] = []

    def start(self, work: _Work) -> None:
        """Run work in a thread. It must not raise."""
        with self._lock:
            inbox = self._spare.pop() if self._spare else None
        if inbox is not None:
            inbox.put(work)
            return
        inbox = SimpleQueue()
        inbox.put(work)
        # A daemon: at exit, Python must not wait for a person who is being asked something.
        threading.Thread(target=self._serve, args=(inbox,), name=_BUSY, daemon=True).start()

    def forget(self) -> None:
        """Begin anew in a process that was forked, which has none of the threads."""
        self._lock = threading.Lock()
        self._spare = []

    def _serve(self, inbox: _Inbox) -> None:
        thread = threading.current_thread()
        while (work := self._wait(inbox)) is not None:
            thread.name = _BUSY
            work()
            # What the work refers to must not live on in a thread that waits.
            del work
            thread.name = _SPARE
            with self._lock:
                if len(self._spare) >= self._most:
                    return
                self._spare.append(inbox)

    def _wait(self, inbox: _Inbox) -> _Work | None:
        """The next work; None if none came for a while."""
        try:
            return inbox.get(timeout=self._seconds)
        except Empty:
            with self._lock:
                if inbox in self._spare:
                    self._spare.remove(inbox)
                    return None
        # It was taken at this moment, so its work is on the way.
        return inbox.get()


_THREADS = SpareThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.forget)


def start_in_thread(work: _Work) -> None:
    """Run work in a thread of the process that nothing else uses meanwhile. It must not raise."""
    _THREADS.start(work)
