"""Which skills ship, in which order, and how they are turned on and off."""

from __future__ import annotations

import json

import pytest

from prowess.model.settings import FEATURES
from prowess.supply.bundled import SHIPPED

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


def test_a_skill_behind_a_feature_is_not_registered_until_it_is_on(terminal):
    for name in [one.name for one in SHIPPED if one.feature is not None]:
        assert name not in list_shipped(terminal, "--all")
        terminal.write(USERS_FILE, f"[features]\n{name} = true\n")
        assert name in list_shipped(terminal)


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
    assert "Only a skill that ships can use this tool" in answer.err


def test_a_skill_of_the_user_replaces_one_that_ships(terminal):
    terminal.skill("home/.claude/skills/lorem-ipsum", description="My own filler text.")
    answer = terminal.run("run", "/lorem-ipsum 5")
    assert "My own filler text." not in answer.out
    assert "lorem ipsum dolor" not in answer.out
