"""Ctrl-C that is caught without an exception, and waits that no signal slips past."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from prowess.machine.interrupts import (
    ENDING,
    Stopped,
    catch_interrupts,
    delay_interrupts,
    wait_until_readable,
)


def test_while_it_is_heard_nothing_is_raised_and_afterwards_it_is_again() -> None:
    heard: list[str] = []
    with catch_interrupts(lambda number: heard.append("once")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == ["once", "once"]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_error_inside_leaves_the_old_way_in_place() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), catch_interrupts(lambda number: None):
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_nothing_changes() -> None:
    found = []

    def look() -> None:
        with catch_interrupts(lambda number: None):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def test_what_is_held_counts_at_the_end() -> None:
    done = []

    def work() -> None:
        with delay_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("the rest")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the rest"]


def test_what_is_held_goes_to_whoever_hears_it_outside() -> None:
    heard: list[str] = []
    with catch_interrupts(lambda number: heard.append("outside")):
        with delay_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == []
        assert heard == ["outside"]


def test_requests_to_end_are_heard_by_their_number_and_the_old_ways_come_back() -> None:
    heard: list[int] = []
    before = [signal.getsignal(number) for number in ENDING]
    assert before == [signal.SIG_DFL, signal.SIG_DFL]
    with catch_interrupts(heard.append, also=ENDING):
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
        with catch_interrupts(heard.append, also=ENDING):
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


# Waits


class Interrupted(Exception):
    """Raised by the handler of a test."""


def interrupt(number: int) -> None:
    raise Interrupted


@pytest.fixture
def silent_input() -> Iterator[int]:
    """An input on which nothing ever comes; a byte after a long time, so that no test hangs."""
    readable, writable = os.pipe()
    rescue = threading.Timer(60, os.write, (writable, b"x"))
    rescue.start()
    yield readable
    rescue.cancel()
    rescue.join()
    os.close(readable)
    os.close(writable)


def assert_interrupted(source: int, send: Callable[[], None]) -> None:
    """A wait is ended by the signal that another thread sends about when it begins."""
    sender = threading.Thread(target=send)

    def wait() -> None:
        sender.start()
        wait_until_readable(source)

    with catch_interrupts(interrupt), pytest.raises(Interrupted):
        wait()
    sender.join()


def test_a_signal_that_does_not_interrupt_the_system_call_ends_the_wait(silent_input: int) -> None:
    # Delivered to another thread, it leaves the system call of this one alone: just as a signal
    # does that arrives after Python's last check and before the call.
    for delay in (0.0, 0.0001, 0.001, 0.01) * 50:

        def send(delay: float = delay) -> None:
            time.sleep(delay)
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        assert_interrupted(silent_input, send)


def test_a_signal_at_any_moment_around_the_start_of_the_wait_ends_it(silent_input: int) -> None:
    for step in range(2_000):

        def send(delay: float = step % 100 * 5e-6) -> None:
            end = time.perf_counter() + delay
            while time.perf_counter() < end:
                pass
            os.kill(os.getpid(), signal.SIGINT)

        assert_interrupted(silent_input, send)


def test_a_handler_that_does_not_raise_leaves_the_wait_going() -> None:
    numbers: list[int] = []
    readable, writable = os.pipe()

    def send() -> None:
        for count in range(1, 4):
            os.kill(os.getpid(), signal.SIGINT)
            # Two that come before the first was handled are one.
            deadline = time.monotonic() + 60
            while len(numbers) < count and time.monotonic() < deadline:
                time.sleep(0.01)
        os.write(writable, b"x")

    sender = threading.Thread(target=send)
    with catch_interrupts(numbers.append):
        sender.start()
        wait_until_readable(readable)
    sender.join()
    assert os.read(readable, 1) == b"x"
    assert numbers == [signal.SIGINT] * 3
    os.close(readable)
    os.close(writable)


def test_after_a_wait_signals_are_reported_as_before() -> None:
    readable, writable = os.pipe()
    os.write(writable, b"x")
    os.set_blocking(writable, False)
    before = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    try:
        wait_until_readable(readable)
    finally:
        assert signal.set_wakeup_fd(before) == writable
    os.close(readable)
    os.close(writable)


def test_another_thread_can_wait_too() -> None:
    readable, writable = os.pipe()
    thread = threading.Thread(target=wait_until_readable, args=(readable,))
    thread.start()
    os.write(writable, b"x")
    thread.join(10)
    assert not thread.is_alive()
    os.close(readable)
    os.close(writable)
