"""Work in the background: what a signal does at every moment of a question."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.terminal import background
from prowess.cli.terminal.background import BackgroundWork
from prowess.cli.terminal.progress import Progress
from prowess.machine.interrupts import Stopped, wait_until_readable
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.ports import Approver

REQUEST = ApprovalRequest(permission="skill", patterns=("greet",), always=("greet",))


def ask_once(cancel: Cancel, approver: Approver | None) -> ApprovalAnswer:
    assert approver is not None
    answer = approver.ask(REQUEST)
    assert isinstance(answer, ApprovalAnswer)
    return answer


class Yes:
    """Allows everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return ApprovalAnswer(ApprovalChoice.ONCE)


class Signalled(Yes):
    """A question during which a signal reaches another thread, so that no system call ends."""

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        super().ask(request)
        readable, writable = os.pipe()
        threading.Thread(
            target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        ).start()
        try:
            wait_until_readable(readable)
        finally:
            os.close(readable)
            os.close(writable)
        return ApprovalAnswer(ApprovalChoice.ONCE)


def test_the_answer_to_a_question_reaches_the_work():
    approver = Yes()
    answer = BackgroundWork(ask_once, doing="asking", approver=approver).run()
    assert (answer, approver.asked) == (ApprovalAnswer(ApprovalChoice.ONCE), [REQUEST])


def test_a_request_to_end_during_a_question_stops_every_time():
    for _ in range(100):
        approver = Signalled()
        with pytest.raises(Stopped) as stopped:
            BackgroundWork(ask_once, doing="asking", approver=approver).run()
        assert stopped.value.exit_code == 143
        assert approver.asked == [REQUEST]


def test_a_request_to_end_just_before_a_question_asks_nothing(monkeypatch):
    class Ending(Progress):
        """The last step before the question is that the line of progress is taken away."""

        def finish(self) -> None:
            super().finish()
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(background, "Progress", Ending)
    approver = Yes()
    with pytest.raises(Stopped):
        BackgroundWork(ask_once, doing="asking", approver=approver).run()
    assert approver.asked == []


def test_a_question_that_is_never_answered_does_not_outlive_the_work(monkeypatch):
    monkeypatch.setattr(background, "_SECONDS_TO_END", 60.0)
    answers = []

    def work(cancel: Cancel, approver: Approver | None) -> None:
        assert approver is not None
        signal.raise_signal(signal.SIGTERM)
        answers.append(approver.ask(REQUEST))

    approver = Yes()
    with pytest.raises(Stopped):
        BackgroundWork(work, doing="asking", approver=approver).run()
    assert answers == [ApprovalAnswer(ApprovalChoice.REJECT)] or approver.asked == [REQUEST]
