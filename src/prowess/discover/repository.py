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
        # Only the top of the file system is its own parent.
        if parent == folder:
            return None
        folder = parent
    return folder


def find_main_checkout(repository: str, files: FileSystem) -> str | None:
    """The main checkout of a linked worktree; None for any other repository.

    Git's own files must lead there and back: a `.git` file alone could name any folder.
    """
    link = posixpath.join(repository, ".git")
    # In the main checkout itself `.git` is a folder.
    if files.find_kind(link) != "file":
        return None
    private = _find_target(link, files, mark="gitdir:")
    if private is None:
        return None
    back = _find_target(posixpath.join(private, "gitdir"), files)
    common = _find_target(posixpath.join(private, "commondir"), files)
    if common is None or back is None:
        return None
    # A bare repository has worktrees, too, but no checkout of its own.
    is_checkout = posixpath.basename(common) == ".git"
    leads_back = files.find_real_path(back) == _find_real(link, files)
    return posixpath.dirname(common) if is_checkout and leads_back else None


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
    if not target:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
