"""A transport to a server that is a program: JSON lines over its pipes, bounded.

The transport of the `mcp` package joins the pieces of a line as they come, without a limit: one
endless line would take all memory. Here a server that sends too much is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from prowess.model.mcp import McpServer

MOST_BYTES = 24 << 20
"""The longest message of a server; a file of a skill may have 16 MiB, and base64 adds a third."""

_IS_POSIX = os.name == "posix"
# Some servers print a banner or log lines; one that prints nothing else is none.
_MOST_BAD_LINES = 200
_TAIL_BYTES = 2_000
# How long a server has to end by itself, and again after it was asked to.
_SECONDS_TO_END = 0.5
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
async def open_stdio(
    server: McpServer, env: Mapping[str, str], cwd: str, output: ServerOutput
) -> AsyncIterator[tuple[Any, Any]]:
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
    # No await until the tasks exist, or a cancellation in between would leave the program running.
    to_session, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, written = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read_lines(process, to_session, output)),
        asyncio.create_task(_write_lines(process, written, to_session)),
        asyncio.create_task(_read_errors(process, output)),
    ]
    seconds = _SECONDS_TO_END
    try:
        yield received, to_server
    except BaseException:
        # One that did not even start in time gets no more of it.
        seconds = _PAUSE
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, seconds)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (to_session, received, to_server, written):
                await stream.aclose()


async def _read_lines(process: Process, to_session: Any, output: ServerOutput) -> None:
    """Hand on the messages of a server. The session ends with the stream."""
    assert process.stdout is not None
    bad = 0
    async with to_session:
        while True:
            try:
                line = await process.stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                output.problem = f"sent a message of more than {MOST_BYTES >> 20} MiB"
                _signal(process, hard=True)
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                bad += 1
                if bad > _MOST_BAD_LINES:
                    output.problem = "sent text that is not MCP"
                    return
                continue
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await to_session.send(SessionMessage(message))


async def _write_lines(process: Process, written: Any, to_session: Any) -> None:
    assert process.stdin is not None
    try:
        async with written:
            async for message in written:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        # A server that reads nothing any more answers nothing either.
        await to_session.aclose()


async def _read_errors(process: Process, output: ServerOutput) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(65_536):
        output.add(data)


async def _end(process: Process, seconds: float) -> None:
    """Close the server's input, then ask its whole group to end, then kill it."""
    assert process.stdin is not None
    process.stdin.close()
    if not await _has_ended(process, seconds):
        _signal(process, hard=False)
        await _has_ended(process, seconds)
    # Also what the server started and left behind.
    _signal(process, hard=True)
    await _has_ended(process, _SECONDS_TO_END)
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
