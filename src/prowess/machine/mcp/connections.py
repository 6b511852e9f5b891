"""Connections to MCP servers, in a thread with an event loop of its own.

Whoever asks may be synchronous or in any event loop. A server is started when it is first asked for
something, and ends with `close`. Of a server that fails, every request raises `McpServerError`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from prowess.errors import MissingExtra
from prowess.errors.mcp import McpServerError
from prowess.machine.processes import pass_on
from prowess.model.facts import Facts
from prowess.model.mcp import McpServer
from prowess.text.masking import Masker
from prowess.text.mcp_servers import MissingVariables, expand_variables
from prowess.version import VERSION

if TYPE_CHECKING:
    from mcp import Client

    from prowess.machine.mcp.stdio import ServerOutput

T = TypeVar("T")
Ask = Callable[["Client"], Awaitable[T]]

CONNECT_SECONDS = 10.0
"""How long a server has to start, unless its settings say otherwise."""
REQUEST_SECONDS = 60.0
"""How long a server has to answer, unless its settings or the caller say otherwise."""
SKILLS = "io.modelcontextprotocol/skills"
"""The extension of MCP for skills."""

_SECONDS_TO_CLOSE = 8.0
_MOST_PROBLEM = 300
# A server that dies again and again is not started for ever.
_MOST_STARTS = 5


class McpConnections:
    """The servers that one session or one scan talks to."""

    def __init__(self, facts: Facts, *, cwd: str) -> None:
        self._facts = facts
        self._cwd = cwd
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._held: dict[tuple[str, str], _Held] = {}
        self._starts: dict[tuple[str, str], int] = {}
        self._at_exit = _make_exit(self)

    def request(self, server: McpServer, ask: Ask[T], *, seconds: float | None = None) -> T:
        """What a server answers, for synchronous code. Raises `McpServerError`."""
        return self._submit(self._ask(server, ask, seconds)).result()

    def request_in_time(self, server: McpServer, ask: Ask[T], *, seconds: float) -> T:
        """What a server answers if it starts and answers within one limit; else it is ended."""
        return self._submit(self._ask_in_time(server, ask, seconds)).result()

    async def request_async(
        self, server: McpServer, ask: Ask[T], *, seconds: float | None = None
    ) -> T:
        """What a server answers, for any event loop; cancelling it cancels the request."""
        return await asyncio.wrap_future(self._submit(self._ask(server, ask, seconds)))

    def close(self) -> None:
        """End every server and the thread. Nothing is left running."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self._at_exit)
        ended = asyncio.run_coroutine_threadsafe(self._end(), loop)
        with contextlib.suppress(TimeoutError):
            ended.result(_SECONDS_TO_CLOSE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SECONDS_TO_CLOSE)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="prowess-mcp", daemon=True
                )
                self._thread.start()
                atexit.register(self._at_exit)
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _ask(self, server: McpServer, ask: Ask[T], seconds: float | None) -> T:
        limit = seconds or server.seconds or REQUEST_SECONDS
        held = self._get(server)
        client = await held.get_client()
        try:
            async with asyncio.timeout(limit):
                return await ask(client)
        except TimeoutError:
            raise McpServerError(server.name, f"did not answer within {limit:g} seconds") from None
        except McpServerError:
            raise
        except Exception as error:
            if held.has_ended or _is_closed(error):
                await self._drop(held)
            raise McpServerError(server.name, held.explain(error)) from None

    async def _ask_in_time(self, server: McpServer, ask: Ask[T], seconds: float) -> T:
        held = self._get(server)
        # Its first step imports the library, which takes a second that no server is to blame for.
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(server, ask, seconds)
        except TimeoutError:
            step = "answer" if held.is_connected else "start"
            await self._drop(held, at_once=True)
            problem = f"did not {step} within {seconds:g} seconds"
            raise McpServerError(server.name, problem) from None
        except McpServerError:
            # One that could not be started can be tried again later.
            if not held.is_connected:
                await self._drop(held)
            raise

    def _get(self, server: McpServer) -> _Held:
        if not server.is_trusted:
            problem = "belongs to a project that you do not trust; `prowess trust` trusts it"
            raise McpServerError(server.name, problem)
        if not server.enabled:
            raise McpServerError(server.name, "is turned off")
        key = (server.plugin, server.name)
        held = self._held.get(key)
        if held is None:
            self._starts[key] = self._starts.get(key, 0) + 1
            if self._starts[key] > _MOST_STARTS:
                raise McpServerError(server.name, f"ended {_MOST_STARTS} times")
            held = self._held[key] = _Held(server, self._facts, self._cwd)
        return held

    async def _drop(self, held: _Held, *, at_once: bool = False) -> None:
        key = (held.server.plugin, held.server.name)
        if self._held.get(key) is held:
            del self._held[key]
        await held.end(at_once=at_once)

    async def _end(self) -> None:
        await asyncio.gather(*(held.end() for held in self._held.values()))
        self._held.clear()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _make_exit(connections: McpConnections) -> Callable[[], None]:
    """What closes connections when the interpreter exits, if they still exist then."""
    reference = weakref.ref(connections)

    def close() -> None:
        found = reference()
        if found is not None:
            found.close()

    return close


class _Held:
    """One server: the task that starts it, keeps it and ends it.

    One task does all three, because the libraries below demand it.
    """

    def __init__(self, server: McpServer, facts: Facts, cwd: str) -> None:
        self.server = server
        self._facts = facts
        self._cwd = cwd
        self._masker = Masker()
        self._output: ServerOutput | None = None
        self._stop = asyncio.Event()
        self._ends_at_once = False
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold())

    @property
    def has_ended(self) -> bool:
        return self._task.done()

    @property
    def is_connected(self) -> bool:
        return self._client.done() and self._client.exception() is None

    async def get_client(self) -> Client:
        """The client once it is connected. Raises `McpServerError`, the same each time."""
        return await asyncio.shield(self._client)

    async def end(self, *, at_once: bool = False) -> None:
        """End the server and wait for that; `at_once` gives it no time to end by itself."""
        self._ends_at_once = at_once
        self._stop.set()
        await asyncio.wait([self._task])

    def explain(self, error: BaseException) -> str:
        """What went wrong, as the rest of a sentence, without secrets."""
        problem = self._output.problem if self._output is not None else ""
        text = problem or _describe(error)
        last = self._output.last_line if self._output is not None else ""
        if last and not problem:
            text += f" (its last words: {last})"
        line = " ".join(self._masker.mask(text).split())
        return line if len(line) <= _MOST_PROBLEM else f"{line[:_MOST_PROBLEM]}…"

    async def _hold(self) -> None:
        limit = self.server.seconds or CONNECT_SECONDS
        try:
            # Importing the library takes a second, which no server is to blame for.
            client = self._make_client()
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(limit):
                    await stack.enter_async_context(client)
                self._client.set_result(client)
                await self._stop.wait()
                if self._ends_at_once:
                    # A transport that is left by an exception does not wait for its program.
                    raise TimeoutError
        except TimeoutError:
            self._fail(f"did not start within {limit:g} seconds")
        except MissingVariables as missing:
            self._fail(f"cannot be used: {missing}")
        except MissingExtra as missing:
            self._fail_with(missing)
        except BaseException as error:
            # Libraries raise groups, and groups of cancellations, for a server that just ends.
            self._fail(self.explain(error))

    def _make_client(self) -> Client:
        ready = expand_variables(self.server, self._facts.env)
        self._masker = Masker(_list_secrets(self.server, ready))
        try:
            import mcp_types
            from mcp import Client
            from mcp.client import advertise

            from prowess.machine.mcp.http import open_http
            from prowess.machine.mcp.stdio import ServerOutput, open_stdio
        except ModuleNotFoundError as missing:
            raise MissingExtra("mcp", "use MCP servers") from missing
        # Warnings of the library about a server would otherwise appear in the terminal.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        self._output = ServerOutput()
        if ready.transport == "stdio":
            env = {**pass_on(self._facts.env), **ready.env}
            cwd = os.path.join(self._cwd, os.path.expanduser(ready.cwd or ""))
            transport = open_stdio(ready, env, cwd, self._output)
        else:
            transport = open_http(ready, self._output)
        return Client(
            transport,
            client_info=mcp_types.Implementation(name="prowess", version=VERSION),
            extensions=[advertise(SKILLS, {})],
            # Every read is checked anew, so nothing may be served from memory.
            cache=None,
        )

    def _fail(self, problem: str) -> None:
        self._fail_with(McpServerError(self.server.name, problem))

    def _fail_with(self, error: Exception) -> None:
        if not self._client.done():
            self._client.set_exception(error)
            # Read once, or asyncio would report an error that nobody waits for.
            self._client.exception()


def _list_secrets(server: McpServer, ready: McpServer) -> set[str]:
    """The values that no message may show: what variables brought, and all of env and headers."""
    found = {*ready.env.values(), *ready.headers.values()}
    found.update(new for old, new in zip(server.args, ready.args, strict=True) if old != new)
    for value in ready.headers.values():
        found.add(value.rpartition(" ")[2])
    _, query, secret = ready.url.partition("?")
    if query:
        found.add(secret)
    user, at, _ = ready.url.partition("://")[2].partition("@")
    if at:
        found.update((user, user.rpartition(":")[2]))
    return found


def _describe(error: BaseException) -> str:
    leaf = _find_leaf(error)
    if isinstance(leaf, FileNotFoundError):
        return f"cannot be started: {leaf}"
    if isinstance(leaf, OSError) and leaf.strerror:
        return f"cannot be reached: {leaf.strerror}"
    if _is_closed(leaf) or isinstance(leaf, asyncio.CancelledError):
        return "ended the connection"
    if type(leaf).__name__ == "ValidationError":
        return "sent an answer that is not valid MCP"
    text = str(leaf)
    return f"failed: {text}" if text else f"failed ({type(leaf).__name__})"


def _find_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_closed(error: BaseException) -> bool:
    """Whether an error says that the connection is gone."""
    leaf = _find_leaf(error)
    name = type(leaf).__name__
    if name in ("ClosedResourceError", "BrokenResourceError", "EndOfStream"):
        return True
    return name == "MCPError" and "closed" in str(leaf).lower()
