"""Files that only grow, a line at a time; a line is on the disk before anything else happens."""

from __future__ import annotations

import contextlib
import os
import threading
from errno import ENOENT

from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder

_UNIQUE_BYTES = 5


class AppendFile:
    """A private file of lines, open for appending by several threads."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: str) -> AppendFile:
        """A new, empty file; an old one of that name is replaced. Raises `MachineError`."""
        return cls._open(path, os.O_CREAT | os.O_TRUNC)

    @classmethod
    def open(cls, path: str) -> AppendFile:
        """A file that may exist, to go on at its end. Raises `MachineError`.

        Half a line that a killed writer left is removed.
        """
        # A file that is missing or cannot be read fails below, or is made there.
        with contextlib.suppress(MachineError):
            lines, is_cut = read_lines(path)
            if is_cut:
                os.truncate(path, sum(len(line) + 1 for line in lines))
        return cls._open(path, os.O_CREAT)

    @classmethod
    def _open(cls, path: str, flags: int) -> AppendFile:
        # O_APPEND: each write goes to the end, also where another process writes the same file.
        flags |= os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            make_folder(os.path.dirname(os.path.abspath(path)), mode=0o700)
            return cls(path, os.open(path, flags, 0o600))
        except OSError as error:
            raise MachineError.caused_by("write", path, error) from error

    def append(self, line: bytes, *, sync: bool = False) -> None:
        """Add a line, whole or not at all; with `sync` it survives a crash of the machine.

        Raises `MachineError`, for a full disk too.
        """
        data = line + b"\n"
        with self._lock:
            if self._descriptor is None:
                raise MachineError("write", self.path, "it is closed")
            try:
                size = os.fstat(self._descriptor).st_size
                self._write(data, size)
                if sync:
                    os.fsync(self._descriptor)
            except OSError as error:
                raise MachineError.caused_by("write", self.path, error) from error

    def _write(self, data: bytes, size: int) -> None:
        assert self._descriptor is not None
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            # Half a line would spoil the next one.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise

    def close(self) -> None:
        """Close it; closing twice does nothing."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


def read_lines(path: str) -> tuple[list[bytes], bool]:
    """The whole lines of a file, and whether half a line at its end was left out.

    Raises `MachineError`.
    """
    try:
        # A device may have no end.
        if not os.path.isfile(path):
            raise FileNotFoundError(ENOENT, "it is not a regular file")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise MachineError.caused_by("read", path, error) from error
    *lines, rest = data.split(b"\n")
    return lines, bool(rest)


def list_newest(folder: str, suffix: str) -> list[str]:
    """The names of files in a folder with a suffix, the one changed last first."""
    try:
        with os.scandir(folder) as listing:
            changed = {item.name: item.stat().st_mtime_ns for item in listing}
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MachineError.caused_by("read", folder, error) from error
    names = [name for name in changed if name.endswith(suffix)]
    return sorted(names, key=lambda name: (changed[name], name), reverse=True)


def unique_hex() -> str:
    """Random digits that tell names apart, also thousands that are made in the same second."""
    return os.urandom(_UNIQUE_BYTES).hex()
