"""Tools of the skills that ship, through a session: there while the skill is, never without."""

from __future__ import annotations

import pytest

from prowess.agent import Session
from prowess.agent.events import Event, ToolFinished
from prowess.gate.permissions import parse_given
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource
from prowess.text.permission_rules import AGENT_TOOLS
from tests.agent.studio import Asked, Studio, call, pick, say


def run(studio: Studio, text: str, *answers, approver=None, read_only=False, rules=()):
    skills = Skills(
        studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),), rules=rules
    )
    events: list[Event] = []
    model = studio.script(*answers)
    with Session(skills, model=model, approver=approver, read_only=read_only) as session:
        ended = session.run(text, on_event=events.append)
    return ended, events


def test_a_tool_is_there_once_its_skill_is_loaded_and_asks_before_it_changes_anything(studio):
    asked = Asked()
    set_usage = call("SetSetting", key="usage", value=False)
    ended, events = run(
        studio, "/update-config count nothing", set_usage, say("Done."), approver=asked
    )
    assert ended.status == "done", ended.reason
    assert [(one.tool, one.outcome) for one in pick(events, ToolFinished)] == [
        ("SetSetting", "done")
    ]
    assert len(asked.requests) == 1
    assert studio.read("prowess.toml") == "usage = false\n"


def test_without_its_skill_a_tool_does_not_exist(studio):
    set_usage = call("SetSetting", key="usage", value=False)
    _, events = run(studio, "Count nothing.", set_usage, say("I can't."), approver=Asked())
    assert [one.output.partition(".")[0] for one in pick(events, ToolFinished)] == [
        "Unknown tool name: 'SetSetting'"
    ]
    assert not (studio.project / "prowess.toml").exists()


def test_a_skill_of_the_project_with_that_name_gets_no_tool(studio):
    studio.skill("update-config")
    set_usage = call("SetSetting", key="usage", value=False)
    _, events = run(studio, "/update-config x", set_usage, say("I can't."), approver=Asked())
    assert [one.output.partition(".")[0] for one in pick(events, ToolFinished)] == [
        "Unknown tool name: 'SetSetting'"
    ]
    assert not (studio.project / "prowess.toml").exists()


def test_with_nobody_to_ask_nothing_is_changed(studio):
    set_usage = call("SetSetting", key="usage", value=False)
    ended, _ = run(studio, "/update-config x", set_usage, say("I can't."))
    assert ended.status == "refused"
    assert not (studio.project / "prowess.toml").exists()


def test_a_read_only_session_changes_no_settings(studio):
    set_usage = call("SetSetting", key="usage", value=False)
    _, events = run(
        studio, "/update-config x", set_usage, say("I can't."), approver=Asked(), read_only=True
    )
    assert [one.output for one in pick(events, ToolFinished)] == [
        "Not permitted: the session is read-only."
    ]
    assert not (studio.project / "prowess.toml").exists()


def test_a_rule_about_the_project_does_not_let_a_model_change_settings(studio):
    set_usage = call("SetSetting", key="usage", value=False, whose="user")
    rules = parse_given(allow=["Edit", "Edit(*)"], tools=AGENT_TOOLS)
    ended, _ = run(studio, "/update-config x", set_usage, say("I can't."), rules=rules)
    assert ended.status == "refused"
    assert not (studio.workspace.home / ".config/prowess/prowess.toml").exists()


@pytest.mark.seed("C-108")
@pytest.mark.needs("python3")
def test_verify_finds_how_the_project_is_run(studio):
    studio.write("Makefile", "run:\n\techo hi\ntest: run\n\techo ok\nX := 1\n")
    studio.write("package.json", '{"scripts": {"dev": "vite"}}')
    find = call("run_skill_script", skill="verify", script="scripts/find_commands.py", arguments=[])
    _, events = run(studio, "/verify", find, say("Works."), approver=Asked())
    (finished,) = pick(events, ToolFinished)
    assert finished.output == "make run\nmake test\nnpm run dev  # vite"
