"""Ctrl-C that is heard without an exception."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from prowess.machine.interrupts import hear_interrupts, hold_interrupts


def test_while_it_is_heard_nothing_is_raised_and_afterwards_it_is_again() -> None:
    heard: list[str] = []
    with hear_interrupts(lambda: heard.append("once")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == ["once", "once"]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_error_inside_leaves_the_old_way_in_place() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), hear_interrupts(lambda: None):
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_nothing_changes() -> None:
    found = []

    def look() -> None:
        with hear_interrupts(lambda: None):
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
    with hear_interrupts(lambda: heard.append("outside")):
        with hold_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == []
        assert heard == ["outside"]
