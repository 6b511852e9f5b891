"""Work that may take long: done in a thread of its own, while this one asks, shows progress and
hears signals.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.terminal.progress import Progress
from prowess.machine.interrupts import ENDING, Stopped, hear_interrupts
from prowess.model.permission import Answer, Reply, Request
from prowess.ports import Approver

T = TypeVar("T")
# How long what was called off may take to end; a program is ended at once, with everything it
# started.
_SECONDS_TO_HEAR = 0.2
_SECONDS_TO_END = 5.0


class _Question:
    """A question on its way to the person, and the place where the answer is put."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answer: queue.SimpleQueue[Answer] = queue.SimpleQueue()


class _Messenger:
    """An approver that passes the question on to the thread which may use the terminal."""

    def __init__(self, desk: queue.SimpleQueue[_Question | None]) -> None:
        self._desk = desk

    def ask(self, request: Request) -> Answer:
        question = _Question(request)
        self._desk.put(question)
        return question.answer.get()


class Waiting(Generic[T]):
    """One piece of work. It is handed a way to be called off, and whoever can be asked, if anybody
    can.
    """

    def __init__(
        self,
        work: Callable[[Cancel, Approver | None], T],
        *,
        doing: str,
        approver: Approver | None = None,
    ) -> None:
        self._work = work
        self._doing = doing
        self._approver = approver
        self._cancel = Cancel()
        self._stopped: Stopped | None = None
        self._is_asking = False
        self._desk: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._done: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> T:
        """Do it. Ctrl-C, or being asked to end, calls it off and goes on as `Stopped` once nothing
        of it runs.
        """
        thread = threading.Thread(target=self._do, daemon=True)
        with hear_interrupts(self._stop, also=ENDING):
            thread.start()
            while self._stopped is None and (question := self._wait()) is not None:
                question.answer.put(self._ask(question.request))
            thread.join(_SECONDS_TO_END if self._stopped is not None else None)
        if self._stopped is not None:
            raise self._stopped
        if self._error is not None:
            raise self._error
        return self._done[0]

    def _wait(self) -> _Question | None:
        """The next question, or None once the work is done or called off."""
        with Progress(self._doing):
            while self._stopped is None:
                try:
                    # A signal that comes just before the wait is heard only when the wait ends.
                    return self._desk.get(timeout=_SECONDS_TO_HEAR)
                except queue.Empty:
                    pass
        return None

    def _ask(self, request: Request) -> Answer:
        assert self._approver is not None
        try:
            self._is_asking = True
            return self._approver.ask(request)
        except KeyboardInterrupt:
            return Answer(Reply.REJECT)
        finally:
            self._is_asking = False

    def _stop(self, number: int) -> None:
        """A signal came. More may come while this runs, which then changes nothing."""
        if self._stopped is not None:
            return
        self._stopped = Stopped(number)
        self._cancel.cancel()
        self._desk.put(None)
        if self._is_asking:
            raise KeyboardInterrupt

    def _do(self) -> None:
        messenger = None if self._approver is None else _Messenger(self._desk)
        try:
            self._done.append(self._work(self._cancel, messenger))
        except BaseException as error:
            self._error = error
        finally:
            self._desk.put(None)
