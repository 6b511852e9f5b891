"""The repository that a folder belongs to."""

from __future__ import annotations

import posixpath
from types import ModuleType

from prowess.ports import FileSystem


def find_repository(folder: str, files: FileSystem, *, platform: str = "linux") -> str | None:
    """The nearest folder at or above this one with a `.git`, which is a file in worktrees."""
    paths: ModuleType = posixpath
    if platform == "win32":
        import ntpath

        paths = ntpath
    while files.find_kind(paths.join(folder, ".git")) is None:
        parent = paths.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
