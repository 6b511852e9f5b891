"""Replace a folder by a copy of another one, whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator

from prowess.errors import MachineError

_MOST_FILES = 5_000
_MOST_BYTES = 1 << 28

# Two paths change places in one step: `renameat2` on Linux, `renamex_np` on macOS.
_AT_CWD = -100
_EXCHANGE = 2
_CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def replace_folder(source: str, target: str) -> None:
    """Put a copy of a folder in the place of another, which may be missing.

    The copy is made aside. Whatever fails, and whenever the program is killed, the old folder or
    the new one is there as a whole; `recover_folder` finishes what a killed program left. Raises
    `MachineError`, also for links and special files in the source.
    """
    aside = _name_aside(target, f"{os.getpid()}.tmp")
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        try:
            _copy(source, aside)
            swap_in(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise MachineError.caused_by("replace the folder", target, error) from error


def recover_folder(target: str) -> None:
    """Put an old folder back whose replacement was cut short. Raises `MachineError`."""
    old = _name_aside(target, "old")
    # With both there, the swap was done, and only the cleaning up was not.
    was_cut_short = os.path.isdir(old) and not os.path.lexists(target)
    if not was_cut_short:
        return
    try:
        os.rename(old, target)
    except OSError as error:
        raise MachineError.caused_by("restore the folder", target, error) from error


def _name_aside(target: str, suffix: str) -> str:
    # Folders that begin with a dot are not searched for skills.
    return os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{suffix}")


def swap_in(new: str, target: str) -> None:
    """Put a staged folder or link in the place of what is there, in one step where that works.

    What was there has the path `new` afterwards, and the caller removes it. Where the system cannot
    exchange two paths, a program that is killed in between leaves the old folder for
    `recover_folder`. Raises OSError.
    """
    if not os.path.lexists(target):
        os.rename(new, target)
        return
    if _exchange(new, target):
        return
    old = _name_aside(target, "old")
    shutil.rmtree(old, ignore_errors=True)
    os.rename(target, old)
    try:
        os.rename(new, target)
    except OSError:
        os.rename(old, target)
        raise
    os.rename(old, new)


def _exchange(one: str, other: str) -> bool:
    """Whether two paths have changed places; not where the system or the disk cannot do that."""
    call = _find_exchange()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    # The C library may have the call and the kernel or the disk (NFS, FAT) not.
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), other)


def _find_exchange() -> Callable[[bytes, bytes], int] | None:
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, _EXCHANGE))
    if not hasattr(library, "renameat2"):
        return None
    return lambda one, other: int(library.renameat2(_AT_CWD, one, _AT_CWD, other, _EXCHANGE))


def _copy(source: str, target: str) -> None:
    """Copy regular files. Anything else could lead out of the folder, or never end."""
    files = size = 0
    os.mkdir(target)
    for path, below, status in _walk(source):
        place = os.path.join(target, below)
        if stat.S_ISDIR(status.st_mode):
            os.mkdir(place)
            continue
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, f"{below} is a link or a special file")
        files, size = files + 1, size + status.st_size
        if files > _MOST_FILES or size > _MOST_BYTES:
            raise OSError(0, f"it has more than {_MOST_FILES:,} files or {_MOST_BYTES:,} bytes")
        shutil.copyfile(path, place, follow_symlinks=False)
        # Of the mode only whether it is a program: no set-user bit, and nothing for all to write.
        is_executable = bool(status.st_mode & 0o100)
        os.chmod(place, 0o755 if is_executable else 0o644)


def _walk(source: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Everything below a folder, each folder before what is in it."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(source, below)) as items:
            for item in sorted(items, key=lambda one: one.name):
                status = item.stat(follow_symlinks=False)
                path = os.path.join(below, item.name)
                yield item.path, path, status
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(path)
