"""Programs of our own that go on after the one that started them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from prowess.errors import MachineError


def start_detached(arguments: Sequence[str], *, env: Mapping[str, str], log: str) -> int:
    """Start `prowess` with these arguments in a session of its own, and return its process id.

    What it prints goes to the end of `log`. Raises `MachineError`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    try:
        output = os.open(log, flags, 0o600)
    except OSError as error:
        raise MachineError.caused_by("write", log, error) from error
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "prowess", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(env),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError.caused_by("start", sys.executable, error) from error
    finally:
        os.close(output)
    # Nobody waits for it; without this, Python would warn when the object is collected.
    child.returncode = 0
    return child.pid
