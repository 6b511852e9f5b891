"""The processes of this machine, as `ps` lists them."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from prowess.errors import MachineError

_SECONDS = 10


class Process(NamedTuple):
    """A process: its id, that of its parent, how long it has run (as `ps` writes it), and what."""

    id: int
    parent: int
    age: str
    command: str


def get_process_id() -> int:
    """The id of this process."""
    return os.getpid()


def list_processes() -> dict[int, Process]:
    """Every process by its id. Raises `MachineError`."""
    # The `=` leaves out the headings. One option each: in a list the text after the first `=`
    # would be the heading.
    options = ("-o", "pid=", "-o", "ppid=", "-o", "etime=", "-o", "args=")
    try:
        done = subprocess.run(
            ["ps", "-A", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MachineError("list the processes with", "ps", str(error)) from error
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    processes = filter(None, map(_parse_process, lines))
    return {process.id: process for process in processes}


def _parse_process(line: str) -> Process | None:
    """A line of `ps`; None for the rest of a command that has a newline in it."""
    fields = line.split(maxsplit=3)
    if len(fields) != 4:
        return None
    id, parent, age, command = fields
    if not (id.isdigit() and parent.isdigit()):
        return None
    return Process(int(id), int(parent), age, command)


def list_children(processes: dict[int, Process], parent: int) -> list[Process]:
    """Every process below another one, a parent before its children."""
    below = []
    waiting = [parent]
    while waiting:
        above = waiting.pop(0)
        children = [one for one in processes.values() if one.parent == above]
        below += children
        waiting += [one.id for one in children]
    return below
