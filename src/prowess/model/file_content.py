"""A file that is packed, unpacked or put in place."""

from __future__ import annotations

import msgspec


class FileContent(msgspec.Struct, frozen=True):
    """The bytes of a file, and whether it is a program that can be run."""

    data: bytes
    is_executable: bool = False
