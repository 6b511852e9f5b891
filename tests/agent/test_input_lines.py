"""Messages as lines of JSON: they steer, follow up, interrupt, or are the next prompt."""

from __future__ import annotations

import json
import threading
from typing import Any

from prowess.agent.events import Event, ToolStarted, TurnEnded, TurnStarted, Warned
from tests.agent.studio import Studio, call, pick, say

RULES = {"allow": ["Bash"]}
SLOW = call("Bash", command="sleep 0.5")


def converse(studio: Studio, answers: list[dict[str, Any]], lines: list[Any]) -> list[Event]:
    """Run a session with these lines, which come while its first call runs."""
    events: list[Event] = []
    ready = threading.Event()
    left = [line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines]

    def read_line() -> str:
        ready.wait(20)
        return left.pop(0) if left else ""

    def show(event: Event) -> None:
        events.append(event)
        if isinstance(event, ToolStarted):
            ready.set()

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
        [call("Bash", command="sleep 60"), {**say("Good."), "expect": ["do this instead"]}],
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
