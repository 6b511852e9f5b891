"""One writer at a time, across processes. A lock ends with its process, so none is left behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder

_PAUSE = 0.02


@contextmanager
def hold_lock(path: str, *, seconds: float = 5.0) -> Iterator[None]:
    """Hold the lock of a file during the block; it is an empty file next to it, which stays."""
    beside = f"{path}.lock"
    make_folder(os.path.dirname(path), mode=0o700)
    try:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise MachineError("lock", path, error.strerror or str(error)) from error
    try:
        deadline = time.monotonic() + seconds
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                cause = f"another program has kept it locked for {seconds:g} seconds"
                raise MachineError("lock", path, cause)
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
