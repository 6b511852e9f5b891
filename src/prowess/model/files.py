"""What is read from folders and files, as values."""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class FolderItem(msgspec.Struct, frozen=True, array_like=True, order=True, gc=False):
    """One name in a folder: what it is (`file`, `folder`, `other`), links followed, and whether it
    is a link.

    A broken or looping link is `broken`.
    """

    name: str
    kind: str
    is_link: bool


Stamp = tuple[int, int, int, int]
"""The version of a file or folder: times of modification and change in ns, size, inode."""


class Head(msgspec.Struct, frozen=True, gc=False):
    """The beginning of a file, how large the whole file is, how many hard links it has, and its
    stamp.
    """

    data: bytes
    size: int
    links: int
    stamp: Stamp


class KeptReading(msgspec.Struct, Generic[T], frozen=True, array_like=True, gc=False):
    """What was read from a file, its size and hard links, and the stamp it had."""

    stamp: Stamp
    size: int
    links: int
    reading: T
