"""`/dream`: an agent that only reads leaves a plan, in the background if a model asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prowess.agent import Session
from prowess.agent.events import Event, TaskFinished, ToolFinished, TurnEnded
from prowess.gate.permissions import parse_given
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource
from prowess.text.permission_rules import AGENT_TOOLS
from tests.agent.studio import Studio, call, pick, say

STEP = {"what": "Count the\ntides.", "check": "make test", "files": ["tide.py"]}
SAVE = call("SavePlan", title="Tides ../x", why="They are late.", steps=[STEP], questions=["Why?"])


def turn_on(studio: Studio, *features: str) -> None:
    lines = "".join(f"{name} = true\n" for name in features)
    studio.workspace.write("home/.config/prowess/prowess.toml", f"[features]\n{lines}")


def run(
    studio: Studio, text: str, *answers: dict[str, Any], deny: tuple[str, ...] = (), **options: Any
) -> tuple[TurnEnded, list[Event]]:
    rules = parse_given(deny=deny, tools=AGENT_TOOLS)
    skills = Skills(
        studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),), rules=rules
    )
    events: list[Event] = []
    with Session(skills, model=studio.script(*answers), **options) as session:
        ended = session.run(text, on_event=events.append)
    return ended, events


def list_plans(studio: Studio) -> list[Path]:
    return sorted((studio.workspace.home / ".prowess/plans").glob("*"))


@pytest.mark.seed("C-116")
def test_a_typed_dream_leaves_a_plan_and_changes_nothing_else(studio: Studio) -> None:
    turn_on(studio, "dream")
    answers = ({"agent": "dream", **SAVE}, {"agent": "dream", **say("It is planned.")})
    ended, events = run(studio, "/dream the tides", *answers)
    assert (ended.status, ended.answer) == ("done", "It is planned."), ended.reason
    [plan] = list_plans(studio)
    heading, _, where, _, *lines = plan.read_text().splitlines()
    assert (heading, where.partition(", ")[2]) == ("# Tides ../x", str(studio.project))
    assert lines == [
        "They are late.",
        "",
        "## Steps",
        "",
        "1. Count the tides. (`tide.py`)",
        "   Check: make test",
        "",
        "## Questions",
        "",
        "- Why?",
    ]
    assert plan.name.endswith("-tides-x.md")
    assert plan.stat().st_mode & 0o077 == 0
    assert [one.tool for one in pick(events, ToolFinished)] == ["SavePlan"]


@pytest.mark.seed("C-116")
def test_a_dream_that_a_model_begins_goes_on_in_the_background(studio: Studio) -> None:
    turn_on(studio, "dream")
    ended, events = run(
        studio,
        "Think about it.",
        call("skill", name="dream"),
        {"agent": "dream", **SAVE},
        {"agent": "dream", **say("It is planned.")},
        say("It thinks."),
        say("There is a plan."),
    )
    assert ended.status == "done", ended.reason
    [finished] = pick(events, TaskFinished)
    assert (finished.name, finished.status, finished.output) == ("dream", "done", "It is planned.")
    assert len(list_plans(studio)) == 1


@pytest.mark.parametrize("options", [{"deny": ("Edit",)}, {"read_only": True}])
def test_a_rule_or_a_read_only_session_keeps_a_plan_from_being_written(
    studio: Studio, options: dict[str, Any]
) -> None:
    turn_on(studio, "dream")
    answers = ({"agent": "dream", **SAVE}, {"agent": "dream", **say("I can't.")})
    _, events = run(studio, "/dream", *answers, **options)
    assert [one.outcome for one in pick(events, ToolFinished)] == ["refused"]
    assert list_plans(studio) == []


def test_the_agent_that_dreams_can_change_nothing(studio: Studio) -> None:
    turn_on(studio, "dream")
    write = call("Write", path="x.txt", content="x")
    answers = ({"agent": "dream", **write}, {"agent": "dream", **say("I can't.")})
    run(studio, "/dream", *answers)
    assert not (studio.project / "x.txt").exists()


@pytest.mark.seed("C-123")
def test_without_the_feature_there_is_no_dream(studio: Studio) -> None:
    _, events = run(studio, "/dream", SAVE, say("I don't know it."))
    [finished] = pick(events, ToolFinished)
    assert finished.output.startswith("Unknown tool name: 'SavePlan'")
    assert list_plans(studio) == []
