"""The messages of an editor as lines of JSON. A line that is no message is answered, not fatal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import acp

MOST_BYTES = 50 << 20
"""How long a line may be: an editor attaches whole files."""


class MessageLines:
    """Messages of JSON-RPC on two streams, one per line; what the `acp` package calls a transport.

    A line that cannot be read gets the answer that JSON-RPC has for it.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._lock:
            self._writer.write(line)
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while True:
            try:
                line = await self._reader.readline()
                if not line:
                    return None
                if not line.strip():
                    continue
                return _parse_message(line)
            except ValueError as error:
                # The stream has dropped a line that is longer than its limit.
                problem = acp.RequestError.parse_error({"details": str(error)})
                await self._refuse(problem, None)
            except _NoRequest as error:
                await self._refuse(acp.RequestError.invalid_request(), error.id)

    async def close(self) -> None:
        """Nothing is left to write."""

    async def _refuse(self, error: acp.RequestError, id: Any) -> None:
        await self.send({"jsonrpc": "2.0", "id": id, "error": error.to_error_obj()})


class _NoRequest(Exception):
    """JSON that is neither a request nor an answer."""

    def __init__(self, id: Any) -> None:
        self.id = id
        super().__init__("not a message")


def _parse_message(line: bytes) -> dict[str, Any]:
    """A message. Raises `ValueError` for what is no JSON, and `_NoRequest`."""
    try:
        message = json.loads(line)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(message, dict):
        raise _NoRequest(None)
    is_request = isinstance(message.get("method"), str)
    is_answer = "method" not in message and ("result" in message or "error" in message)
    id = message.get("id")
    if not is_request and not (is_answer and isinstance(id, int)):
        raise _NoRequest(id if isinstance(id, str | int) else None)
    return message
