"""Real folders and files, read so that nothing on a disk can block the reader or surprise it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from operator import attrgetter

from prowess.model.files import FolderItem, Head, Stamp

# A pipe or a device opened for reading must never block, and a terminal must not become ours.
_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_OPEN |= getattr(os, "O_BINARY", 0)
_FOLDER = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
# On the way only passing through is needed, which takes less permission than reading.
_STEP = _FOLDER | getattr(os, "O_PATH", 0)

_by_name = attrgetter("name")

# Linux knows the path of what is open; asking for it takes a fifth of the time of resolving every
# link ourselves.
_OPENED = "/proc/self/fd/"
_CAN_ASK = sys.platform == "linux" and os.path.isdir(_OPENED)


def _ask_system(path: str) -> str:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        found = os.readlink(f"{_OPENED}{descriptor}")
    finally:
        os.close(descriptor)
    # The kernel adds a remark to what was removed meanwhile, and some things have no path at all.
    if found.startswith("/") and not found.endswith(" (deleted)"):
        return found
    return os.path.realpath(path, strict=True)


# The change time as well: a file can be given an old modification time, as `touch` does. Not a
# function in Python, because a scan calls it for every file and folder.
_stamp: Callable[[os.stat_result], Stamp] = attrgetter(
    "st_mtime_ns", "st_ctime_ns", "st_size", "st_ino"
)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "other"


class LocalFiles:
    """The `FileSystem` port over the disk."""

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        return _list(path)

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of a regular file."""
        descriptor = os.open(path, _OPEN)
        try:
            return _read_open(descriptor, os.fstat(descriptor), limit)
        finally:
            os.close(descriptor)

    def list_real_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder whose path has no links."""
        descriptor = open_real(path, _FOLDER)
        try:
            # The names are read from what is open, wherever the path leads by now.
            return _list(descriptor)
        finally:
            os.close(descriptor)

    def read_real_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of a regular file whose path has no links."""
        descriptor = open_real(path, _OPEN)
        try:
            status = os.fstat(descriptor)
            # A hard link has no target that could be checked; it would show a secret file of
            # another user as one of the project.
            is_others_hard_link = status.st_nlink > 1 and status.st_uid != os.geteuid()
            if is_others_hard_link:
                raise OSError("it is a hard link to a file of another user")
            return _read_open(descriptor, status, limit)
        finally:
            os.close(descriptor)

    def get_stamp(self, path: str) -> Stamp:
        """The stamp of what is there now."""
        return _stamp(os.stat(path))

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None if it cannot be resolved."""
        try:
            if _CAN_ASK:
                return _ask_system(path or ".")
            return os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            # Nothing is there, or the path has a NUL in it.
            return None

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`, following links; None if nothing is there."""
        try:
            return _kind(os.stat(path).st_mode)
        except (OSError, ValueError):
            return None

    def find_link(self, path: str) -> str | None:
        """The target of a symlink, whether it exists or not; None if there is no link."""
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return None


def open_real(path: str, flags: int) -> int:
    """Open what a path names, folder by folder from the top, following no link.

    The path was judged before, and a folder of it may be swapped for a link at any moment. Opened
    this way, a link anywhere is an error, whenever it appears.
    """
    # Windows cannot open one folder from another.
    if os.open not in os.supports_dir_fd:
        return os.open(path, flags)
    *folders, name = path.strip("/").split("/")
    descriptor = os.open("/", _STEP)
    try:
        for folder in folders:
            inner = os.open(folder, _STEP, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(name or ".", flags | os.O_NOFOLLOW, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _list(folder: str | int) -> list[FolderItem]:
    items: list[FolderItem] = []
    with os.scandir(folder) as listing:
        for entry in listing:
            # Nearly everything is a plain file or folder, and a scan asks about thousands.
            if entry.is_file(follow_symlinks=False):
                items.append(FolderItem(entry.name, "file", False))
            elif entry.is_dir(follow_symlinks=False):
                items.append(FolderItem(entry.name, "folder", False))
            else:
                items.append(_describe_special(entry))
    if len(items) > 1:
        items.sort(key=_by_name)
    return items


def _read_open(descriptor: int, status: os.stat_result, limit: int) -> Head:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"it is a {_name_kind(status.st_mode)}, not a regular file")
    size = status.st_size
    # No larger a buffer than needed; files of a limit of 10 MB have a few kilobytes.
    data = os.read(descriptor, min(limit, size + 1))
    wanted = min(limit, size)
    # A read may stop early, on a network disk for example.
    while len(data) < wanted:
        more = os.read(descriptor, limit - len(data))
        if not more:
            break
        data += more
    return Head(data, size, status.st_nlink, _stamp(status))


def _describe_special(found: os.DirEntry[str]) -> FolderItem:
    """An item that is neither a plain file nor a plain folder."""
    if not found.is_symlink():
        return FolderItem(found.name, "other", False)
    try:
        return FolderItem(found.name, _kind(found.stat().st_mode), True)
    except OSError:
        return FolderItem(found.name, "broken", True)


def _name_kind(mode: int) -> str:
    names = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    return names.get(stat.S_IFMT(mode), "device")
