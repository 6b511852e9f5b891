"""Long work in a thread of its own; the main thread asks, shows progress and handles signals."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Generic, TypeVar

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.terminal.progress import Progress
from prowess.machine.interrupts import ENDING, Stopped, catch_interrupts
from prowess.model.permission import UNANSWERED, ApprovalAnswer, ApprovalRequest
from prowess.ports import Approver

T = TypeVar("T")
# How often a wait looks whether a signal has stopped the work.
_POLL_SECONDS = 0.2
# How long cancelled work may take to end. Its programs are killed at once, with their children.
_SECONDS_TO_END = 5.0


class _PassedQuestion:
    """A question on its way to the main thread, and the queue that its answer comes back on."""

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        self.answer: queue.SimpleQueue[ApprovalAnswer] = queue.SimpleQueue()


# None in place of a question: the work is done, or was stopped.
_Questions = queue.SimpleQueue[_PassedQuestion | None]


class _QueueApprover:
    """An approver that hands every request to the thread that may use the terminal."""

    def __init__(self, questions: _Questions, cancel: Cancel) -> None:
        self._questions = questions
        self._cancel = cancel

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        question = _PassedQuestion(request)
        self._questions.put(question)
        while not self._cancel.is_cancelled:
            try:
                return question.answer.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                # The user is still thinking, or has stopped the work.
                continue
        return UNANSWERED


class BackgroundWork(Generic[T]):
    """One piece of work. It gets a way to be cancelled, and an approver if there is one."""

    def __init__(
        self,
        work: Callable[[Cancel, Approver | None], T],
        *,
        doing: str | None,
        approver: Approver | None = None,
    ) -> None:
        self._work = work
        self._doing = doing
        self._approver = approver
        self._cancel = Cancel()
        self._stopped: Stopped | None = None
        self._is_asking = False
        self._questions: _Questions = queue.SimpleQueue()
        self._results: list[T] = []
        self._error: BaseException | None = None

    @property
    def signal(self) -> int | None:
        """The signal that stopped the work; None if none did."""
        return None if self._stopped is None else self._stopped.number

    def run(self) -> T:
        """Do the work. Ctrl-C or a request to end cancels it, then raises `Stopped`."""
        thread = threading.Thread(target=self._run_work, daemon=True)
        with catch_interrupts(self._stop, also=ENDING):
            thread.start()
            while (question := self._wait_for_question()) is not None:
                question.answer.put(self._ask(question.request))
            thread.join(_SECONDS_TO_END if self._stopped is not None else None)
        if self._stopped is not None:
            raise self._stopped
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _wait_for_question(self) -> _PassedQuestion | None:
        """The next question; None once the work is done or was stopped."""
        # Work that reports for itself needs no line about it.
        with Progress(self._doing) if self._doing is not None else nullcontext():
            while self._stopped is None:
                try:
                    # With a timeout, because a signal just before the wait does not end it.
                    return self._questions.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    # The work goes on, unless a signal has stopped it.
                    continue
        return None

    def _ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        assert self._approver is not None
        try:
            self._is_asking = True
            # Checked after the line above: from there on a signal raises, before it, it did not.
            if self._stopped is None:
                answer = self._approver.ask(request)
                # In a terminal nothing is awaited; an answer that has to be is none.
                if isinstance(answer, ApprovalAnswer):
                    return answer
        except KeyboardInterrupt:
            # `_stop` raised it to end the question; `run` reports that the work was stopped.
            return UNANSWERED
        finally:
            self._is_asking = False
        return UNANSWERED

    def _stop(self, number: int) -> None:
        """Handle a signal. Further ones may arrive meanwhile and change nothing."""
        if self._stopped is not None:
            return
        self._stopped = Stopped(number)
        self._cancel.cancel()
        self._questions.put(None)
        if self._is_asking:
            raise KeyboardInterrupt

    def _run_work(self) -> None:
        approver = None if self._approver is None else _QueueApprover(self._questions, self._cancel)
        try:
            self._results.append(self._work(self._cancel, approver))
        except BaseException as error:
            self._error = error
        finally:
            self._questions.put(None)
