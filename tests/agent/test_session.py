"""Sessions: turns, events, skills in the loop, limits, interrupts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import BinaryContent, ImageUrl, ModelMessage, ModelRequest
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import ModelProfile

from prowess.activate.code_skills import DefinedSkill
from prowess.agent import Limits, Session
from prowess.agent.events import (
    Event,
    RequestFinished,
    SessionStarted,
    SkillLoaded,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Warned,
    build_schema,
    parse_event,
    render_event,
)
from prowess.agent.session_file import load_session
from prowess.errors import UsageError
from prowess.machine.spare_threads import SpareThreads
from tests.agent.studio import Asked, call, pick, say


class Seen:
    """A model that answers at once, and what it was asked with."""

    def __init__(self, *answers: str) -> None:
        self.messages: list[list[ModelMessage]] = []
        self.instructions: list[str] = []
        self.settings: list[object] = []
        self._answers = list(answers) or ["Done."]
        profile = ModelProfile(supports_thinking=True)
        self.model = FunctionModel(stream_function=self._stream, profile=profile)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo):
        self.messages.append(messages)
        self.instructions.append(info.instructions or "")
        self.settings.append(info.model_request_parameters.thinking)
        yield self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


# Events


def test_a_turn_is_told_from_its_beginning_to_its_end(studio):
    studio.write("a.txt", "A\n")
    ended, events = studio.run({"text": "Look.", **call("Read", file_path="a.txt")}, say("Done."))
    assert [type(event) for event in events] == [
        SessionStarted,
        TurnStarted,
        TextDelta,
        RequestFinished,
        ToolStarted,
        ToolFinished,
        TextDelta,
        RequestFinished,
        TurnEnded,
    ]
    assert ended == events[-1]
    assert (ended.status, ended.answer, ended.turn, ended.requests) == ("done", "Done.", 1, 2)
    assert ended.input_tokens > 0
    assert ended.output_tokens > 0


def test_every_event_survives_its_way_through_json(studio):
    _, events = studio.run(call("Write", file_path="旗.txt", content="x"), say("Done."))
    assert [parse_event(render_event(event)) for event in events] == events


def test_the_schema_names_every_kind_of_event():
    kinds = {one["properties"]["event"]["enum"][0] for one in build_schema()["$defs"].values()}
    assert kinds == {
        "session-started",
        "turn-started",
        "message-queued",
        "message-delivered",
        "skill-loaded",
        "skills-woken",
        "text",
        "thinking",
        "tool-started",
        "approval-asked",
        "tool-finished",
        "hook-finished",
        "request-finished",
        "stream-cut",
        "task-finished",
        "compaction-started",
        "compacted",
        "warning",
        "turn-ended",
    }


def test_async_use_and_several_sessions_at_once(studio):
    studio.write("a.txt", "A\n")
    model = studio.script(call("Read", file_path="a.txt"), say("Done."))

    async def turn(session: Session, text: str) -> list[Event]:
        return [event async for event in session.send(text)]

    async def both() -> list[list[Event]]:
        first, second = (studio.open(model=model) for _ in range(2))
        return list(await asyncio.gather(turn(first, "one"), turn(second, "two")))

    for events, text in zip(asyncio.run(both()), ("one", "two"), strict=True):
        assert [one.text for one in pick(events, TurnStarted)] == [text]
        assert [one.status for one in pick(events, TurnEnded)] == ["done"]


def test_a_plain_turn_changes_threads_once(studio, monkeypatch):
    # Looks for changes are due only when a turn begins, however slow the machine is.
    monkeypatch.setattr("prowess.runtime.Refresher.is_due", lambda self: False)
    seen = Seen()
    started: list[object] = []
    with studio.open(model=seen.model) as session:
        session.run("one")
        start = SpareThreads.start

        def note(threads: SpareThreads, work: Callable[[], None]) -> None:
            started.append(work)
            start(threads, work)

        monkeypatch.setattr(SpareThreads, "start", note)
        session.run("two")
        assert len(started) == 1
        # What is new on disk is there nevertheless.
        studio.skill("late", description="Came late.")
        session.run("three")
    assert "Came late." in seen.instructions[-1]
    assert "Came late." not in seen.instructions[-2]


def test_the_instructions_are_in_memory_once(studio):
    with studio.open(model=Seen().model) as session:
        for text in ("one", "two", "three"):
            session.run(text)
        kept = [one.instructions for one in session.messages if isinstance(one, ModelRequest)]
    assert len(kept) == 3
    assert all(one is kept[0] for one in kept)


def test_a_session_does_one_turn_at_a_time(studio):
    async def twice() -> None:
        session = studio.open(say("a"))
        async for _ in session.send("one"):
            with pytest.raises(UsageError):
                await anext(session.send("two"))

    asyncio.run(twice())


def test_turns_follow_each_other_in_one_conversation(studio):
    seen = Seen("First.", "Second.")
    session = studio.open(model=seen.model)
    assert [session.run(text).answer for text in ("one", "two")] == ["First.", "Second."]
    texts = [
        str(getattr(part, "content", "")) for message in seen.messages[1] for part in message.parts
    ]
    assert texts == ["one", "First.", "two"]


def test_the_test_model_of_pydantic_ai_works(studio):
    session = studio.open(model=TestModel(call_tools=["Glob"], custom_output_text="Fine."))
    assert session.run("x").answer == "Fine."


# Skills


def test_context_files_are_in_every_request_and_a_skill_only_where_it_is_asked_for(studio):
    studio.write("AGENTS.md", "Be brief.\n")
    studio.write("sub/AGENTS.md", "Not here.\n")
    studio.skill("tides", body="Read the table.\n", description="Reads tide tables.")
    seen = Seen()
    session = studio.open(model=seen.model)
    session.run("hello")
    session.run("/tides now")
    first, second = seen.instructions
    assert first == second
    assert f'<context_file path="{studio.project}/AGENTS.md">\nBe brief.\n</context_file>' in first
    assert "Not here." not in first
    assert "- tides: Reads tide tables." in first
    assert "Read the table." not in first
    assert "Read the table." in str(seen.messages[1][-1])


def test_always_bodies_are_in_the_instructions(studio):
    studio.skill("house", body="Wipe your feet.\n", always="true")
    seen = Seen()
    studio.open(model=seen.model).run("hello")
    assert "Wipe your feet." in seen.instructions[0]


def test_the_model_finds_a_skill_in_the_list_reads_it_calls_tools_and_answers(studio):
    studio.skill("count", body="Run `wc -l` on the file.\n", description="Counts lines.")
    studio.write("a.txt", "1\n2\n")
    expected = {"expect": ["Run `wc -l` on the file."]}
    ended, events = studio.run(
        {**call("skill", name="count"), "expect": ["<available_skills>", "- count: Counts lines."]},
        {**call("Bash", command="wc -l a.txt"), **expected},
        {**say("Two lines."), "expect": ["2 a.txt"]},
        rules={"allow": ["Bash(wc *)"]},
    )
    assert (ended.status, ended.answer) == ("done", "Two lines.")
    assert [(one.name, one.by) for one in pick(events, SkillLoaded)] == [("count", "model")]


def test_a_new_or_changed_skill_takes_effect_without_a_restart(studio):
    seen = Seen()
    session = studio.open(model=seen.model)
    session.run("hello")
    studio.skill("late", description="Came late.", body="Old.\n")
    session.run("hello")
    studio.skill("late", description="Came late.", body="New text.\n")
    session.run("/late")
    assert "late" not in seen.instructions[0]
    assert "Came late." in str(seen.messages[1]) + seen.instructions[1]
    assert "New text." in str(seen.messages[2][-1])


def test_a_command_that_goes_to_a_tool_needs_no_model(studio):
    studio.workspace.write(
        "home/.config/prowess/prowess.toml",
        '[tools.tide]\ncommand = ["echo", "tide", "{argument}"]\n',
    )
    studio.skill("tide", command_dispatch="tool", command_tool="tide")
    session = Session(studio.skills())
    ended = session.run("/tide Hamburg")
    assert (ended.status, ended.answer, ended.requests) == ("done", "tide Hamburg", 0)
    ended = session.run("hello")
    assert (ended.status, ended.reason.partition(".")[0]) == ("failed", "No model is configured")
    session.close()


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/flag.png"}}
BYTES = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
BROKEN = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}


def define_flag(session: Session, *blocks: dict[str, Any]) -> None:
    """A skill with images."""
    session.skills.define(
        DefinedSkill(
            name="flag",
            description="Shows a flag.",
            get_prompt=lambda arguments, context: [{"type": "text", "text": "Hoist it."}, *blocks],
        )
    )


def test_images_that_a_typed_skill_brings_reach_a_model_that_takes_them(studio):
    seen = Seen("Done.")
    session = studio.open(model=seen.model)
    define_flag(session, IMAGE, BYTES, BROKEN)
    events: list[Event] = []
    session.run("/flag", on_event=events.append)
    part: Any = seen.messages[0][-1].parts[0]
    text, *media = part.content
    assert "Hoist it." in text
    assert media == [
        ImageUrl("https://example.org/flag.png"),
        BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png"),
    ]
    (warned,) = pick(events, Warned)
    assert (warned.code, warned.message) == (
        "blocks-left-out",
        "1 attachment of the skill was not sent to the model.",
    )
    # They are kept with the session.
    saved = load_session(studio.facts, session.id)
    again = Seen("Fine.")
    studio.open(model=again.model, resume=saved).run("And now?")
    kept: Any = again.messages[0][0].parts[0]
    assert [one.data for one in kept.content[2:]] == [one.data for one in media[1:]]


def test_images_that_a_model_does_not_take_are_not_left_out_silently(studio):
    seen = Seen("Done.")
    profile = ModelProfile(supports_image_input=False)
    session = studio.open(model=FunctionModel(stream_function=seen._stream, profile=profile))
    define_flag(session, IMAGE, BYTES)
    events: list[Event] = []
    session.run("/flag", on_event=events.append)
    part: Any = seen.messages[0][-1].parts[0]
    assert isinstance(part.content, str)
    (warned,) = pick(events, Warned)
    assert (warned.code, warned.message) == (
        "blocks-left-out",
        "2 attachments of the skill were not sent to the model.",
    )


def test_a_refusal_is_of_its_turn_only(studio):
    studio.workspace.write(
        "home/.config/prowess/prowess.toml", '[tools.tide]\ncommand = ["echo", "tide"]\n'
    )
    studio.skill("tide", command_dispatch="tool", command_tool="tide")
    session = studio.open(call("Bash", command="ls"), say("No."))
    assert [session.run(text).status for text in ("x", "/tide")] == ["refused", "done"]


def test_allowed_tools_of_a_trusted_skill_need_no_approval_during_the_turn(studio):
    studio.skill("count", allowed_tools="Bash(echo *)")
    studio.trust()
    asked = Asked()
    same = call("Bash", command="echo a")
    session = studio.open(same, say("1"), same, say("2"), approver=asked)
    session.run("/count")
    assert asked.requests == []
    session.run("again")
    assert [request.patterns for request in asked.requests] == [("echo a",)]


def test_allowed_tools_of_a_skill_from_an_untrusted_project_are_asked_about(studio):
    studio.skill("count", allowed_tools="Bash(echo *)")
    asked = Asked()
    studio.run(call("Bash", command="echo a"), say("1"), text="/count", approver=asked)
    assert [request.permission for request in asked.requests] == ["bash"]


def test_tools_that_no_one_can_approve_are_left_out_and_said_to_be(studio):
    studio.skill("count", allowed_tools="Bash(echo *)")
    studio.trust()
    answers = (call("skill", name="count"), call("Bash", command="echo a"), say("1"))
    ended, events = studio.run(*answers)
    assert [one.code for one in pick(events, Warned)] == ["request-withheld"]
    assert ended.status == "refused"
    ended, events = studio.run(*answers, rules={"allow": ["Skill(count)"]})
    assert (ended.status, pick(events, Warned)) == ("done", [])
    assert pick(events, ToolFinished)[0].output.startswith('<skill_content name="count">')


def test_allowed_tools_do_not_undo_a_rule(studio):
    studio.skill("count", allowed_tools="Bash(echo *)")
    studio.trust()
    _, events = studio.run(
        call("Bash", command="echo a"),
        say("1"),
        text="/count",
        rules={"deny": ["Bash(echo *)"]},
        approver=Asked(),
    )
    assert [one.outcome for one in pick(events, ToolFinished)] == ["refused"]


def test_disallowed_tools_are_refused_during_the_turn(studio):
    studio.skill("quiet", disallowed_tools="Bash")
    same = call("Bash", command="echo a")
    session = studio.open(same, say("1"), same, say("2"), rules={"allow": ["Bash"]})
    events: list[Event] = []
    session.run("/quiet", on_event=events.append)
    session.run("again", on_event=events.append)
    assert [one.outcome for one in pick(events, ToolFinished)] == ["refused", "done"]


def test_model_and_effort_of_a_skill_apply_to_the_turn(studio, monkeypatch):
    studio.skill("deep", effort="high", model="big")
    studio.workspace.write(
        "home/.config/prowess/prowess.toml", '[agent.models]\nbig = "openai:gpt-5"\n'
    )
    big = Seen("From the big one.")
    monkeypatch.setattr("prowess.agent.models.load_model", lambda name, env: big.model)
    seen = Seen("From the usual one.")
    session = studio.open(model=seen.model)
    assert session.run("/deep").answer == "From the big one."
    assert session.run("hello").answer == "From the usual one."
    assert (big.settings, seen.settings) == (["high"], [None])


def test_a_model_that_nobody_knows_is_a_warning_and_the_usual_one_answers(studio):
    studio.skill("deep", model="opus")
    events: list[Event] = []
    session = studio.open(model=Seen("Usual.").model)
    assert session.run("/deep", on_event=events.append).answer == "Usual."
    (warning,) = pick(events, Warned)
    assert warning.code == "model-unavailable"
    assert "“opus” cannot be used" in warning.message


# Forks


def test_a_forked_skill_runs_in_a_sub_agent_with_its_own_window_and_tools(studio):
    studio.skill("explore", body="Find the flag.\n", context="fork", description="Finds things.")
    studio.write("flag.txt", "red\n")
    ended, events = studio.run(
        call("skill", name="explore"),
        {**call("Read", file_path="flag.txt"), "agent": "explore", "expect": ["Find the flag."]},
        {**say("It is red."), "agent": "explore", "expect": ["red"]},
        {**say("The flag is red."), "expect": ["It is red."]},
        text="Which colour has the flag?",
    )
    assert (ended.status, ended.answer) == ("done", "The flag is red.")
    assert [one.agent for one in pick(events, ToolStarted)] == ["", "explore"]
    child = next(one for one in pick(events, ToolFinished) if one.tool == "skill")
    assert child.output == "It is red."


def test_a_forked_skill_that_the_user_types_answers_itself(studio):
    studio.skill("explore", body="Find $ARGUMENTS.\n", context="fork")
    ended, _ = studio.run(
        {**say("Found it."), "agent": "explore", "expect": ["Find the flag."]},
        text="/explore the flag",
    )
    assert (ended.status, ended.answer) == ("done", "Found it.")


def test_the_window_of_a_sub_agent_is_its_own(studio):
    studio.skill("explore", body="Find it.\n", context="fork")
    seen = Seen("Answer.")
    session = studio.open(model=seen.model)
    session.run("A secret of the parent.")
    session.run("/explore")
    session.run("And now?")
    texts = [str(messages) for messages in seen.messages]
    assert "A secret of the parent." not in texts[1]
    assert "Find it." not in texts[2]
    assert seen.instructions[0] == seen.instructions[1]


def test_the_rules_of_the_session_hold_for_sub_agents(studio):
    studio.skill("explore", context="fork")
    asked = Asked()
    _, events = studio.run(
        {"calls": [{"tool": "Bash", "input": {"command": "rm x"}}], "agent": "explore"},
        {"calls": [{"tool": "Bash", "input": {"command": "ls"}}], "agent": "explore"},
        {**say("No."), "agent": "explore"},
        text="/explore",
        rules={"deny": ["Bash(rm *)"]},
        approver=asked,
    )
    assert [one.outcome for one in pick(events, ToolFinished)] == ["refused", "done"]
    assert [request.patterns for request in asked.requests] == [("ls",)]


def test_an_agent_that_does_not_exist_is_an_error(studio):
    studio.skill("explore", context="fork", agent="nobody")
    ended, _ = studio.run(text="/explore")
    assert (ended.status, "There is no agent “nobody”" in ended.reason) == ("failed", True)


# Limits and interrupts


def test_the_limit_on_requests_ends_the_turn(studio):
    studio.write("a.txt", "A\n")
    read = call("Read", file_path="a.txt")
    ended, _ = studio.run(read, read, say("never"), limits=Limits(turns=2))
    assert (ended.status, ended.reason, ended.requests) == (
        "budget",
        "the limit of 2 requests to the model was reached",
        2,
    )


def test_the_limit_on_time_ends_the_turn_and_its_programs(studio):
    ended, _ = studio.run(
        call("Bash", command="sleep 600"),
        say("never"),
        rules={"allow": ["Bash"]},
        limits=Limits(seconds=1.5),
    )
    assert (ended.status, ended.reason) == ("budget", "the limit of 1.5 seconds was reached")


def test_the_limit_on_cost_ends_the_turn(studio):
    def answer(messages: list[ModelMessage], info: AgentInfo):
        raise AssertionError

    async def stream(messages: list[ModelMessage], info: AgentInfo):
        yield "word " * 50

    model = FunctionModel(answer, stream_function=stream, model_name="gpt-4o")
    session = studio.open(model=model, limits=Limits(cost=1e-9))
    ended = session.run("x")
    assert (ended.status, ended.reason) == ("budget", "the limit of $1e-09 was reached")
    assert ended.cost is not None


def test_an_interrupt_ends_the_turn_and_the_next_one_goes_on(studio):
    session = studio.open(
        call("Bash", command="sleep 600"),
        {**say("Going on."), "expect": ["next"]},
        rules={"allow": ["Bash"]},
    )

    def stop(event: object) -> None:
        if isinstance(event, ToolStarted):
            threading.Timer(0.3, session.interrupt).start()

    ended = session.run("first", on_event=stop)
    assert (ended.status, ended.reason) == ("interrupted", "the user stopped it")
    assert session.run("next").answer == "Going on."


def test_whoever_stops_listening_interrupts_the_turn(studio):
    session = studio.open(call("Bash", command="sleep 600"), rules={"allow": ["Bash"]})

    async def leave() -> bool:
        events = session.send("x")
        has_started = False
        async for event in events:
            if isinstance(event, ToolStarted):
                has_started = True
                break
        await events.aclose()
        return has_started

    began = time.monotonic()
    assert asyncio.run(asyncio.wait_for(leave(), 300)) is True
    assert time.monotonic() - began < 300, "the command of ten minutes went on"


def test_an_error_of_the_model_is_the_end_of_the_turn_not_of_the_program(studio):
    async def stream(messages: list[ModelMessage], info: AgentInfo):
        if messages:
            raise RuntimeError("boom")
        yield ""

    ended = studio.open(model=FunctionModel(stream_function=stream)).run("x")
    assert (ended.status, ended.reason) == ("failed", "unexpected error: RuntimeError: boom")
