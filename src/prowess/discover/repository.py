"""The repository that a folder belongs to."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from types import ModuleType

from prowess.ports import FileSystem

# The files with which git links a worktree to its repository hold one short line.
_MOST_LINE = 4_096


def find_repository(
    folder: str,
    files: FileSystem,
    *,
    platform: str = "linux",
    markers: Sequence[str] = (".git",),
) -> str | None:
    """The nearest folder at or above this one with a marker: `.git`, which is a file in worktrees,
    unless others are given.
    """
    paths: ModuleType = posixpath
    if platform == "win32":
        import ntpath

        paths = ntpath
    while all(files.find_kind(paths.join(folder, marker)) is None for marker in markers):
        parent = paths.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder if markers else None


def find_main_checkout(repository: str, files: FileSystem) -> str | None:
    """The main checkout of a linked worktree; None for any other repository.

    Git's own files must lead there and back: a `.git` file alone could name any folder.
    """
    link = posixpath.join(repository, ".git")
    private = _find_target(link, files, mark="gitdir:") if files.find_kind(link) == "file" else None
    if private is None:
        return None
    back = _find_target(posixpath.join(private, "gitdir"), files)
    common = _find_target(posixpath.join(private, "commondir"), files)
    if common is None or back is None or posixpath.basename(common) != ".git":
        return None
    return (
        posixpath.dirname(common) if files.find_real_path(back) == _find_real(link, files) else None
    )


def _find_real(path: str, files: FileSystem) -> str:
    return files.find_real_path(path) or path


def _find_target(path: str, files: FileSystem, *, mark: str = "") -> str | None:
    """The path in a file of git, relative to the folder of that file."""
    try:
        line = files.read_head(path, _MOST_LINE).data.decode("utf-8", "replace")
    except (OSError, ValueError):
        # A file may name a path that no system has, with a zero byte in it: then it leads nowhere.
        return None
    if not line.startswith(mark):
        return None
    target = line.removeprefix(mark).strip()
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else None
