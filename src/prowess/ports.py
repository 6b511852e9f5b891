"""What the core asks of the world.

Stages take these as arguments. `prowess.machine` holds the real ones, `prowess.testing` one that lives in
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec


class FolderItem(NamedTuple):
    """One name in a folder: what it is (`file`, `folder`, `other`), links followed, and whether it is a link.

    A broken or looping link is `broken`.
    """

    name: str
    kind: str
    is_link: bool


Stamp = tuple[int, int, int, int]
"""What tells one version of a file or folder from another: times of change in ns, size, inode."""


class Head(NamedTuple):
    """The beginning of a file, how large the whole file is, how many hard links it has, and its stamp."""

    data: bytes
    size: int
    links: int
    stamp: Stamp


class FileSystem(Protocol):
    """Folders and files, read only. Every method but `find_kind` and `find_real_path` raises OSError where the
    machine refuses."""

    def list_folder(self, path: str) -> list[FolderItem]:
        """What lies in a folder, sorted by name."""
        ...

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file; never waits on a pipe or a device."""
        ...

    def get_stamp(self, path: str) -> Stamp:
        """The stamp of what is there now."""
        ...

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None where that cannot be told."""
        ...

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`, links followed; None where nothing is there."""
        ...


T = TypeVar("T")


class ReadingStore(Protocol[T]):
    """What earlier scans read from files, while those files have not changed."""

    def find_reading(self, location: str) -> tuple[Stamp, int, int, T] | None:
        """The stamp, size, hard links and reading of an unchanged file; None where it must be read."""
        ...

    def keep_reading(self, location: str, head: Head, reading: T) -> None:
        """Remember what was read from a file."""
        ...


class Event(msgspec.Struct, frozen=True):
    """Something a host would publish on its bus while it loads skills."""

    kind: str
    file: str
    message: str
    related: str | None = None


Listener = Callable[[Event], Any]


class Reporter(Protocol):
    """Told how far a slow piece of work has come."""

    def progress(self, doing: str, done: int) -> None:
        """`done` units of the named work are finished."""
        ...
