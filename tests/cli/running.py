"""Processes that a command started: told from all others by a mark in their words."""

from __future__ import annotations

import os
import time

# Seconds that nobody else sleeps for, by which a process is found again.
MARK = f"300.{os.getpid()}"


def find_running(mark: str) -> list[str]:
    """The processes that have a word in their command line."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as line:
                words = line.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if mark in words:
            found.append(process)
    return found


def wait_until_ended(mark: str) -> bool:
    """Whether none is left: what was killed may need a moment, what was not sleeps for minutes."""
    deadline = time.monotonic() + 60
    while find_running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not find_running(mark)


def wait_until_running(mark: str) -> None:
    """Wait until there is one."""
    deadline = time.monotonic() + 120
    while not find_running(mark):
        assert time.monotonic() < deadline
        time.sleep(0.02)
