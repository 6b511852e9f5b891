"""`/batch` as it is typed: which model and which rules its agents get."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from acp.schema import TextContentBlock

from prowess.agent import acp
from prowess.agent.batch.spec import BatchSpec
from prowess.agent.jobs import client
from prowess.agent.jobs.client import Jobs
from prowess.machine.facts import current_facts
from prowess.model.settings import JobSettings
from tests.agent.batch.conftest import EXAMPLE
from tests.cli.conftest import terminal
from tests.cli.terminal import Terminal

__all__ = ["terminal"]

MODEL = f"script:{EXAMPLE}/script.jsonl"


@pytest.fixture
def desk(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in a repository with a commit, on which no worker is started."""
    monkeypatch.setenv("PROWESS_STATE_DIR", str(terminal.root / "state"))
    monkeypatch.setattr(client, "start_detached", lambda *_, **options: 0)
    terminal.write("home/.gitconfig", "[user]\nname = Ada\nemail = ada@example.org\n")
    terminal.write("project/a.py", "x = 1\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "One")):
        git(terminal, *words)
    return terminal


def git(desk: Terminal, *words: str) -> None:
    subprocess.run(["git", *words], cwd=desk.project, check=True, capture_output=True)


def load_spec() -> BatchSpec:
    with Jobs(JobSettings(), current_facts()) as jobs:
        (status,) = jobs._open().list_workflows()
    given: Any = status.input
    return msgspec.convert(given["args"][0], BatchSpec)


def test_the_rules_of_the_command_line_apply_to_the_agents(desk: Terminal) -> None:
    rules = ("--allow", "WebFetch", "--deny", "Bash(git push *)", "--ask", "Bash(rm *)")
    answer = desk.run("run", "/batch Rename it.", "--model", MODEL, *rules)
    assert answer.code == 0, answer
    assert answer.out.startswith("Started the batch ")
    spec = load_spec()
    assert (spec.task, spec.model) == ("Rename it.", MODEL)
    assert {one.text for one in spec.rules} == {
        "allow: WebFetch",
        "deny: Bash(git push *)",
        "ask: Bash(rm *)",
    }


def test_in_a_chat_the_agents_have_the_model_of_the_chat(
    desk: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("home/.config/prowess/prowess.toml", '[agent]\nmodel = "test:of-the-settings"\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"/batch Rename it.\n")))
    answer = desk.run("chat", "--model", MODEL)
    assert "Started the batch " in answer.out, answer
    assert load_spec().model == MODEL


class Editor:
    """The side of an editor that only listens."""

    async def session_update(self, session_id: str, update: object) -> None:
        """Show nothing."""


def test_in_an_editor_the_agents_have_the_model_of_the_session(
    desk: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("home/.config/prowess/prowess.toml", '[agent]\nmodel = "test:of-the-settings"\n')

    async def talk(agent: acp.AcpAgent) -> None:
        agent.on_connect(Editor())
        opened = await agent.new_session(cwd=str(desk.project))
        typed = [TextContentBlock(type="text", text="/batch Rename it.")]
        assert (await agent.prompt(opened.session_id, typed)).stop_reason == "end_turn"
        agent.close()

    monkeypatch.setattr(acp, "serve", lambda agent: asyncio.run(talk(agent)))
    answer = desk.run("acp", "--model", MODEL)
    assert answer.code == 0, answer
    assert load_spec().model == MODEL
