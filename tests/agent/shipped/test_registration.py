"""Which skills ship, in which order, and how they are turned on and off."""

from __future__ import annotations

import json

import pytest

from prowess.activate.slash.parser import Plain
from prowess.errors import ProwessError, UnknownSkill
from prowess.model.settings import FEATURES
from prowess.runtime import Skills
from prowess.supply.bundled import SHIPPED, BundledSource

USERS_FILE = "home/.config/prowess/prowess.toml"


def list_shipped(terminal, *arguments: str) -> list[str]:
    answer = terminal.run("list", "--source", "bundled", "--json", *arguments)
    assert answer.code == 0, answer.err
    return [skill["name"] for skill in json.loads(answer.out)["skills"]]


def test_list_shows_the_skills_that_ship_only_when_asked_for_them(terminal):
    terminal.skill("project/.agents/skills/pdf")
    always = {one.name for one in SHIPPED if one.feature is None}
    assert set(list_shipped(terminal)) == always
    answer = terminal.run("list", "--json")
    assert [skill["name"] for skill in json.loads(answer.out)["skills"]] == ["pdf"]


ALWAYS = "update-config keybindings verify debug lorem-ipsum skillify remember simplify batch stuck"
GATED = "dream hunter loop schedule-remote-agents claude-api claude-in-chrome run-skill-generator"
# Who may call each: the document lost its marks, and the plan sets them.
ONLY_USERS = "debug lorem-ipsum skillify remember batch stuck loop schedule-remote-agents"


@pytest.mark.seed("C-104")
def test_the_skills_are_registered_in_the_order_of_the_document(terminal):
    assert [one.name for one in SHIPPED] == [*ALWAYS.split(), *GATED.split()]
    features = {one.name: one.feature for one in SHIPPED}
    # Keys can be customised only with a setting (C-107); everything else of the ten is always there.
    assert [name for name in ALWAYS.split() if features[name] is not None] == ["keybindings"]
    terminal.write(USERS_FILE, "[features]\nkeybindings = true\n")
    facts = terminal.facts(bins=["chromium"])
    skills = Skills(terminal.project, facts=facts, sources=(BundledSource(),), cache=False)
    found = [one.name for one in skills.snapshot.outcomes]
    assert sorted(found) == sorted(ALWAYS.split())


@pytest.mark.seed("C-105", "C-118", "C-119")
def test_the_user_may_call_all_and_the_model_those_that_the_plan_says(terminal):
    features = "".join(f"{name} = true\n" for name in FEATURES)
    terminal.write(USERS_FILE, f"[features]\n{features}")
    facts = terminal.facts(bins=["chromium"])
    skills = Skills(terminal.project, facts=facts, sources=(BundledSource(),), cache=False)
    typable = {one.name for one in skills.conversation().commands.typable}
    assert {*ALWAYS.split(), *GATED.split()} <= typable
    catalog = skills.catalog(context_tokens=1_000_000)
    offered = {one.name for one in catalog.lines}
    assert offered == {*ALWAYS.split(), *GATED.split()} - set(ONLY_USERS.split())
    for name in ONLY_USERS.split():
        with pytest.raises(ProwessError):
            skills.activate(name, by="model")


@pytest.mark.seed("C-107", "C-116", "C-117", "C-118", "C-119", "C-120", "C-122", "C-123")
@pytest.mark.parametrize("name", [one.name for one in SHIPPED if one.feature is not None])
def test_a_skill_behind_a_feature_is_not_registered_until_it_is_on(terminal, name):
    assert name not in list_shipped(terminal, "--all")
    facts = terminal.facts(bins=["chromium"])
    skills = Skills(terminal.project, facts=facts, sources=(BundledSource(),), cache=False)
    assert skills.snapshot.find(name) is None
    assert name not in skills.catalog().text
    assert isinstance(skills.run(f"/{name} * * * * * x"), Plain)
    with pytest.raises(UnknownSkill):
        skills.activate(name, by="model")
    terminal.write(USERS_FILE, f"[features]\n{name} = true\n")
    assert name in list_shipped(terminal)


@pytest.mark.seed("C-121")
@pytest.mark.parametrize(("bins", "is_there"), [([], False), (["google-chrome"], True)])
def test_the_skill_for_a_browser_is_there_only_where_one_is_detected(terminal, bins, is_there):
    terminal.write(USERS_FILE, "[features]\nclaude-in-chrome = true\n")
    facts = terminal.facts(bins=bins)
    skills = Skills(terminal.project, facts=facts, sources=(BundledSource(),), cache=False)
    assert (skills.snapshot.find("claude-in-chrome") is not None) is is_there


def test_a_project_cannot_turn_a_feature_on(terminal):
    terminal.write("project/prowess.toml", "[features]\nloop = true\n")
    answer = terminal.run("check")
    assert "only your own prowess.toml can turn features on" in answer.out + answer.err


def test_a_feature_that_does_not_exist_is_refused_with_those_that_do(terminal):
    terminal.write(USERS_FILE, "[features]\nlop = true\n")
    answer = terminal.run("list")
    assert answer.code != 0
    assert "`features.lop`" in answer.err
    assert "features.loop" in answer.err


def test_every_feature_is_described_in_the_settings(terminal):
    answer = terminal.run("config", "--json")
    described = {
        one["key"]: one["value"]
        for one in json.loads(answer.out)["settings"]
        if one["key"].startswith("features.")
    }
    assert described == {f"features.{name}": False for name in FEATURES}


@pytest.mark.parametrize("name", [one.name for one in SHIPPED])
def test_every_skill_that_ships_passes_the_strict_validator(terminal, name):
    from prowess.machine.package_files import find_disk_path, find_package_folder

    folder = find_disk_path(find_package_folder("prowess", "bundled"))
    answer = terminal.run("validate", "--strict", f"{folder}/{name}")
    assert answer.code == 0, answer.out


def test_only_a_skill_that_ships_reaches_its_code(terminal):
    terminal.skill(
        "project/.agents/skills/innocent", command_dispatch="tool", command_tool="lorem-ipsum"
    )
    answer = terminal.run("run", "/innocent 5")
    assert (answer.code != 0, answer.out) == (True, "")
    assert "Only skills that ship with Prowess can use this tool" in answer.err


def test_a_skill_of_the_user_replaces_one_that_ships(terminal):
    terminal.skill("home/.claude/skills/lorem-ipsum", description="My own filler text.")
    answer = terminal.run("run", "/lorem-ipsum 5")
    assert "My own filler text." not in answer.out
    assert "lorem ipsum dolor" not in answer.out


@pytest.mark.parametrize("name", ["loop", "schedule-remote-agents"])
def test_the_command_of_a_feature_that_is_off_does_not_exist(terminal, name):
    terminal.skill("project/.agents/skills/sly", command_dispatch="tool", command_tool=name)
    answer = terminal.run("run", "/sly x")
    assert answer.code != 0
    assert f"no tool named “{name}”; the tools are batch, lorem-ipsum, stuck." in answer.err
    # A tool of the user may have the name, and is used.
    terminal.write(USERS_FILE, f'[tools."{name}"]\ncommand = ["echo", "mine"]\n')
    assert terminal.run("run", "/sly x").out == "mine x\n"
    terminal.write(USERS_FILE, f"[features]\n{name} = true\n")
    assert (
        "Only skills that ship with Prowess can use this tool" in terminal.run("run", "/sly x").err
    )
