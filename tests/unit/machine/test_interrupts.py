"""Ctrl-C that is heard without an exception."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from prowess.machine.interrupts import ENDING, Stopped, hear_interrupts, hold_interrupts


def test_while_it_is_heard_nothing_is_raised_and_afterwards_it_is_again() -> None:
    heard: list[str] = []
    with hear_interrupts(lambda number: heard.append("once")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == ["once", "once"]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_error_inside_leaves_the_old_way_in_place() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), hear_interrupts(lambda number: None):
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_nothing_changes() -> None:
    found = []

    def look() -> None:
        with hear_interrupts(lambda number: None):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def test_what_is_held_counts_at_the_end() -> None:
    done = []

    def work() -> None:
        with hold_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("the rest")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the rest"]


def test_what_is_held_goes_to_whoever_hears_it_outside() -> None:
    heard: list[str] = []
    with hear_interrupts(lambda number: heard.append("outside")):
        with hold_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == []
        assert heard == ["outside"]


def test_requests_to_end_are_heard_by_their_number_and_the_old_ways_come_back() -> None:
    heard: list[int] = []
    before = [signal.getsignal(number) for number in ENDING]
    assert before == [signal.SIG_DFL, signal.SIG_DFL]
    with hear_interrupts(heard.append, also=ENDING):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    assert [signal.getsignal(number) for number in ENDING] == before


def test_a_request_to_end_that_somebody_else_hears_or_ignores_is_left_to_them() -> None:
    theirs: list[int] = []
    before = [signal.signal(signal.SIGTERM, lambda number, frame: theirs.append(number))]
    before.append(signal.signal(signal.SIGHUP, signal.SIG_IGN))
    heard: list[int] = []
    try:
        with hear_interrupts(heard.append, also=ENDING):
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])
    assert (heard, theirs) == ([], [signal.SIGTERM])


def test_being_stopped_by_a_signal_is_an_interrupt_with_the_exit_code_of_that_signal() -> None:
    assert [
        Stopped(number).exit_code for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    ] == [129, 130, 143]
    assert issubclass(Stopped, KeyboardInterrupt)
