"""What the agent adds to pydantic-ai: time to the first token, CPU of a run, memory of a session.

    python benchmarks/agent.py [--turns 40] [--long 200] [--runs 5]

Everything is measured in one run, beside an agent of pydantic-ai alone that has the same
instructions, tools and prompt. Both ask an OpenAI-compatible server on loopback, a process of its
own, which answers at once: the time is that of the libraries only.
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
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ALLOWED_FIRST_TOKEN, ALLOWED_CPU = 1.1, 0.150
MODEL = "openai-chat:gpt-4o"
PROMPT = "Which colour is the flag?"
ANSWER = "Blue, as the file says. "
_BARE = """
import asyncio
from pydantic_ai import Agent

async def ask(agent, prompt, history):
    async with agent.iter(prompt, message_history=history) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        pass
        return run.all_messages()
"""
_BARE_ONCE = f"""{_BARE}
import sys
asyncio.run(ask(Agent(sys.argv[1], instructions="Help."), sys.argv[2], None))
"""
_IMPORT_ONLY = "import pydantic_ai, pydantic_ai.models.openai"


def main() -> int:
    arguments = _parse_arguments()
    if arguments.serve:
        return _serve()
    with _start_server() as url, tempfile.TemporaryDirectory() as name:
        os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="k", HOME=name)
        project = Path(name) / "project"
        _write_project(project)
        os.chdir(project)
        _compare_first_tokens(arguments.turns)
        _compare_cpu(arguments.runs)
        _compare_memory(arguments.long)
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--long", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# The server


def _serve() -> int:
    pieces = [_chunk({"role": "assistant", "content": ANSWER}), _chunk({}, finish_reason="stop")]
    usage = {"prompt_tokens": 1000, "completion_tokens": 8, "total_tokens": 1008}
    last = json.dumps({**_base(), "choices": [], "usage": usage})
    body = "".join((*pieces, f"data: {last}\n\n", "data: [DONE]\n\n")).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
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


def _compare_first_tokens(turns: int) -> None:
    bare_first, own_first, bare_later, own_later = asyncio.run(_time_first_tokens(turns))
    print(f"time to the first token, median of {turns}, milliseconds")
    for label, bare, own in (
        ("first turn of a session", bare_first, own_first),
        ("later turns", bare_later, own_later),
    ):
        ratio = own / bare
        verdict = "" if ratio <= ALLOWED_FIRST_TOKEN else f"  (allowed: {ALLOWED_FIRST_TOKEN})"
        print(f"  {label:24} pydantic-ai {bare:6.1f}   prowess {own:6.1f}   {ratio:.2f}×{verdict}")


async def _time_first_tokens(turns: int) -> tuple[float, float, float, float]:
    from prowess.agent import Session
    from prowess.runtime import Skills

    skills = Skills.open(".")
    instructions, toolset = await _find_request(skills)
    times: dict[str, list[float]] = {"bare": [], "own": [], "bare later": [], "own later": []}
    for _ in range(turns):
        # Both begin with nothing but the name of the model.
        began = time.perf_counter()
        agent = _build_bare(instructions, toolset)
        seconds, history = await _time_bare(agent, None, began)
        times["bare"].append(seconds)
        began = time.perf_counter()
        async with Session(skills, model=MODEL) as session:
            times["own"].append(await _time_session(session, began))
            for _ in range(3):
                began = time.perf_counter()
                seconds, history = await _time_bare(agent, history, began)
                times["bare later"].append(seconds)
                began = time.perf_counter()
                times["own later"].append(await _time_session(session, began))
    # The first pair loads what is loaded once.
    medians = [statistics.median(one[1:]) * 1_000 for one in times.values()]
    return medians[0], medians[1], medians[2], medians[3]


async def _find_request(skills: Any) -> tuple[str, list[Any]]:
    """What the agent sends: its instructions and the definitions of its tools."""
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from prowess.agent import Session

    seen: list[AgentInfo] = []

    async def answer(messages: Any, info: AgentInfo) -> Any:
        seen.append(info)
        yield "Blue."

    with Session(skills, model=FunctionModel(stream_function=answer), keep=False) as session:
        async for _ in session.send(PROMPT):
            pass
    return seen[0].instructions or "", list(seen[0].function_tools)


def _build_bare(instructions: str, tools: list[Any]) -> Any:
    from pydantic_ai import Agent
    from pydantic_ai.toolsets import ExternalToolset

    return Agent(MODEL, instructions=instructions, toolsets=[ExternalToolset(tools)])


async def _time_bare(agent: Any, history: Any, began: float) -> tuple[float, Any]:
    from pydantic_ai import Agent, DeferredToolRequests

    first: float | None = None
    run: Any
    stream: Any
    async with agent.iter(
        PROMPT, message_history=history, output_type=[str, DeferredToolRequests]
    ) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for _ in stream:
                        first = first or time.perf_counter() - began
        assert first is not None
        return first, run.all_messages()


async def _time_session(session: Any, began: float) -> float:
    from prowess.agent.events import TextDelta

    first: float | None = None
    async for event in session.send(PROMPT):
        if first is None and isinstance(event, TextDelta):
            first = time.perf_counter() - began
    assert first is not None
    return first


# CPU of a run


def _compare_cpu(runs: int) -> None:
    """CPU of `prowess run` beside a program that asks pydantic-ai the same."""
    script = str(Path(sys.executable).parent / "prowess")
    bare = min(_measure_cpu([sys.executable, "-c", _BARE_ONCE, MODEL, PROMPT]) for _ in range(runs))
    own = min(_measure_cpu([script, "run", PROMPT, "--model", MODEL]) for _ in range(runs))
    imports = min(_measure_cpu([sys.executable, "-c", _IMPORT_ONLY]) for _ in range(runs))
    added = own - bare
    verdict = "" if added <= ALLOWED_CPU else f"  (allowed: {ALLOWED_CPU * 1_000:.0f} ms)"
    print(f"CPU of a run, best of {runs}, milliseconds")
    print(f"  import of the libraries {imports * 1_000:6.0f}")
    print(f"  pydantic-ai             {bare * 1_000:6.0f}")
    print(f"  prowess run             {own * 1_000:6.0f}   adds {added * 1_000:.0f}{verdict}")


def _measure_cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Memory of a long session


def _compare_memory(turns: int) -> None:
    """Memory of a session whose history grows, and of one that is cleared after every turn."""
    print(f"memory over {turns} turns, kilobytes a turn after the first {turns // 4}")
    for label, clear in (("history grows", False), ("cleared every turn", True)):
        grown = asyncio.run(_measure_memory(turns, clear=clear))
        print(f"  {label:24} {grown:6.1f}")


async def _measure_memory(turns: int, *, clear: bool) -> float:
    import gc
    import tracemalloc

    from prowess.agent import Session
    from prowess.runtime import Skills

    warm = turns // 4
    async with Session(Skills.open("."), model=MODEL) as session:
        tracemalloc.start()
        before = 0
        for number in range(turns):
            async for _ in session.send(PROMPT):
                pass
            if clear:
                session.clear()
            if number == warm:
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    return (after - before) / (turns - warm - 1) / 1_024


if __name__ == "__main__":
    raise SystemExit(main())
