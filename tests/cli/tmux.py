"""Somebody at a whole screen of 80×24: tmux on a socket of its own, keys in, what is shown out."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

_SECONDS = 180.0
# A screen that is drawn again may lack a text for a moment.
_LOOKS_TO_BE_GONE = 5
_ENDED = "The command has ended with"


class Tmux:
    """A command on a screen. Nothing is awaited but texts that are shown."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        # The path of a socket must be short.
        self._folder = tempfile.mkdtemp()
        # With `env`, because tmux sets TERM itself.
        variables = [f"{name}={value}" for name, value in env.items()]
        # Without what tells libraries that this is a test: people have none of it.
        hidden = ("-u", "CI", "-u", "PYTEST_VERSION")
        words = ("env", *hidden, *variables, sys.executable, "-m", "prowess", *arguments)
        size = ("-x", str(columns), "-y", str(rows))
        command = f"{shlex.join(words)}; echo {_ENDED} $?; exec cat"
        self._run("new-session", "-d", *size, "-c", cwd, "sh", "-c", command)

    def type(self, text: str, *keys: str) -> None:
        """Type text as it is, then press keys by their names."""
        if text:
            self._run("send-keys", "-l", "--", text)
        self.press(*keys)

    def press(self, *keys: str) -> None:
        """Press keys, such as `Enter` or `C-s`."""
        if keys:
            self._run("send-keys", *keys)

    def wait_for(self, *texts: str) -> str:
        """What is shown, once all these texts are."""
        return self._wait(lambda shown: all(text in shown for text in texts), str(texts))

    def wait_until_gone(self, text: str) -> str:
        """What is shown, once a text no longer is."""
        looks = 0

        def is_gone(shown: str) -> bool:
            nonlocal looks
            looks = 0 if text in shown else looks + 1
            return looks == _LOOKS_TO_BE_GONE

        return self._wait(is_gone, f"not {text}")

    def wait_for_end(self) -> int:
        """The exit code of the command."""
        shown = self.wait_for(_ENDED)
        return int(shown.split(_ENDED)[1].split()[0])

    def capture(self, *, colours: bool = False) -> str:
        """What is shown, without the blanks at the ends of lines."""
        return self._run("capture-pane", "-p", *(("-e",) if colours else ()))

    def capture_all(self) -> str:
        """What is shown and what has scrolled away."""
        return self._run("capture-pane", "-p", "-S", "-")

    def close(self) -> None:
        """End the command and the screen; closing twice does nothing."""
        if os.path.exists(self._folder):
            self._run("kill-server")
            # The server may take its socket away at the same time.
            shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, is_there: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + _SECONDS
        while not is_there(shown := self.capture()):
            assert time.monotonic() < deadline, f"{what} is never shown:\n{shown}"
            time.sleep(0.05)
        return shown

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", f"{self._folder}/s", "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout
