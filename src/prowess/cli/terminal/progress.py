"""A line that shows the progress of slow work; quick work shows nothing."""

from __future__ import annotations

import os
import sys
import threading
import time

_QUIET_SECONDS = 0.5
_EVERY_SECONDS = 0.1


class Progress:
    """Writes a line to the terminal once the work takes half a second, and removes it at the end.

    A thread of its own writes it, so that it also appears during one long step without reports. A
    `quiet` one writes nothing, for work that is shown otherwise.
    """

    def __init__(self, doing: str = "looking for skills", *, quiet: bool = False) -> None:
        self._doing = doing
        self._part = ""
        self._done = 0
        self._finished = threading.Event()
        self._thread: threading.Thread | None = None
        # A dumb terminal, such as that of an editor, cannot remove a line again.
        can_redraw = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        if can_redraw and not quiet:
            self._thread = threading.Thread(target=self._write_line, daemon=True)
            self._thread.start()

    def begin(self, part: str) -> None:
        """Begin the next part of the work; its name comes first on the line."""
        self._part, self._done = f"{part}: ", 0

    def progress(self, doing: str, done: int) -> None:
        """`done` units of the work are finished."""
        self._doing, self._done = doing, done

    def finish(self) -> None:
        """Remove the line."""
        self._finished.set()
        # Waited for, because the thread removes the line, and output may follow at once.
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.finish()

    def _write_line(self) -> None:
        if self._finished.wait(_QUIET_SECONDS):
            return
        # Not before the work is slow: quick commands need nothing of it.
        from rich.cells import set_cell_size
        from rich.console import Console

        screen = Console(stderr=True)
        started = time.monotonic()
        while not self._finished.wait(_EVERY_SECONDS):
            line = self._render_line(time.monotonic() - started + _QUIET_SECONDS)
            # Only one row can be removed again, and a full one may begin another.
            line = set_cell_size(line, screen.width - 1).rstrip()
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    def _render_line(self, seconds: float) -> str:
        counted = f" {self._done:,}" if self._done else ""
        return f"{self._part}{self._doing} …{counted} ({seconds:.0f} s)"
