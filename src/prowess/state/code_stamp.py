"""A stamp over Prowess's own files, so that nothing made by other code is trusted."""

from __future__ import annotations

import os
from functools import lru_cache

from prowess.state.checksum import compute_checksum

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What decides a cached answer: how headers are read, what is reported, and the rules of the hosts.
_FOLDERS = ("model", "parse", "profiles")
_FILES = ("diagnostics.py",)


@lru_cache(maxsize=1)
def stamp_code() -> str:
    """The times and sizes of the files that decide a cached answer, as one short text."""
    return stamp_package(_PACKAGE)


def stamp_package(package: str) -> str:
    """The stamp of the package in a folder."""
    described = [_describe_file(os.stat(os.path.join(package, file))) for file in _FILES]
    described += [_describe_folder(os.path.join(package, folder)) for folder in _FOLDERS]
    return compute_checksum("".join(described).encode())


def _describe_folder(path: str) -> str:
    described = []
    with os.scandir(path) as listing:
        # Sorted, because the order of a listing may differ from one start to the next.
        for item in sorted(listing, key=lambda item: item.name):
            if item.name.endswith((".py", ".toml")):
                described.append(f"{item.name}:{_describe_file(item.stat())}")
            elif item.is_dir() and item.name != "__pycache__":
                described.append(f"{item.name}/{_describe_folder(item.path)}")
    return "".join(described)


def _describe_file(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns}:{status.st_size};"
