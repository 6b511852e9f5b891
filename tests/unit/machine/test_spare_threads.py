"""Threads for blocking work are used again, and never make work wait."""

from __future__ import annotations

import gc
import threading
import weakref
from queue import SimpleQueue

import pytest

from prowess.machine.spare_threads import SpareThreads

LONG = 30.0


def wait_for_spare(threads: SpareThreads, count: int) -> None:
    """Wait until so many threads wait for work."""
    pause = threading.Event()
    for _ in range(3_000):
        if len(threads._spare) == count:
            return
        pause.wait(0.01)
    pytest.fail(f"{len(threads._spare)} threads are spare, not {count}")


def test_a_thread_that_is_done_runs_the_next_work() -> None:
    threads, seen = SpareThreads(), SimpleQueue[int]()
    for _ in range(3):
        threads.start(lambda: seen.put(threading.get_ident()))
        wait_for_spare(threads, 1)
    assert len({seen.get(timeout=LONG) for _ in range(3)}) == 1


def test_work_never_waits_for_other_work() -> None:
    threads, begun, release = SpareThreads(most=1), SimpleQueue[int](), threading.Event()

    def work() -> None:
        begun.put(1)
        release.wait(LONG)

    for _ in range(20):
        threads.start(work)
    assert [begun.get(timeout=LONG) for _ in range(20)] == [1] * 20
    release.set()
    wait_for_spare(threads, 1)


def test_a_thread_without_work_ends_and_a_new_one_takes_its_place() -> None:
    threads, seen = SpareThreads(seconds=0.01), SimpleQueue[threading.Thread]()
    threads.start(lambda: seen.put(threading.current_thread()))
    first = seen.get(timeout=LONG)
    first.join(LONG)
    assert not first.is_alive()
    assert threads._spare == []
    threads.start(lambda: seen.put(threading.current_thread()))
    assert seen.get(timeout=LONG) is not first


def test_nothing_is_lost_while_threads_end() -> None:
    threads, done = SpareThreads(seconds=0.0), SimpleQueue[int]()
    for number in range(500):
        threads.start(lambda number=number: done.put(number))  # type: ignore[misc]
    assert sorted(done.get(timeout=LONG) for _ in range(500)) == list(range(500))


def test_a_thread_that_waits_keeps_nothing_of_its_work_alive() -> None:
    class Held:
        pass

    threads, held = SpareThreads(), Held()
    gone = weakref.ref(held)
    threads.start(lambda held=held: None)  # type: ignore[misc]
    del held
    wait_for_spare(threads, 1)
    gc.collect()
    assert gone() is None


def test_a_forked_process_starts_threads_of_its_own() -> None:
    threads = SpareThreads()
    threads.start(lambda: None)
    wait_for_spare(threads, 1)
    threads.forget()
    done = SimpleQueue[int]()
    threads.start(lambda: done.put(1))
    assert done.get(timeout=LONG) == 1
