"""Messages as lines of JSON: they steer, follow up, interrupt, or are the next prompt."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from typing import Any

from prowess.agent.events import (
    ApprovalAsked,
    Event,
    MessageQueued,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Warned,
)
from prowess.agent.line_approver import LineApprover
from tests.agent.studio import SLOW, Studio, call, pick, say

RULES = {"allow": ["Bash"]}


def converse(studio: Studio, answers: list[dict[str, Any]], lines: list[Any]) -> list[Event]:
    """Run a session with these lines, which come while its first call runs."""
    events: list[Event] = []
    ready = threading.Event()
    left = [line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines]

    def read_line() -> str:
        ready.wait(120)
        return left.pop(0) if left else ""

    def show(event: Event) -> None:
        events.append(event)
        if isinstance(event, ToolStarted):
            ready.set()
        if sum(isinstance(one, MessageQueued | Warned) for one in events) == len(lines):
            studio.let_go()

    session = studio.open(*answers, rules=RULES)
    session.converse("begin", read_line, on_event=show)
    return events


def test_a_line_steers_and_another_follows_up(studio):
    events = converse(
        studio,
        [
            SLOW,
            {**say("First."), "expect": ["turn left"]},
            {**say("Second."), "expect": ["then home"]},
        ],
        [{"text": "turn left"}, {"text": "then home", "key": "follow-up"}],
    )
    (ended,) = pick(events, TurnEnded)
    assert (ended.status, ended.answer) == ("done", "Second."), ended.reason


def test_after_the_turn_a_line_is_the_next_prompt(studio):
    studio.write("a", "x")
    events = converse(
        studio,
        [call("Read", file_path="a"), say("1"), say("2"), say("3")],
        ["\n", {"text": "second"}, {"text": "third"}],
    )
    assert pick(events, TurnStarted)[0].text == "begin"
    assert pick(events, TurnEnded)[-1].status == "done"


def test_an_interrupt_keeps_what_was_typed_for_the_next_turn(studio):
    events = converse(
        studio,
        [call("Bash", command="sleep 600"), {**say("Good."), "expect": ["do this instead"]}],
        [{"text": "do this instead", "interrupt": True}],
    )
    assert [one.status for one in pick(events, TurnEnded)] == ["interrupted", "done"]


def test_lines_that_make_no_sense_are_told_and_ignored(studio):
    events = converse(
        studio,
        [SLOW, say("Done.")],
        ["rubbish\n", {"txt": "x"}, {"text": "x", "key": "never"}, '{"text":"\udcff"}\n'],
    )
    assert [one.code for one in pick(events, Warned)] == ["input-ignored"] * 4
    assert pick(events, TurnEnded)[-1].status == "done"


# Approvals


def approve(
    studio: Studio, answers: list[dict[str, Any]], reply: Callable[[ApprovalAsked], Any]
) -> list[Event]:
    """Run a session in which questions are answered by lines; None is no answer."""
    events: list[Event] = []
    replies: queue.SimpleQueue[str] = queue.SimpleQueue()

    def show(event: Event) -> None:
        events.append(event)
        if isinstance(event, ApprovalAsked):
            line = reply(event)
            replies.put("" if line is None else json.dumps(line) + "\n")
        if isinstance(event, TurnEnded | Warned):
            replies.put("")

    session = studio.open(*answers, approver=LineApprover(show))
    session.converse("begin", lambda: replies.get(timeout=180), on_event=show)
    return events


WRITE = call("Write", file_path="a.txt", content="A\n")


def test_a_question_is_an_event_and_the_answer_a_line(studio):
    events = approve(studio, [WRITE, say("Done.")], lambda one: {"answer": "once", "id": one.id})
    (asked,) = pick(events, ApprovalAsked)
    assert (asked.id, asked.permission, asked.names, asked.title, asked.choices) == (
        "question-1",
        "write",
        ("a.txt",),
        "Write a.txt",
        ("once", "reject"),
    )
    assert "+A" in asked.diff
    assert (pick(events, TurnEnded)[0].status, studio.read("a.txt")) == ("done", "A\n")
    # Whoever is asked has seen the call.
    assert [type(one) for one in events].index(ToolStarted) < events.index(asked)


def test_a_rejection_tells_the_model_what_to_do_instead(studio):
    events = approve(
        studio,
        [WRITE, {**say("Understood."), "expect": ["The user says: use b.txt"]}],
        lambda one: {"answer": "reject", "feedback": "use b.txt"},
    )
    assert pick(events, TurnEnded)[0].status == "refused"
    assert not (studio.project / "a.txt").exists()


def test_always_covers_the_same_command_again(studio):
    run = call("Bash", command="echo x >> log")
    events = approve(studio, [run, run, say("Done.")], lambda one: {"answer": "always"})
    (asked,) = pick(events, ApprovalAsked)
    assert (asked.details, asked.choices) == (("echo x >> log",), ("once", "always", "reject"))
    assert studio.read("log") == "x\nx\n"


def test_the_tools_and_hooks_of_a_skill_are_part_of_the_question(studio):
    hooks = '{PreToolUse: [{hooks: [{type: command, command: "touch ran"}]}]}'
    studio.skill("evil", allowed_tools="Bash(rm *) Write", hooks=hooks)
    studio.trust()
    load = call("skill", name="evil")
    events = approve(studio, [load, say("Done.")], lambda one: {"answer": "reject"})
    (asked,) = pick(events, ApprovalAsked)
    assert (asked.permission, asked.names, asked.skill) == ("skill", ("evil",), "evil")
    assert asked.location.endswith("evil/SKILL.md")
    assert asked.allowed_tools == ("Bash(rm *)", "Write")
    assert asked.hooks == ("PreToolUse: touch ran",)


def test_without_an_answer_nothing_is_approved(studio):
    events = approve(studio, [WRITE, WRITE, say("Done.")], lambda one: None)
    assert len(pick(events, ApprovalAsked)) == 1
    assert pick(events, TurnEnded)[0].status == "refused"
    assert not (studio.project / "a.txt").exists()


def test_an_interrupt_ends_an_open_question(studio):
    events = approve(studio, [WRITE, say("never")], lambda one: {"interrupt": True})
    assert pick(events, TurnEnded)[0].status == "interrupted"
    assert not (studio.project / "a.txt").exists()


def test_an_answer_to_no_question_is_said_to_be_ignored(studio):
    lines = [{"answer": "once", "id": "question-7"}, {"answer": "maybe"}]
    events = converse(studio, [SLOW, say("Done.")], lines)
    assert [one.code for one in pick(events, Warned)] == ["input-ignored", "input-ignored"]

    replies: list[Any] = [{"answer": "once", "id": "question-7"}]
    events = approve(studio, [WRITE, say("Done.")], lambda one: replies.pop())
    assert "open questions: question-1" in pick(events, Warned)[0].message
