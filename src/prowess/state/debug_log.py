"""The debug log: what Prowess does, written down for its user alone while that is on."""

from __future__ import annotations

import logging
import os
import stat
from logging.handlers import RotatingFileHandler

from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder
from prowess.model.facts import Facts
from prowess.state.folders import state_folder

_MOST_BYTES = 5_000_000
_FORMAT = "%(asctime)s %(process)d %(name)s %(message)s"


class _PrivateHandler(RotatingFileHandler):
    """Writes to a file that only its owner can read, and begins a new one when it is full."""

    def _open(self) -> object:  # type: ignore[override]
        def open_private(path: str, flags: int) -> int:
            descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
            # A file that is there already keeps its mode, whatever was asked for.
            os.fchmod(descriptor, stat.S_IRUSR | stat.S_IWUSR)
            return descriptor

        return open(
            self.baseFilename, self.mode, encoding="utf-8", errors="replace", opener=open_private
        )


def debug_log_path(facts: Facts) -> str:
    """Where the debug log is."""
    return os.path.join(state_folder(facts), "debug.log")


def start_debug_log(facts: Facts) -> str:
    """Write down from now on what this process does; the path. Raises `MachineError`."""
    path = debug_log_path(facts)
    logger = logging.getLogger("prowess")
    if any(isinstance(one, _PrivateHandler) for one in logger.handlers):
        return path
    make_folder(os.path.dirname(path), mode=0o700)
    try:
        handler = _PrivateHandler(path, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8")
    except OSError as error:
        raise MachineError.caused_by("write", path, error) from error
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    # What is written down here is not also to appear on the screen.
    logger.propagate = False
    return path


def stop_debug_log() -> None:
    """Write nothing down any more."""
    logger = logging.getLogger("prowess")
    for handler in list(logger.handlers):
        if isinstance(handler, _PrivateHandler):
            logger.removeHandler(handler)
            handler.close()
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


class LogFollower:
    """Reads what is added to a file, as `tail -f` does; from its end on at first."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._at = self._get_size()

    def read_new(self, most: int) -> str:
        """What was added since the last time, at most so many bytes."""
        size = self._get_size()
        if size < self._at:
            # A new file was begun.
            self._at = 0
        try:
            with open(self._path, "rb") as file:
                file.seek(self._at)
                data = file.read(most)
        except OSError:
            # The log is off, or just being replaced; the next call tries again.
            return ""
        self._at += len(data)
        return data.decode("utf-8", "replace")

    def _get_size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except OSError:
            return 0
