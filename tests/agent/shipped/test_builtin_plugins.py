"""Builtin plugins `NAME@builtin`: sets of what ships, switched together in the settings."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from prowess.agent import Session
from prowess.agent.configuration import load_configuration
from prowess.agent.events import Event, ToolFinished
from prowess.agent.mcp_tools import find_servers, make_tool_name
from prowess.gate.permissions import parse_given
from prowess.model.settings import FEATURES
from prowess.model.skill import LoadedFrom, Scope
from prowess.runtime import Skills
from prowess.supply.bundled import (
    BUILTIN_PLUGINS,
    SHIPPED,
    BundledSource,
    find_plugins_folder,
    find_shipped_places,
)
from prowess.text.permission_rules import AGENT_TOOLS
from tests.agent.shipped.test_dream import SAVE, list_plans
from tests.agent.shipped.test_registration import USERS_FILE, list_shipped
from tests.agent.studio import Studio, call, pick, say


def list_plugins(terminal) -> dict[str, dict[str, Any]]:
    answer = terminal.run("plugins", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)["plugins"]
    return {one["id"]: one for one in found if one["id"].endswith("@builtin")}


def test_every_feature_with_a_skill_is_in_at_most_one_plugin_and_each_has_a_manifest():
    grouped = [feature for one in BUILTIN_PLUGINS for feature in one.features]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= {one.feature for one in SHIPPED} <= {None, *FEATURES}
    folder = find_plugins_folder()
    assert folder is not None
    named = {path.name for path in Path(folder).iterdir()}
    assert named == {one.name for one in BUILTIN_PLUGINS}


@pytest.mark.seed("C-139", "C-141", "C-142", "C-143")
@pytest.mark.parametrize("plugin", BUILTIN_PLUGINS, ids=lambda one: one.name)
def test_a_plugin_is_off_until_the_user_turns_it_on_and_its_skills_are_bundled(terminal, plugin):
    before = list_shipped(terminal, "--all")
    assert list_plugins(terminal)[plugin.id]["enabled"] is False
    assert not set(plugin.features) & set(before)

    answer = terminal.run("plugins", "enable", plugin.id)
    assert answer.code == 0, answer.err
    # It is the user's to turn on, whatever folder they are in.
    assert f'"{plugin.id}" = true' in (terminal.home / ".config/prowess/prowess.toml").read_text()
    assert sorted(list_shipped(terminal)) == sorted([*before, *plugin.features])
    shown = list_plugins(terminal)[plugin.id]
    assert (shown["enabled"], shown["owner"], shown["trusted"]) == (True, "bundled", True)
    assert {skill["name"] for skill in shown["skills"]} == set(plugin.features)
    skills = Skills(
        terminal.project,
        facts=terminal.facts(bins=["chromium"]),
        sources=(BundledSource(),),
        cache=False,
    )
    for name in plugin.features:
        found = skills.get(name)
        assert (found.scope, found.source.loaded_from) == (Scope.BUNDLED, LoadedFrom.BUNDLED)

    assert terminal.run("plugins", "disable", plugin.name).code == 0
    assert list_shipped(terminal, "--all") == before


@pytest.mark.seed("C-140")
def test_a_skill_of_a_plugin_can_also_be_switched_by_itself(terminal):
    terminal.run("plugins", "enable", "planning@builtin")
    assert terminal.run("disable", "dream").code == 0
    listed = list_shipped(terminal)
    assert ("dream" in listed, "hunter" in listed) == (False, True)
    assert terminal.run("enable", "dream").code == 0
    assert "dream" in list_shipped(terminal)


def test_a_project_cannot_turn_on_what_ships(terminal):
    terminal.write("project/prowess.toml", '[enabled_plugins]\n"automation@builtin" = true\n')
    assert "loop" not in list_shipped(terminal, "--all")
    shown = list_plugins(terminal)["automation@builtin"]
    assert (shown["enabled"], shown["reason"]) == (
        False,
        "only your own settings turn on what ships with Prowess",
    )


def test_other_hosts_do_not_have_them(terminal):
    answer = terminal.run("plugins", "--host", "claude-code", "--json")
    assert json.loads(answer.out)["plugins"] == []


def test_the_tools_of_a_skill_are_there_with_its_plugin(studio: Studio) -> None:
    settings = '[enabled_plugins]\n"planning@builtin" = true\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    script = studio.script({"agent": "dream", **SAVE}, {"agent": "dream", **say("Planned.")})
    skills = Skills(studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),))
    with Session(skills, model=script) as session:
        assert session.run("/dream").status == "done"
    assert len(list_plans(studio)) == 1


@pytest.mark.seed("C-143")
@pytest.mark.parametrize("host", ["prowess", "claude-code@documented"])
def test_their_skills_are_never_cut_from_the_catalog(studio: Studio, host: str) -> None:
    settings = '[enabled_plugins]\n"planning@builtin" = true\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    for number in range(60):
        studio.skill(f"filler-{number}", description=f"Fills the list {number}. " * 12)
    skills = Skills(
        studio.project, host=host, facts=studio.facts, cache=False, sources=(BundledSource(),)
    )
    catalog = skills.catalog(context_tokens=100_000).text
    for name in ("dream", "hunter"):
        assert str(skills.get(name).description) in catalog


@pytest.mark.slow
@pytest.mark.needs("python3")
def test_the_hook_of_authoring_tells_the_model_what_is_wrong_with_a_skill(studio: Studio) -> None:
    settings = '[enabled_plugins]\n"authoring@builtin" = true\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    studio.env["PATH"] = f"{Path(sys.executable).parent}:{studio.facts.env['PATH']}"
    script = studio.script(
        call("Write", file_path="a/SKILL.md", content="---\nname: A B\n---\n"),
        call("Write", file_path="notes.md", content="x"),
        say("Done."),
    )
    folder = find_plugins_folder()
    assert folder is not None
    skills = Skills(
        studio.project,
        facts=studio.facts,
        cache=False,
        sources=(BundledSource(),),
        places={"builtin_plugins": folder},
        rules=parse_given(allow=["Write"], tools=AGENT_TOOLS),
    )
    events: list[Event] = []
    with Session(skills, model=script) as session:
        session.run("Write a skill.", on_event=events.append)
    wrong, right = [one.output for one in pick(events, ToolFinished)]
    assert "SKILL.md" in wrong
    assert "description" in wrong
    assert "description" not in right


def open_authoring(studio: Studio, *, is_on: bool, allow: tuple[str, ...] = ()) -> Skills:
    settings = f'[enabled_plugins]\n"authoring@builtin" = {str(is_on).lower()}\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    studio.env["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return Skills(
        studio.project,
        facts=studio.facts,
        cache=False,
        sources=(BundledSource(),),
        places=find_shipped_places("prowess"),
        rules=parse_given(allow=list(allow), tools=AGENT_TOOLS),
    )


@pytest.mark.slow
@pytest.mark.needs("python3")
def test_the_server_of_authoring_answers_a_model_about_skills(studio: Studio) -> None:
    studio.skill("tide-tables", description="Tides of a harbour.")
    studio.write("drafts/a/SKILL.md", "---\nname: A B\n---\n")
    skills = open_authoring(studio, is_on=True, allow=("mcp__authoring_skills*",))
    check, explain, compare = (
        make_tool_name("authoring:skills", name)
        for name in ("check_skill", "explain_skill", "compare_hosts")
    )
    script = studio.script(
        call(check, path="drafts/a"),
        call(check, path="--help"),
        call(explain, name="tide-tables"),
        call(explain, name="x", host="/etc/passwd"),
        call(compare),
        say("Done."),
    )
    events: list[Event] = []
    with Session(skills, model=script) as session:
        session.run("Look at the skills.", on_event=events.append)
    found = pick(events, ToolFinished)
    assert [one.outcome for one in found] == ["done", "done", "done", "failed", "done"], found
    checked, option, explained, wrong, compared = [one.output for one in found]
    assert "`description` is missing" in checked
    # What a model says is never an option of the program.
    assert "--help" in option
    assert "Usage" not in option
    assert explained.startswith("“tide-tables” is ready: ")
    assert "`host` is one of prowess, claude-code" in wrong
    assert "tide-tables" in compared


def test_nothing_of_a_plugin_is_started_while_it_is_off(studio: Studio) -> None:
    skills = open_authoring(studio, is_on=False)
    with Session(skills, model=studio.script(say("Done."))) as session:
        assert find_servers(skills, load_configuration(skills)) == ()
        assert session.run("Say it.").status == "done"
    [server] = find_servers(on := open_authoring(studio, is_on=True), load_configuration(on))
    assert (server.name, server.plugin) == ("authoring:skills", "authoring@builtin")


def test_the_users_settings_name_the_file(terminal):
    terminal.write(USERS_FILE, "[enabled_plugins]\nplanning = true\n")
    assert {"dream", "hunter"} <= set(list_shipped(terminal))
