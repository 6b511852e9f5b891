"""Connections to MCP servers, in a thread with an event loop of its own.

Whoever asks may be synchronous or in any event loop. A server is started when it is first asked for
something, and ends with `close`. Of a server that fails, every request raises `McpServerError`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import importlib.util
import logging
import os
import threading
import time
import weakref
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from prowess.errors import MissingExtra
from prowess.errors.mcp import McpServerError
from prowess.machine.interrupts import wait_for
from prowess.machine.mcp.program import ServerOutput, run_program
from prowess.machine.processes import pass_on
from prowess.model.facts import Facts
from prowess.model.mcp import McpServer
from prowess.text.masker import Masker
from prowess.text.mcp_servers import MissingVariables, expand_variables
from prowess.version import VERSION

if TYPE_CHECKING:
    from mcp import Client

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
        self._library = _ClientLibrary()
        self._at_exit = _make_exit(self)

    def request(self, server: McpServer, ask: Ask[T], *, seconds: float | None = None) -> T:
        """What a server answers, for synchronous code. Raises `McpServerError`."""
        return wait_for(self._submit(self._ask(server, ask, seconds)))

    def begin_request(self, server: McpServer, ask: Ask[T], *, seconds: float) -> Future[T]:
        """Ask a server, which is ended if it does not start and answer within one limit.

        The time begins now, and includes that for loading the `mcp` package. Wait for the result
        when all servers are asked, so that several slow ones take no longer than one.
        """
        return self._submit(self._ask_in_time(server, ask, time.monotonic() + seconds, seconds))

    @property
    def is_loaded(self) -> bool:
        """Whether the `mcp` package is loaded; before that nobody knows how a server is doing."""
        return self._library.is_loaded

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
        # What does not end in time is cancelled when its loop ends.
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
            # The next request starts it anew; of one that lives, only this request failed.
            is_gone = held.has_ended or _is_closed(error)
            if is_gone:
                await self._drop(held)
            raise McpServerError(server.name, held.explain(error)) from None

    async def _ask_in_time(
        self, server: McpServer, ask: Ask[T], deadline: float, seconds: float
    ) -> T:
        held = self._get(server)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._ask(server, ask, seconds)
        except TimeoutError:
            problem = self._explain_silence(held, seconds)
            await self._drop(held, at_once=True)
            raise McpServerError(server.name, problem) from None
        except McpServerError:
            # One that could not be started can be tried again later.
            if not held.is_connected:
                await self._drop(held)
            raise

    def _explain_silence(self, held: _Held, seconds: float) -> str:
        if not self.is_loaded:
            return f"was not asked: loading the MCP client took more than {seconds:g} seconds"
        step = "answer" if held.is_connected else "start"
        return f"did not {step} within {seconds:g} seconds"

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
            held = self._held[key] = _Held(server, self._facts, self._cwd, self._library)
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
    # `atexit` keeps what it calls; without this, every object would live until the end.
    reference = weakref.ref(connections)

    def close() -> None:
        found = reference()
        if found is not None:
            found.close()

    return close


class _ClientLibrary:
    """The `mcp` package, imported once in a thread of its own.

    That takes a second or more. The event loop goes on meanwhile: programs start, and limits hold.
    """

    def __init__(self) -> None:
        self._loaded: Future[None] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None and self._loaded.done()

    async def load(self) -> None:
        """Wait until it is imported. Raises what the import raises."""
        if self._loaded is None:
            self._loaded = Future()
            # One who stops waiting must not cancel it for the others.
            self._loaded.set_running_or_notify_cancel()
            # A daemon, because a program that has to end does not wait for an import.
            threading.Thread(target=self._import, args=(self._loaded,), daemon=True).start()
        await asyncio.wrap_future(self._loaded)

    @staticmethod
    def _import(loaded: Future[None]) -> None:
        try:
            import prowess.machine.mcp.http
            import prowess.machine.mcp.stdio  # noqa: F401
        except ModuleNotFoundError:
            loaded.set_exception(MissingExtra("mcp", "use MCP servers"))
        except Exception as error:
            # Raised again by each `load`; in this thread nobody would see it.
            loaded.set_exception(error)
        else:
            loaded.set_result(None)


class _Held:
    """One server: the task that starts it, keeps it and ends it.

    One task does all three, because the libraries below demand it.
    """

    def __init__(self, server: McpServer, facts: Facts, cwd: str, library: _ClientLibrary) -> None:
        self.server = server
        self._facts = facts
        self._cwd = cwd
        self._library = library
        self._masker = Masker()
        self._output = ServerOutput()
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
        if not self._client.done():
            # It is still starting, and waits for something else than `_stop`.
            self._task.cancel()
        await asyncio.wait([self._task])

    def explain(self, error: BaseException) -> str:
        """What went wrong, as the rest of a sentence, without secrets."""
        # A server that we ended for what it sent says nothing about that itself.
        problem = self._output.problem
        text = problem or _describe(error)
        last = self._output.last_line
        if last and not problem:
            text += f" (its last words: {last})"
        line = " ".join(self._masker.mask(text).split())
        if len(line) <= _MOST_PROBLEM:
            return line
        return f"{line[:_MOST_PROBLEM]}…"

    async def _hold(self) -> None:
        limit = self.server.seconds or CONNECT_SECONDS
        try:
            if importlib.util.find_spec("mcp") is None:
                raise MissingExtra("mcp", "use MCP servers")
            ready = expand_variables(self.server, self._facts.env)
            self._masker = Masker(_list_secrets(self.server, ready))
            async with contextlib.AsyncExitStack() as stack:
                # A program starts while the library is loaded, which takes as long as most need.
                process = await self._start_program(ready, stack)
                await self._library.load()
                client = self._make_client(ready, process)
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

    async def _start_program(
        self, ready: McpServer, stack: contextlib.AsyncExitStack
    ) -> Process | None:
        """The program of a server, which ends with the stack; None for one behind an address."""
        if ready.transport != "stdio":
            return None
        env = {**pass_on(self._facts.env), **ready.env}
        cwd = os.path.join(self._cwd, os.path.expanduser(ready.cwd or ""))
        return await stack.enter_async_context(run_program(ready, env, cwd, self._output))

    def _make_client(self, ready: McpServer, process: Process | None) -> Client:
        import mcp_types
        from mcp import Client
        from mcp.client import advertise

        from prowess.machine.mcp.http import open_http
        from prowess.machine.mcp.stdio import open_stdio

        # Warnings of the library about a server would otherwise appear in the terminal.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        output = self._output
        transport = open_http(ready, output) if process is None else open_stdio(process, output)
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
    secrets = {*ready.env.values(), *ready.headers.values()}
    secrets.update(new for old, new in zip(server.args, ready.args, strict=True) if old != new)
    # Also without the word before it: `Bearer KEY` may be shown as `KEY`.
    secrets.update(value.rpartition(" ")[2] for value in ready.headers.values())
    _, mark, query = ready.url.partition("?")
    if mark:
        secrets.add(query)
    login, at, _ = ready.url.partition("://")[2].partition("@")
    if at:
        secrets.update((login, login.rpartition(":")[2]))
    return secrets


def _describe(error: BaseException) -> str:
    leaf = _find_leaf(error)
    if isinstance(leaf, FileNotFoundError):
        return f"cannot be started: {leaf}"
    if isinstance(leaf, OSError) and leaf.strerror:
        return f"cannot be reached: {leaf.strerror}"
    is_cancelled = isinstance(leaf, asyncio.CancelledError)
    if is_cancelled or _is_closed(leaf):
        return "ended the connection"
    kind = type(leaf).__name__
    # By name: the package that has the class may not be loaded yet.
    if kind == "ValidationError":
        return "sent an answer that is not valid MCP"
    text = str(leaf)
    return f"failed: {text}" if text else f"failed ({kind})"


def _find_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_closed(error: BaseException) -> bool:
    """Whether an error says that the connection is gone."""
    leaf = _find_leaf(error)
    name = type(leaf).__name__
    # The classes of anyio, which is imported only with the `mcp` package.
    if name in ("ClosedResourceError", "BrokenResourceError", "EndOfStream"):
        return True
    # The package has no class of its own for it.
    return name == "MCPError" and "closed" in str(leaf).lower()
