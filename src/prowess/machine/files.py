"""Real folders and files, read so that nothing on a disk can make the reader wait or fail in a
surprising way.
"""

from __future__ import annotations

import os
import stat
import sys
from operator import attrgetter

from prowess.ports import FolderItem, Head, Stamp

# A pipe or a device opened for reading must never block, and a terminal must not become ours.
_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_OPEN |= getattr(os, "O_BINARY", 0)

_by_name = attrgetter("name")

# Linux knows the path of what is open; asking for it takes a fifth of the time of following every
# link by hand.
_OPENED = "/proc/self/fd/"
_CAN_ASK = sys.platform == "linux" and os.path.isdir(_OPENED)


def _ask_system(path: str) -> str:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        found = os.readlink(f"{_OPENED}{descriptor}")
    finally:
        os.close(descriptor)
    # What was removed meanwhile, or has no path at all, is told with a remark.
    return (
        found
        if found.startswith("/") and not found.endswith(" (deleted)")
        else os.path.realpath(path, strict=True)
    )


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


class LocalFiles:
    """The `FileSystem` port over the disk."""

    def list_folder(self, path: str) -> list[FolderItem]:
        """What lies in a folder, sorted by name."""
        with os.scandir(path) as listing:
            items = [_describe(found) for found in listing]
        if len(items) > 1:
            items.sort(key=_by_name)
        return items

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file."""
        descriptor = os.open(path, _OPEN)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"it is not an ordinary file but a {_name_kind(status.st_mode)}")
            data = os.read(descriptor, min(limit, status.st_size + 1))
            while len(data) < limit and len(data) < status.st_size:
                more = os.read(descriptor, limit - len(data))
                if not more:
                    break
                data += more
        finally:
            os.close(descriptor)
        return Head(data, status.st_size, status.st_nlink, _stamp(status))

    def get_stamp(self, path: str) -> Stamp:
        """The stamp of what is there now."""
        return _stamp(os.stat(path))

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None where that cannot be told."""
        try:
            return _ask_system(path or ".") if _CAN_ASK else os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`, links followed; None where nothing is there."""
        try:
            return _kind(os.stat(path).st_mode)
        except (OSError, ValueError):
            return None

    def find_link(self, path: str) -> str | None:
        """What a symbolic link says, whether it leads anywhere or not; None where there is no link."""
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return None


def _describe(found: os.DirEntry[str]) -> FolderItem:
    if not found.is_symlink():
        if found.is_dir(follow_symlinks=False):
            return FolderItem(found.name, "folder", False)
        return FolderItem(
            found.name, "file" if found.is_file(follow_symlinks=False) else "other", False
        )
    try:
        return FolderItem(found.name, _kind(found.stat().st_mode), True)
    except OSError:
        return FolderItem(found.name, "broken", True)


def _name_kind(mode: int) -> str:
    names = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    return names.get(stat.S_IFMT(mode), "device")
