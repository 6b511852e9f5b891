"""A running program, whatever started it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple, Protocol


class Streams(NamedTuple):
    """What a program gets on stdin, and whether its error output is kept apart."""

    input: bytes = b""
    separate_errors: bool = False


class Child(Protocol):
    """A running program: what `subprocess.Popen` offers, as far as it is needed."""

    pid: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises `subprocess.TimeoutExpired`."""
        ...


@contextmanager
def open_input(data: bytes) -> Iterator[IO[bytes] | int]:
    """What a program is started with as stdin: a file with the input.

    A pipe would need someone who writes to it while the program runs, and who is stuck with a
    program that reads only a part.
    """
    if not data:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file
