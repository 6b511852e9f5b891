"""Bugs of others: whatever raises in a session, the session goes on and can be used."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from prowess.activate.code_skills import DefinedSkill
from prowess.agent import Session
from prowess.agent.events import Event, HookFinished, TaskFinished, ToolFinished
from prowess.agent.hooks.process import HookProcess
from prowess.errors import UsageError
from prowess.machine.project_files import ProjectFiles
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from tests.agent.studio import Studio, call, pick, say
from tests.agent.test_mcp_tools import configure, raw

MESSAGE = "RuntimeError: boom"


def boom(*arguments: Any, **options: Any) -> Any:
    raise RuntimeError("boom")


class Broken:
    """An approver with a bug."""

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        raise RuntimeError("boom")


def read(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(ProjectFiles, "load_text", boom)
    return call("Read", file_path="a.txt")


def use_server(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    configure(studio, raw=raw("tools"))
    monkeypatch.setattr("prowess.agent.mcp_tools.render_result", boom)
    return call("mcp__raw__fine")


def run_hook(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    table = '[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", table)
    monkeypatch.setattr(HookProcess, "run", boom)
    return call("Glob", pattern="*")


def ask(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return call("Bash", command="true")


def ask_about_skill(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    studio.skill("tides")
    return call("skill", name="tides")


def delegate(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("prowess.agent.workers.Workers._preload", boom)
    return call("Task", prompt="Look.")


def delegate_in_background(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("prowess.agent.workers.Workers._preload", boom)
    return call("Task", prompt="Look.", background=True)


@pytest.mark.parametrize(
    "prepare",
    [read, use_server, run_hook, ask, ask_about_skill, delegate, delegate_in_background],
)
def test_an_exception_during_a_call_is_shown_and_the_session_goes_on(
    studio: Studio,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[Studio, pytest.MonkeyPatch], dict[str, Any]],
) -> None:
    studio.write("a.txt", "A\n")
    broken = prepare(studio, monkeypatch)
    events: list[Event] = []
    rules = {"allow": ["mcp__raw__fine"], "ask": ["Skill"]}
    answers = [broken, say("I see."), say("Once more."), say("Hello.")]
    session = studio.open(*answers, approver=Broken(), rules=rules)
    session.run("Do it.", on_event=events.append)
    said = [
        *(one.output for one in pick(events, ToolFinished)),
        *(one.message for one in pick(events, HookFinished)),
        *(one.reason for one in pick(events, TaskFinished)),
    ]
    assert any(MESSAGE in one for one in said), said
    assert session.run("Go on.").status == "done"


def define(session: Session) -> None:
    session.skills.define(DefinedSkill(name="flag", description="F.", get_prompt=boom))


def test_an_exception_in_what_the_user_types_ends_the_turn_and_not_the_session(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = studio.open(say("Hello."))
    define(session)
    ended = session.run("/flag")
    assert ended.status == "failed"
    assert "boom" in ended.reason
    monkeypatch.setattr(type(session.skills), "refresh", boom)
    session._opened = 0.0
    ended = session.run("Hello?")
    assert (ended.status, ended.reason) == ("failed", f"unexpected error: {MESSAGE}")
    monkeypatch.undo()
    assert session.run("Hello?").answer == "Hello."


def test_a_reader_of_events_that_raises_gets_its_exception_and_can_go_on(studio: Studio) -> None:
    session = studio.open(say("Lost."), say("Hello."))
    with pytest.raises(RuntimeError, match="boom"):
        session.run("Hello?", on_event=boom)
    with pytest.raises(RuntimeError, match="boom"):
        session.converse("Hello?", lambda: "", on_event=boom)
    ended = session.run("Hello?")
    assert (ended.status, ended.turn) == ("done", 3)


def test_synchronous_use_within_an_event_loop_is_refused_with_what_to_do(studio: Studio) -> None:
    async def use() -> str:
        async with studio.open(say("Hello.")) as session:
            with pytest.raises(UsageError, match="use `send`"):
                session.run("Hello?")
            return [event async for event in session.send("Hello?")][-1].answer  # type: ignore[union-attr]

    assert asyncio.run(use()) == "Hello."


def test_a_model_that_cannot_be_loaded_is_said_once_and_nothing_is_logged(
    studio: Studio, caplog: pytest.LogCaptureFixture
) -> None:
    ended, _ = studio.run(model="nosuch:model")
    assert (ended.status, "there is no provider “nosuch”" in ended.reason) == ("failed", True)
    gc.collect()
    assert caplog.messages == []
