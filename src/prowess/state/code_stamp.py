"""A stamp over Prowess's own files: what other code made is not trusted."""

from __future__ import annotations

import os
from functools import lru_cache

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What decides an answer that is kept: how headers are read, what is said of them, and the rules of
# the hosts.
_FOLDERS = ("parse", "model", "profiles", os.path.join("profiles", "data"))


@lru_cache(maxsize=1)
def stamp_code() -> str:
    """The times and sizes of the files that decide what a kept answer would be, as one short text."""
    import zlib

    crc = 0
    for folder in _FOLDERS:
        with os.scandir(os.path.join(_PACKAGE, folder)) as listing:
            for found in sorted(listing, key=lambda one: one.name):
                if found.name.endswith((".py", ".toml")):
                    status = found.stat()
                    crc = zlib.crc32(
                        f"{folder}/{found.name}:{status.st_mtime_ns}:{status.st_size};".encode(),
                        crc,
                    )
    status = os.stat(os.path.join(_PACKAGE, "diagnostics.py"))
    return f"{zlib.crc32(f'{status.st_mtime_ns}:{status.st_size}'.encode(), crc):08x}"
