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
    # Not the file itself, which is replaced by a rename: two writers could each lock another one.
    # And never removed: whoever waits for it would then hold the lock of a file that is gone.
    beside = f"{path}.lock"
    make_folder(os.path.dirname(path), mode=0o700)
    try:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise MachineError.caused_by("lock", path, error) from error
    try:
        deadline = time.monotonic() + seconds
        # Tried again and again, because a lock that is waited for has no time limit.
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                cause = f"another program has kept it locked for {seconds:g} seconds"
                raise MachineError("lock", path, cause)
            time.sleep(_PAUSE)
        yield
    finally:
        # Closing gives the lock back.
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
