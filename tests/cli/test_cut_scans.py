"""What a limit cut off: no command may speak as if everything had been seen."""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal

SKILLS = "project/.agents/skills"
CUT = "The search for skills stopped after 3 folders; the rest was not searched."


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    for name in ("aa", "bb", "group/zz-last"):
        terminal.skill(f"{SKILLS}/{name}")
    return terminal


def test_a_name_that_is_missing_behind_a_limit_is_explained_with_the_limit(terminal):
    terminal.write(
        "home/.config/prowess/profiles/brief.toml", 'name = "brief"\nextends = "codex"\n[limits]\n'
    )
    whole = terminal.run("explain", "zz-first", "--host", "brief")
    assert (whole.code, "not everything was looked at" in whole.out) == (3, False)
    with (terminal.home / ".config/prowess/profiles/brief.toml").open("a") as file:
        file.write("folders_per_root = 3\n")
    answer = terminal.run("explain", "zz-first", "--host", "brief")
    assert answer.code == 3
    assert answer.out.splitlines()[:2] == [
        "brief finds no skill named “zz-first” here.",
        f"It may still exist; the scan is incomplete. .agents/skills: {CUT}",
    ]
    shaped = json.loads(terminal.run("explain", "zz-first", "--host", "brief", "--json").out)
    assert [(one["code"], one["file"], one["message"]) for one in shaped["cut"]] == [
        ("limit-reached", terminal.path(SKILLS), CUT)
    ]


def test_a_limit_on_skills_is_a_finding_of_check(terminal):
    terminal.write("project/prowess.toml", "[limits]\nskills_per_root = 1\n")
    states = {
        one["name"]: one["state"]
        for one in terminal.json("list", "--all")["skills"]
        if "/project/" in one["location"]
    }
    assert states == {"aa": "ready", "bb": "skipped", "zz-last": "skipped"}
    answer = terminal.run("check", "--json")
    found = [one for one in json.loads(answer.out)["diagnostics"] if one["code"] == "limit-reached"]
    assert [(one["file"], one["message"]) for one in found] == [
        (terminal.path(SKILLS), "The folder has 3 skills; only the first 1 is read.")
    ]
