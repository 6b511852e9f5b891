"""Transports to servers behind an address, with bounded answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from prowess.machine.mcp.program import MOST_BYTES, ServerOutput
from prowess.model.mcp import McpServer

_CONNECT_SECONDS = 10.0
# A server may hold a stream of events open without a word; the caller has its own limit.
_READ_SECONDS = 300.0


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of an answer, which ends with an error where it becomes too large."""

    def __init__(self, stream: Any, output: ServerOutput) -> None:
        self._stream = stream
        self._output = output

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MOST_BYTES:
                self._output.problem = f"sent an answer of more than {MOST_BYTES >> 20} MiB"
                raise httpx2.ReadError(self._output.problem)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """HTTP whose answers have a limit; streams of events have one for each event."""

    def __init__(self, output: ServerOutput) -> None:
        super().__init__()
        self._output = output

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            response.stream = _BoundedStream(response.stream, self._output)
        return response


@contextlib.asynccontextmanager
async def open_http(server: McpServer, output: ServerOutput) -> AsyncIterator[tuple[Any, Any]]:
    """Connect to a server at an address."""

    def make_client(
        headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=headers,
            timeout=timeout,
            auth=auth,
            transport=_BoundedTransport(output),
        )

    headers = dict(server.headers)
    if server.transport == "sse":
        async with sse_client(server.url, headers, httpx_client_factory=make_client) as streams:
            yield streams
        return
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with (
        make_client(headers, timeout) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams
