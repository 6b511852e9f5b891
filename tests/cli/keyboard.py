"""Somebody at a real terminal: reads what a command shows, types, presses keys."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time

INTERRUPT = "\x03"
END = "\x04"
# Only what never comes takes so long; a busy machine may need a few seconds to start a program.
_SECONDS = 120.0
_PROGRESS = re.compile(r"\r\x1b\[K(?:[^\r\n]* …[^\r\n]*? \(\d+ s\))?")
# The first terminal that the leader of a session opens is its own, so that Ctrl-C reaches it as a
# signal.
_ON_TERMINAL = 'exec "$@" <"$0" 2>"$0"'
_ALL_ON_TERMINAL = f'{_ON_TERMINAL} >"$0"'


class Keyboard:
    """`prowess` on a terminal of its own. What is typed is echoed, as terminals do."""

    def __init__(self, *arguments: str, columns: int = 80, piped: bool = False) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [
                *("/bin/sh", "-c", _ON_TERMINAL if piped else _ALL_ON_TERMINAL, os.ttyname(theirs)),
                *(sys.executable, "-m", "prowess", *arguments),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", "NO_COLOR": "1"},
            start_new_session=True,
        )
        # Held open until the end: the child opens its terminal by name, and what it wrote last must
        # not be lost.
        self._theirs = theirs
        self.shown = ""
        self._seen = 0

    def type(self, keys: str, *, after: str) -> None:
        """Type once a text is shown."""
        self.wait_for(after)
        os.write(self._ours, keys.encode())

    def signal(self, number: int) -> None:
        """Send the command a signal."""
        self._process.send_signal(number)

    def wait_for(self, text: str) -> None:
        """Read on until a text is shown behind what was waited for before."""
        deadline = time.monotonic() + _SECONDS
        while (place := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, f"“{text}” is never shown:\n{self.shown}"
            self._read(0.1)
        self._seen = place + len(text)

    @property
    def text(self) -> str:
        """What is shown, without the line of progress that comes and goes on a slow machine."""
        return _PROGRESS.sub("", self.shown)

    def end(self) -> tuple[int, str]:
        """The exit code and what went to the output, where that was piped."""
        output = self._process.stdout
        assert output is not None
        out, is_open = b"", True
        deadline = time.monotonic() + _SECONDS
        while is_open or self._process.poll() is None:
            assert time.monotonic() < deadline, f"It never ends:\n{self.shown}"
            self._read(0.05)
            if is_open and select.select([output], [], [], 0)[0]:
                out += (chunk := os.read(output.fileno(), 65_536))
                is_open = bool(chunk)
        while self._read(0.05):
            pass
        output.close()
        os.close(self._ours)
        os.close(self._theirs)
        return self._process.returncode, out.decode()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if not ready:
            return False
        self.shown += os.read(self._ours, 65_536).decode().replace("\r\n", "\n")
        return True
