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
    columns = ("pid=", "ppid=", "etime=", "args=")
    options = [option for column in columns for option in ("-o", column)]
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
    found = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        fields = line.split(maxsplit=3)
        if len(fields) == 4 and fields[0].isdigit() and fields[1].isdigit():
            found[int(fields[0])] = Process(int(fields[0]), int(fields[1]), fields[2], fields[3])
    return found


def list_children(processes: dict[int, Process], parent: int) -> list[Process]:
    """Every process below another one, a parent before its children."""
    found = []
    waiting = [parent]
    while waiting:
        above = waiting.pop(0)
        children = [one for one in processes.values() if one.parent == above]
        found += children
        waiting += [one.id for one in children]
    return found
