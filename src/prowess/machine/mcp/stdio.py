"""A transport to a server that is a program: JSON lines over its pipes, bounded.

The transport of the `mcp` package joins the pieces of a line as they come, without a limit: one
endless line would take all memory. Here a server that sends too much is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from prowess.machine.mcp.program import MOST_BYTES, ServerOutput, kill

# Some servers print a banner or log lines; one that prints nothing else is none.
_MOST_BAD_LINES = 200


@contextlib.asynccontextmanager
async def open_stdio(process: Process, output: ServerOutput) -> AsyncIterator[tuple[Any, Any]]:
    """Talk to a program over its pipes."""
    to_session, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, written = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read_lines(process, to_session, output)),
        asyncio.create_task(_write_lines(process, written, to_session)),
    ]
    try:
        yield received, to_server
    finally:
        with anyio.CancelScope(shield=True):
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
                # The server closed its output, or has ended.
                return
            except asyncio.LimitOverrunError:
                output.problem = f"sent a message of more than {MOST_BYTES >> 20} MiB"
                kill(process)
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
