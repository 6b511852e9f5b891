"""What the agent adds to pydantic-ai: time to the first token, CPU of a run, memory of a session.

    python benchmarks/agent.py [--turns 40] [--long 200] [--runs 9] [--only first-token|cpu|memory]

Everything is measured in one run, beside an agent of pydantic-ai alone that sends the same requests
byte for byte: instructions, definitions of tools, prompt and history. Both ask an OpenAI-compatible
server on loopback, a process of its own, which answers at once: the time is that of the libraries
only. The two take turns, and each is first as often as the other.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

ALLOWED_FIRST_TOKEN, ALLOWED_CPU = 1.1, 150
LATER_TURNS = 3
MODEL = "openai-chat:gpt-4o"
PROMPT = "Which colour is the flag?"
PROMPT_FOR_CALL = "Read the file and say which colour the flag is."
ANSWER = "Blue, as the file says. "
# What `prowess run` imports that is not its own.
_IMPORTS = """
import click, msgspec, ryaml, sqlite3, tomllib
import pydantic_ai, pydantic_ai.models.openai
"""
_BARE_ONCE = f"""{_IMPORTS}
import asyncio, sys
from pydantic_ai import Agent

async def ask(agent, prompt, history):
    async with agent.iter(prompt, message_history=history) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        pass
        return run.all_messages()

asyncio.run(ask(Agent(sys.argv[1], instructions="Help."), sys.argv[2], None))
"""


def main() -> int:
    arguments = _parse_arguments()
    if arguments.serve:
        return _serve()
    with _start_server() as url, tempfile.TemporaryDirectory() as name:
        os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="k", HOME=name)
        project = Path(name) / "project"
        _write_project(project)
        os.chdir(project)
        parts: dict[str, Callable[[], None]] = {
            "first-token": lambda: _compare_first_tokens(arguments.turns),
            "cpu": lambda: _compare_cpu(arguments.runs),
            "memory": lambda: _compare_memory(arguments.long),
        }
        for name, compare in parts.items():
            if arguments.only in (None, name):
                compare()
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--long", type=int, default=200)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", choices=("first-token", "cpu", "memory"))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# The server


def _serve() -> int:
    answer = _join({"role": "assistant", "content": ANSWER}, finish_reason="stop")
    call = {
        "index": 0,
        "id": "call-1",
        "type": "function",
        "function": {"name": "Read", "arguments": json.dumps({"file_path": "AGENTS.md"})},
    }
    calling = _join({"role": "assistant", "tool_calls": [call]}, finish_reason="tool_calls")

    # What was asked for, each once: the two sides must send the same.
    requests: set[bytes] = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send("text/plain", str(len(requests)).encode())

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            requests.add(data)
            request = json.loads(data)
            last = request["messages"][-1]
            is_asked = last["role"] == "user" and last["content"] == PROMPT_FOR_CALL
            self._send("text/event-stream", calling if is_asked else answer)

        def _send(self, type: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # Otherwise the kernel waits for an acknowledgement between the head and the body.
    server.RequestHandlerClass.disable_nagle_algorithm = True  # type: ignore[attr-defined]
    print(server.server_address[1], flush=True)
    server.serve_forever()
    return 0


def _join(delta: dict[str, Any], *, finish_reason: str) -> bytes:
    """An answer as a stream."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 8, "total_tokens": 1008}
    last = json.dumps({**_base(), "choices": [], "usage": usage})
    pieces = (_chunk(delta), _chunk({}, finish_reason=finish_reason), f"data: {last}\n\n")
    return "".join((*pieces, "data: [DONE]\n\n")).encode()


def _base() -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}


def _chunk(delta: dict[str, Any], **choice: Any) -> str:
    choices = [{"index": 0, "delta": delta, "finish_reason": None, **choice}]
    return f"data: {json.dumps({**_base(), 'choices': choices})}\n\n"


@contextlib.contextmanager
def _start_server() -> Iterator[str]:
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _write_project(project: Path) -> None:
    """A project with a few skills and a file that says how to work."""
    for number in range(12):
        skill = project / ".agents" / "skills" / f"skill-{number:02d}"
        skill.mkdir(parents=True)
        text = (
            f"---\nname: skill-{number:02d}\ndescription: Works on tables of kind {number}.\n---\n"
        )
        (skill / "SKILL.md").write_text(text + "Read the table, then do the work.\n" * 40)
    (project / "AGENTS.md").write_text("Heights are in metres.\n" * 20)
    subprocess.run(["git", "init", "-q", str(project)], check=True)


# Time to the first token


class Times(NamedTuple):
    """Wall-clock and CPU seconds until the first token."""

    wall: float
    cpu: float


class Clock:
    """Measures from when it is made until `stop` is first called."""

    def __init__(self) -> None:
        self.times: Times | None = None
        self._began = (time.perf_counter(), time.process_time())

    def stop(self) -> None:
        if self.times is None:
            wall, cpu = self._began
            self.times = Times(time.perf_counter() - wall, time.process_time() - cpu)


def _compare_first_tokens(turns: int) -> None:
    measured = asyncio.run(_time_first_tokens(turns))
    _check_requests(1 + LATER_TURNS)
    print(f"time to the first token, median of {turns} sessions, milliseconds")
    for label, bare, own in (
        ("first turn of a session", "bare", "own"),
        ("later turns", "bare later", "own later"),
    ):
        for unit in ("wall", "cpu"):
            _print_ratio(f"{label}, {unit}", unit, measured[bare], measured[own])


def _check_requests(most: int) -> None:
    """Make sure that both sides sent the same, byte for byte: one request for each turn."""
    from urllib.request import urlopen

    with urlopen(os.environ["OPENAI_BASE_URL"]) as answer:
        sent = int(answer.read())
    if sent != most:
        raise SystemExit(f"{sent} different requests were sent, not {most}: nothing is compared.")


def _print_ratio(label: str, unit: str, bare: list[Times], own: list[Times]) -> None:
    # The first of each loads what is loaded once.
    before, after = (
        statistics.median(getattr(one, unit) for one in times[1:]) * 1_000 for times in (bare, own)
    )
    ratio = after / before
    verdict = "" if ratio <= ALLOWED_FIRST_TOKEN else f"  (allowed: {ALLOWED_FIRST_TOKEN})"
    print(f"  {label:29} pydantic-ai {before:6.1f}   prowess {after:6.1f}   {ratio:.2f}×{verdict}")


async def _time_first_tokens(turns: int) -> dict[str, list[Times]]:
    from prowess.agent import Session
    from prowess.runtime import Skills

    skills = Skills.open(".")
    request = await _find_request(skills)
    times: dict[str, list[Times]] = {"bare": [], "own": [], "bare later": [], "own later": []}
    for number in range(turns):
        own, bare = OwnSide(Session, skills), BareSide(request)
        sides: list[tuple[str, OwnSide | BareSide]] = [("bare", bare), ("own", own)]
        for turn in range(1 + LATER_TURNS):
            # Each is first as often as the other.
            for name, side in sides if (number + turn) % 2 else reversed(sides):
                key = name if turn == 0 else f"{name} later"
                times[key].append(await side.time_turn())
        await own.close()
    return times


class Request(NamedTuple):
    """What both sides send besides the prompt: instructions, and tools with some of their own."""

    instructions: str
    toolset: Any


class BareSide:
    """An agent of pydantic-ai alone. Both sides begin with nothing but the name of the model."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._agent: Any = None
        self._history: Any = None

    async def time_turn(self) -> Times:
        from pydantic_ai import Agent, DeferredToolRequests

        clock = Clock()
        if self._agent is None:
            instructions, toolset = self._request
            # Made once, because a type for the output that is given to a run is read in each.
            output = [str, DeferredToolRequests]
            self._agent = Agent(
                MODEL, instructions=instructions, toolsets=[toolset], output_type=output
            )
        run: Any
        stream: Any
        async with self._agent.iter(PROMPT, message_history=self._history) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for _ in stream:
                            clock.stop()
            self._history = run.all_messages()
        assert clock.times is not None
        return clock.times


class OwnSide:
    """A session."""

    def __init__(self, open_session: Any, skills: Any) -> None:
        self._open = open_session
        self._skills = skills
        self._session: Any = None

    async def time_turn(self) -> Times:
        from prowess.agent.events import TextDelta

        clock = Clock()
        if self._session is None:
            self._session = self._open(self._skills, model=MODEL)
        async for event in self._session.send(PROMPT):
            if isinstance(event, TextDelta):
                clock.stop()
        assert clock.times is not None
        return clock.times

    async def close(self) -> None:
        await self._session.aclose()


async def _find_request(skills: Any) -> Request:
    """What the agent sends: its instructions, and its tools with the list of skills."""
    from pydantic_ai.messages import InstructionPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.toolsets import ExternalToolset

    from prowess.adapters.skill_offer import SkillOffer
    from prowess.agent import Session

    seen: list[AgentInfo] = []

    async def answer(messages: Any, info: AgentInfo) -> Any:
        seen.append(info)
        yield "Blue."

    with Session(skills, model=FunctionModel(stream_function=answer), keep=False) as session:
        async for _ in session.send(PROMPT):
            pass
        listing = SkillOffer(session.conversation).render_instructions(session.conversation)
    parts = seen[0].model_request_parameters.instruction_parts
    assert parts
    instructions = parts[0]

    class ListedTools(ExternalToolset[Any]):
        """Tools that only have definitions, and instructions of their own, which may change."""

        async def get_instructions(self, ctx: Any) -> InstructionPart:
            return InstructionPart(content=listing, dynamic=True, on_change="append")

    return Request(instructions.content, ListedTools(list(seen[0].function_tools), id="skills"))


# CPU of a run


def _compare_cpu(runs: int) -> None:
    """CPU of `prowess run` beside a program that imports the libraries and asks the same."""
    python, script = sys.executable, str(Path(sys.executable).parent / "prowess")
    commands = {
        "import of the libraries": [python, "-c", _IMPORTS],
        "pydantic-ai": [python, "-c", _BARE_ONCE, MODEL, PROMPT],
        "prowess run": [script, "run", PROMPT, "--model", MODEL],
    }
    # As with installed packages, what was compiled once is read: some machines forbid to write it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(Path.home() / "compiled")
    measured: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            measured[name].append(_measure_cpu(command, env))
    # The first run compiles.
    medians = {name: statistics.median(times[1:]) * 1_000 for name, times in measured.items()}
    added = medians["prowess run"] - medians["pydantic-ai"]
    verdict = "" if added <= ALLOWED_CPU else f"  (allowed: {ALLOWED_CPU})"
    print(f"CPU of a run, median of {runs}, milliseconds")
    for name, median in medians.items():
        print(f"  {name:24} {median:6.0f}")
    print(f"  prowess adds             {added:6.0f}{verdict}")


def _measure_cpu(command: list[str], env: dict[str, str]) -> float:
    """User and system seconds of a program."""
    quiet = subprocess.DEVNULL
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Memory of a long session


class Memory(NamedTuple):
    """What is used at one moment in bytes, or what it grew by: all objects, and the messages."""

    traced: int
    history: int


def _compare_memory(turns: int) -> None:
    """Memory of a session with calls of tools, whose history grows, is compacted, or is cleared."""
    warm = turns // 4
    print(f"memory over {turns} turns, kilobytes a turn after the first {warm}")
    print(f"  {'':24} {'in all':>8} {'history':>8} {'other':>8}")
    for label, every, shorten in (
        ("history grows", 0, _keep),
        ("compacted, 10th turn", 10, _compact),
        ("cleared, 10th turn", 10, _clear),
    ):
        grown = asyncio.run(_measure_growth(turns, warm, every, shorten))
        figures = (grown.traced, grown.history, grown.traced - grown.history)
        each = (one / (turns - warm) / 1_024 for one in figures)
        print(f"  {label:24} {' '.join(f'{one:8.2f}' for one in each)}")
    resident = asyncio.run(_measure_resident(turns, warm)) / (turns - warm) / 1_024
    print(f"  {'the process, cleared':24} {resident:8.2f}")


async def _keep(session: Any) -> None:
    """Leave the history as it is."""


async def _compact(session: Any) -> None:
    async for _ in session.compact():
        pass


async def _clear(session: Any) -> None:
    session.clear()


async def _measure_growth(turns: int, warm: int, every: int, shorten: Any) -> Memory:
    import tracemalloc

    from prowess.agent import Session
    from prowess.runtime import Skills

    tracemalloc.start()
    try:
        async with Session(Skills.open("."), model=MODEL) as session:
            await _run_turns(session, warm, every, shorten)
            before = _measure_memory(session)
            await _run_turns(session, turns - warm, every, shorten)
            after = _measure_memory(session)
    finally:
        tracemalloc.stop()
    return Memory(after.traced - before.traced, after.history - before.history)


async def _measure_resident(turns: int, warm: int) -> int:
    """What the process grew by, with nothing that measures in it."""
    from prowess.agent import Session
    from prowess.runtime import Skills

    async with Session(Skills.open("."), model=MODEL) as session:
        await _run_turns(session, warm, 10, _clear)
        before = _find_resident()
        await _run_turns(session, turns - warm, 10, _clear)
        return _find_resident() - before


async def _run_turns(session: Any, turns: int, every: int, shorten: Any) -> None:
    """Turns of two requests and a call of a tool each; it ends where the history was shortened."""
    for number in range(1, turns + 1):
        async for _ in session.send(PROMPT_FOR_CALL):
            pass
        if every and (number % every == 0 or number == turns):
            await shorten(session)


def _measure_memory(session: Any) -> Memory:
    import gc
    import tracemalloc

    gc.collect()
    return Memory(tracemalloc.get_traced_memory()[0], _measure_objects(session.messages))


def _measure_objects(*roots: Any) -> int:
    """The size of objects and of all that they refer to, each once."""
    import gc
    import types

    seen: dict[int, Any] = {}
    left = list(roots)
    while left:
        one = left.pop()
        # What belongs to a program and not to its data.
        if id(one) in seen or isinstance(one, type | types.ModuleType | types.FunctionType):
            continue
        seen[id(one)] = one
        left += gc.get_referents(one)
    return sum(sys.getsizeof(one) for one in seen.values())


def _find_resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    raise SystemExit(main())
