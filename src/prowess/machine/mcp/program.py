"""The program of a server: started with pipes, and ended with all that it started.

Nothing of the `mcp` package is imported here, so that programs start while that is loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping

from prowess.model.mcp import McpServer

MOST_BYTES = 24 << 20
"""The longest message of a server; a file of a skill may have 16 MiB, and base64 adds a third."""

_IS_POSIX = os.name == "posix"
_TAIL_BYTES = 2_000
# How long a server has to end by itself, and again after it was asked to.
_SECONDS_TO_END = 0.5
# What was killed ends in any case; a busy machine may need seconds until that is known.
_SECONDS_AFTER_KILL = 6.0
_PAUSE = 0.01


class ServerOutput:
    """The last that a server wrote to stderr, and why it was ended if it misbehaved."""

    def __init__(self) -> None:
        self.problem = ""
        self._tail = b""

    def add(self, data: bytes) -> None:
        """Take what the server wrote; only the end is kept."""
        self._tail = (self._tail + data)[-_TAIL_BYTES:]

    @property
    def last_line(self) -> str:
        """The last line, where people look for the reason."""
        lines = self._tail.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


@contextlib.asynccontextmanager
async def run_program(
    server: McpServer, env: Mapping[str, str], cwd: str, output: ServerOutput
) -> AsyncIterator[Process]:
    """Start a server, and end it and all that it started afterwards. Raises `OSError`."""
    program = shutil.which(server.command, path=env.get("PATH"))
    if program is None:
        raise FileNotFoundError(f"the program “{server.command}” cannot be found")
    process = await asyncio.create_subprocess_exec(
        program,
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=cwd,
        env=dict(env),
        limit=MOST_BYTES,
        start_new_session=_IS_POSIX,
    )
    # No await until here, or a cancellation in between would leave the program running.
    errors = asyncio.create_task(_read_errors(process, output))
    seconds = _SECONDS_TO_END
    try:
        yield process
    except BaseException:
        # One that did not even start in time gets no more of it.
        seconds = _PAUSE
        raise
    finally:
        await _finish(asyncio.create_task(_end(process, errors, seconds)))


async def _finish(task: asyncio.Task[None]) -> None:
    """Wait until a task ends, whoever cancels the wait; only then be cancelled."""
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # Remembered: a program must not survive because its owner was in a hurry.
            is_cancelled = True
    task.result()
    if is_cancelled:
        raise asyncio.CancelledError


async def _read_errors(process: Process, output: ServerOutput) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(65_536):
        output.add(data)


def kill(process: Process) -> None:
    """End a program and all that it started, at once."""
    _signal(process, hard=True)


async def _end(process: Process, errors: asyncio.Task[None], seconds: float) -> None:
    """Close the server's input, then ask its whole group to end, then kill it."""
    assert process.stdin is not None
    process.stdin.close()
    if not await _has_ended(process, seconds):
        _signal(process, hard=False)
        await _has_ended(process, seconds)
    # Also what the server started and left behind.
    _signal(process, hard=True)
    await _has_ended(process, _SECONDS_AFTER_KILL)
    errors.cancel()
    await asyncio.wait([errors])
    # A program that kept a pipe open would hold the transport, and warn when it is collected.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError):
            transport.close()


async def _has_ended(process: Process, seconds: float) -> bool:
    # Not `wait`, which also waits for the pipes.
    deadline = asyncio.get_running_loop().time() + seconds
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(_PAUSE)
    return process.returncode is not None


def _signal(process: Process, *, hard: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if _IS_POSIX:
            os.killpg(process.pid, signal.SIGKILL if hard else signal.SIGTERM)
        elif hard:
            process.kill()
        else:
            process.terminate()
