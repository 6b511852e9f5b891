"""Sub-agents in the background: the parent goes on, gets their reports, and waits for all."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from prowess.activate.slash.messages import Delivery
from prowess.agent import Limits
from prowess.agent.events import (
    Event,
    RequestFinished,
    TaskFinished,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from prowess.agent.session_file import load_session
from tests.agent.studio import call, pick, say
from tests.agent.test_session import Seen

CHILD = {"agent": "general-purpose"}


def start(prompt: str = "Look.") -> dict[str, object]:
    return call("Task", prompt=prompt, background=True)


def list_prompts(messages: list[ModelMessage]) -> list[str]:
    parts = [part for one in messages if isinstance(one, ModelRequest) for part in one.parts]
    return [str(part.content) for part in parts if isinstance(part, UserPromptPart)]


def test_the_parent_goes_on_and_waits_for_the_report_before_it_ends(studio):
    studio.write("flag.txt", "red\n")
    ended, events = studio.run(
        start("Which colour?"),
        {**call("Read", file_path="flag.txt"), **CHILD, "expect": ["Which colour?"]},
        {**say("Red."), **CHILD},
        {**say("I go on."), "expect": ["Started in the background as task-"]},
        {**say("It is red."), "expect": ['agent="general-purpose">\nRed.\n</task_report>']},
    )
    assert (ended.status, ended.answer) == ("done", "It is red."), ended.reason
    (report,) = pick(events, TaskFinished)
    assert (report.name, report.status, report.output) == ("general-purpose", "done", "Red.")
    assert ended.requests == len(pick(events, RequestFinished)) == 5


def test_a_skill_runs_in_the_background(studio):
    studio.skill("apart", "Find it.\n", context="fork", background="true", description="Finds.")
    ended, events = studio.run(
        call("skill", name="apart"),
        {**say("Found."), "agent": "apart", "expect": ["Find it."]},
        {**say("Meanwhile."), "expect": ["Started in the background"]},
        {**say("All done."), "expect": ["Found."]},
    )
    assert (ended.status, ended.answer) == ("done", "All done."), ended.reason
    assert [one.name for one in pick(events, TaskFinished)] == ["apart"]


def test_typed_while_nothing_else_runs_a_skill_answers_itself(studio):
    studio.skill("apart", context="fork", background="true")
    ended, _ = studio.run({**say("Found."), "agent": "apart"}, text="/apart")
    assert (ended.status, ended.answer) == ("done", "Found.")


def test_several_are_waited_for_and_a_failure_is_a_report(studio):
    ended, events = studio.run(
        {"calls": [*start("One.")["calls"], *start("Two.")["calls"]]},  # type: ignore[misc]
        {**say("First."), **CHILD},
        say("I wait."),
        say("More."),
        say("Done."),
    )
    assert ended.status == "done", ended.reason
    # The script has only one answer for the two of them.
    assert sorted(one.status for one in pick(events, TaskFinished)) == ["done", "failed"]


def test_rules_and_refusals_are_shared(studio):
    ended, events = studio.run(
        start(),
        {**call("Bash", command="touch x"), **CHILD},
        {**say("No."), **CHILD},
        say("I wait."),
        say("Done."),
    )
    assert [one.outcome for one in pick(events, ToolFinished) if one.tool == "Bash"] == ["refused"]
    assert ended.status == "refused"


def test_the_limit_of_the_turn_counts_for_all(studio):
    studio.write("a.txt", "A\n")
    read = {**call("Read", file_path="a.txt"), **CHILD}
    ended, events = studio.run(start(), *[read] * 9, say("I wait."), limits=Limits(turns=4))
    assert ended.status == "budget"
    assert len(pick(events, RequestFinished)) == 4


class Slow:
    """A model whose sub-agents wait until they are let go, and whose parent starts one."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.has_begun = False
        self.cancelled = 0
        self.requests: list[list[ModelMessage]] = []
        self.model = FunctionModel(stream_function=self._stream)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo):
        if "Work slowly." in list_prompts(messages)[0]:
            self.has_begun = True
            try:
                while not self.go.is_set():
                    await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            yield "Slow answer."
            return
        self.requests.append(messages)
        has_called = any(
            isinstance(part, ToolReturnPart) for message in messages for part in message.parts
        )
        if has_called:
            # The parent may be faster than the sub-agent that it started.
            while not self.has_begun:
                await asyncio.sleep(0.01)
            yield "Fine."
            return
        arguments = json.dumps({"prompt": "Work slowly.", "background": True})
        yield {0: DeltaToolCall(name="Task", json_args=arguments)}


def test_an_interrupt_ends_them_and_the_model_learns_of_it(studio):
    slow = Slow()
    session = studio.open(model=slow.model)
    events: list[Event] = []

    def look(event: Event) -> None:
        events.append(event)
        # The parent has said all it had to say, and waits.
        if isinstance(event, RequestFinished) and len(slow.requests) == 2:
            session.interrupt()

    ended = session.run("Go.", on_event=look)
    assert (ended.status, slow.cancelled) == ("interrupted", 1)
    assert [one.status for one in pick(events, TaskFinished)] == ["interrupted"]
    assert load_session(studio.facts, session.id).unknown == ()
    session.run("And now?")
    assert "The sub-agent did not finish" in list_prompts(slow.requests[-1])[-2]


def test_a_message_reaches_a_parent_that_waits(studio):
    slow = Slow()
    session = studio.open(model=slow.model)

    async def play() -> TurnEnded:
        ended: TurnEnded | None = None
        queued: list[Delivery] = []
        async for event in session.send("Go."):
            if isinstance(event, RequestFinished) and len(slow.requests) == 2 and not queued:
                queued.append(await session.queue("Hurry."))
            if len(slow.requests) == 3:
                slow.go.set()
            ended = event if isinstance(event, TurnEnded) else ended
        assert ended is not None
        assert queued == [Delivery.STEER]
        return ended

    assert asyncio.run(play()).status == "done"
    assert list_prompts(slow.requests[2])[-1] == "Hurry."
    assert "Slow answer." in list_prompts(slow.requests[3])[-1]


def test_a_typed_skill_begins_while_the_model_works(studio):
    studio.skill("apart", "Work slowly.\n", context="fork", background="true")
    slow = Slow()
    session = studio.open(model=slow.model)

    async def play() -> list[Event]:
        events: list[Event] = []
        async for event in session.send("Go."):
            events.append(event)
            if isinstance(event, ToolStarted) and event.tool == "Task":
                assert await session.queue("/apart") is Delivery.STEER
                slow.go.set()
        return events

    events = asyncio.run(play())
    names = [one.name for one in pick(events, TaskFinished)]
    assert sorted(names) == ["apart", "general-purpose"]


def test_after_a_kill_nobody_knows_how_far_it_came(studio):
    session = studio.open(start(), {**say("Red."), **CHILD}, say("I wait."), say("Done."))
    session.run("Go.")
    session.close()
    path = studio.workspace.home / f".local/state/prowess/sessions/{session.id}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (began,) = [at for at, line in enumerate(lines) if b"Background task general-purpose" in line]
    path.write_bytes(b"".join(lines[: began + 1]))
    seen = Seen("Fine.")
    studio.open(model=seen.model, resume=load_session(studio.facts, session.id)).run("And now?")
    assert "- Background task general-purpose" in list_prompts(seen.messages[0])[-1]


@pytest.mark.parametrize("background", ["true", "false"])
def test_only_what_asks_for_it_runs_in_the_background(studio, background):
    studio.skill("apart", context="fork", background=background)
    _, events = studio.run(
        call("skill", name="apart"),
        {**say("Found."), "agent": "apart"},
        say("Meanwhile."),
        say("Done."),
    )
    assert bool(pick(events, TaskFinished)) is (background == "true")
