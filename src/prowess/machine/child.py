"""A running program, whatever started it."""

from __future__ import annotations

from typing import IO, Protocol


class Child(Protocol):
    """A running program: what `subprocess.Popen` offers, as far as it is needed."""

    pid: int
    stdout: IO[bytes] | None
    returncode: int | None

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises `subprocess.TimeoutExpired`."""
        ...
