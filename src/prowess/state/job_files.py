"""What jobs keep in the state folder: their database, the name of this machine, a worker's lock."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

from prowess.errors import MachineError, UsageError
from prowess.machine.append_file import unique_hex
from prowess.machine.atomic_write import make_folder, write_aside
from prowess.model.facts import Facts
from prowess.state.folders import state_folder
from prowess.state.locks import hold_lock

_MOST_NAME = 200


class WorkerRunning(UsageError):
    """Another worker runs on this machine."""

    def __init__(self) -> None:
        super().__init__("A worker is running on this machine already.")


def jobs_folder(facts: Facts) -> str:
    """The folder for everything about jobs."""
    return os.path.join(state_folder(facts), "jobs")


def make_private_file(path: str) -> None:
    """Make an empty file that only the user can read, unless it exists. Raises `MachineError`."""
    make_folder(os.path.dirname(path), mode=0o700)
    # A database that exists must not be opened here: closing it would drop the locks that SQLite
    # holds on it for the whole process.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise MachineError.caused_by("create", path, error) from error


def is_file(path: str) -> bool:
    """Whether a file exists."""
    return os.path.isfile(path)


def load_machine_name(facts: Facts) -> str:
    """The name of this machine for jobs, made at the first use; it stays with the state folder.

    A host name alone is not enough: containers change it, and two machines may share one.
    """
    path = os.path.join(jobs_folder(facts), "machine")
    # Two programs that start at once must not make up two names.
    with hold_lock(path):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            name = file.read(_MOST_NAME).strip()
            if name:
                return name
        name = f"{_find_host_name(facts)}-{unique_hex()}"
        write_aside(path, f"{name}\n".encode(), mode=0o600)
    return name


def _find_host_name(facts: Facts) -> str:
    # Windows has no `uname`.
    name = os.uname().nodename if hasattr(os, "uname") else facts.env.get("COMPUTERNAME", "")
    plain = re.sub(r"[\W_]", "-", name.lower())
    return plain[:40] or "machine"


@contextlib.contextmanager
def hold_worker_lock(facts: Facts, *, seconds: float = 2.0) -> Iterator[None]:
    """Be the one worker of this machine. Raises `WorkerRunning`."""
    make_folder(jobs_folder(facts), mode=0o700)
    lock = hold_lock(_lock_path(facts), seconds=seconds)
    # Not a `with` block: an error inside of the caller's block must not look like one of the lock.
    try:
        lock.__enter__()
    except MachineError as error:
        if not error.cause.startswith("another program"):
            raise
        raise WorkerRunning from None
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def is_worker_running(facts: Facts) -> bool:
    """Whether a worker of this user runs on this machine."""
    try:
        with hold_worker_lock(facts, seconds=0):
            return False
    except WorkerRunning:
        return True


def _lock_path(facts: Facts) -> str:
    return os.path.join(jobs_folder(facts), "worker")
