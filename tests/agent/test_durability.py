"""Faults: the program is killed at any moment, the disk is full, a tool hangs, the server dies.

Importing takes seconds, so that one process imports once and forks for every run.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from prowess.agent.events import Event, StreamCut, TextDelta, ToolFinished, Warned
from prowess.agent.session_file import SavedSession, load_session
from prowess.agent.turn import Limits
from tests.agent.studio import Studio, call, pick, say
from tests.agent.test_session import Seen
from tests.agent.test_streaming import words

KILLS = 50

_PROGRAM = r"""
import json, os, resource, signal, sys
import pydantic_ai.models.function
from prowess import Skills
from prowess.agent import Session
from prowess.agent.events import Warned
from prowess.gate.permissions import parse_given
from prowess.text.permission_rules import AGENT_TOOLS

def report(line):
    # In one piece: a kill must not leave half a line, also where Python does not buffer.
    os.write(1, f"{line}\n".encode())

def run(order):
    rules = parse_given(allow=["Bash", "Write"], tools=AGENT_TOOLS)
    session = Session(Skills(".", cache=False, rules=rules), model=order["model"])
    report(session.id)
    if order["bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["bytes"], order["bytes"]))
    for text in order["turns"]:
        warned = []
        ended = session.run(text, on_event=lambda event: note(event, warned))
        report(json.dumps([ended.status, ended.reason, *warned]))

def note(event, warned):
    if isinstance(event, Warned):
        warned.append(event.message)

report("ready")
ends = {signal.SIGCHLD}
signal.pthread_sigmask(signal.SIG_BLOCK, ends)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ends)
        code = 1
        try:
            run(order)
            code = 0
        finally:
            os._exit(code)
    # As long as nobody waited for it, its number is not given to another process.
    if order["seconds"] is None or signal.sigtimedwait(ends, order["seconds"]) is None:
        if order["seconds"] is not None:
            os.kill(child, signal.SIGKILL)
        signal.sigwait(ends)
    os.waitpid(child, 0)
    report("over")
"""


class Runs:
    """Runs sessions in processes of their own."""

    def __init__(self, studio: Studio) -> None:
        env = {**os.environ, "HOME": str(studio.workspace.home)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            cwd=studio.project,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == "ready"

    def run(
        self,
        model: str,
        turns: list[str],
        *,
        kill_after: float | None = None,
        most_bytes: int | None = None,
    ) -> tuple[str | None, list[list[str]]]:
        """The id of a session, and of each turn until it was killed its status and what was said.

        There is no id where it was killed before it had one.
        """
        order = {"model": model, "turns": turns, "bytes": most_bytes, "seconds": kill_after}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        lines = []
        while (line := self._read()) != "over":
            lines.append(line)
        if not lines:
            return None, []
        return lines[0], [json.loads(line) for line in lines[1:]]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def runs(studio: Studio) -> Iterator[Runs]:
    made = Runs(studio)
    yield made
    made.close()


def bash(*numbers: int, agent: str = "") -> dict[str, Any]:
    """An answer with commands, each of which leaves its number in a file."""
    calls = [{"tool": "Bash", "input": {"command": f"echo {one} >> log"}} for one in numbers]
    return {"calls": calls, "agent": agent}


# Everything that is written down: calls one by one and together, files, sub-agents, a compaction.
ANSWERS = (
    bash(1),
    say("One."),
    bash(2, 3),
    call("Write", file_path="a.txt", content="A\n"),
    say("Two."),
    {**say("They count."), "agent": "compaction"},
    bash(6),
    bash(7),
    say("Three."),
    call("Task", prompt="Look.", background=True),
    bash(4, agent="general-purpose"),
    {**say("Looked."), "agent": "general-purpose"},
    bash(5),
    # At the end, because the sub-agent may be faster: its result then comes with that of the
    # command, and the last answer is not needed.
    say("I wait."),
    say("Four."),
)
TURNS = ["one", "two", "/compact", "three", "four"]


def list_records(studio: Studio, session: str) -> list[dict[str, Any]]:
    path = studio.workspace.home / f".local/state/prowess/sessions/{session}.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def read_log(studio: Studio) -> list[str]:
    log = studio.project / "log"
    return log.read_text().split() if log.exists() else []


def check_records(studio: Studio, saved: SavedSession, log: list[str]) -> None:
    """Nothing ran twice, nothing ran that was not written down, nothing written down is missing."""
    assert len(set(log)) == len(log)
    records = list_records(studio, saved.header.id)
    calls = {
        one["call"]: one["title"].split()[2]
        for one in records
        if one.get("kind") == "call" and one["tool"] == "Bash"
    }
    assert set(log) <= set(calls.values())
    finished = [one["call"] for one in records if one.get("kind") == "result"]
    assert {calls[one] for one in finished if one in calls} <= set(log)


def go_on(studio: Studio, saved: SavedSession) -> None:
    """The session goes on; what may have happened is shown, told to the model, and not repeated."""
    unknown = saved.unknown
    before = read_log(studio)
    seen, events = Seen("Fine."), list[Event]()
    session = studio.open(model=seen.model, resume=saved)
    ended = session.run("go on", on_event=events.append)
    session.close()
    assert (ended.status, ended.answer) == ("done", "Fine.")
    warned = [one.message for one in pick(events, Warned) if one.code == "unknown-outcome"]
    assert len(warned) == len(unknown)
    prompt = str(seen.messages[0][-1].parts[-1].content)  # type: ignore[union-attr]
    assert all(f"- {one.title}" in prompt for one in unknown)
    assert read_log(studio) == before
    assert load_session(studio.facts, saved.header.id).unknown == ()


@pytest.mark.slow
def test_at_fifty_moments_of_a_run_a_kill_loses_nothing_and_repeats_nothing(studio, runs):
    model = studio.script(*ANSWERS)
    began = time.monotonic()
    session, ended = runs.run(model, TURNS)
    whole = time.monotonic() - began
    assert [status for status, *_ in ended] == ["done"] * len(TURNS), ended
    assert sorted(read_log(studio)) == ["1", "2", "3", "4", "5", "6", "7"]
    assert session is not None
    check_records(studio, load_session(studio.facts, session), read_log(studio))
    chance = random.Random(12)
    unfinished = 0
    for number in range(KILLS):
        (studio.project / "log").unlink(missing_ok=True)
        moment = whole * (number + chance.random()) / KILLS
        session, ended = runs.run(model, TURNS, kill_after=moment)
        if session is None:
            assert read_log(studio) == []
            continue
        saved = load_session(studio.facts, session)
        done = [turn for turn in saved.turns if turn.end is not None]
        # A turn whose end somebody has seen is there.
        assert len(done) >= len(ended)
        unfinished += len(done) < len(TURNS)
        check_records(studio, saved, read_log(studio))
        go_on(studio, saved)
    assert unfinished


@pytest.mark.slow
def test_wherever_the_disk_is_full_the_session_can_be_read_and_goes_on(studio, runs):
    model = studio.script(*ANSWERS)
    session, _ = runs.run(model, TURNS)
    assert session is not None
    path = studio.workspace.home / f".local/state/prowess/sessions/{session}.jsonl"
    for number in range(1, 7):
        (studio.project / "log").unlink(missing_ok=True)
        most = path.stat().st_size * number // 7
        session, ended = runs.run(model, TURNS, most_bytes=most)
        assert session is not None
        assert len(ended) == len(TURNS)
        # The turn fails, or it is done and the user learns that it could not be kept.
        assert "File too large" in str(ended)
        saved = load_session(studio.facts, session)
        assert not saved.is_damaged
        check_records(studio, saved, read_log(studio))
        go_on(studio, saved)


def test_a_tool_that_hangs_ends_with_the_limit_and_leaves_nothing_running(studio):
    # Enough for the tool to begin; more on a busy machine.
    for seconds in (2, 8, 32, 128):
        began = time.monotonic()
        ended, events = studio.run(
            call("Bash", command="echo $$ > pid; sleep 600 & sleep 600"),
            say("never"),
            rules={"allow": ["Bash"]},
            limits=Limits(seconds=seconds),
        )
        assert ended.status == "budget"
        assert time.monotonic() - began < 300
        if (studio.project / "pid").exists():
            break
    assert [one.outcome for one in pick(events, ToolFinished)] == ["failed"]
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "echo $$ > pid; sleep 600" not in listed.stdout


_SERVER = r"""
import os, signal, socket, sys

server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
connection, _ = server.accept()
connection.recv(65536)
head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
piece = sys.argv[1]
connection.sendall(f"{head}{len(piece):x}\r\n{piece}\r\n".encode())
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_that_dies_in_the_middle_of_an_answer_costs_that_answer_only(studio, monkeypatch):
    pytest.importorskip("openai")
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, words("Half of it")[0]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        port = server.stdout.readline().strip()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        session = studio.open(model="openai-chat:gpt-4o")
        events: list[Event] = []

        def look(event: Event) -> None:
            events.append(event)
            if isinstance(event, TextDelta):
                # It has begun to answer.
                server.stdin.write("\n")  # type: ignore[union-attr]
                server.stdin.flush()  # type: ignore[union-attr]

        ended = session.run("Go.", on_event=look)
        session.close()
    assert ended.status == "failed"
    assert (len(pick(events, StreamCut)), len(pick(events, TextDelta))) == (1, 1)
    seen = Seen("Whole.")
    again = studio.open(model=seen.model, resume=load_session(studio.facts, session.id))
    assert again.run("Again.").answer == "Whole."
    texts = [str(getattr(part, "content", "")) for one in seen.messages[0] for part in one.parts]
    assert (texts[0], texts[-1]) == ("Go.", "Again.")
