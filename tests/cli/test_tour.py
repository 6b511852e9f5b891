"""`prowess tour` and the sample workspace it walks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from prowess.machine.files import LocalFiles
from prowess.reports import tour_workspace as sample
from tests.cli.terminal import Terminal

WORKSPACE = Path(__file__).resolve().parent.parent.parent / "examples" / "workspace"
STATES = {
    "invalid": ["chart-legend"],
    "disabled": ["load-test"],
    "shadowed": ["release-notes"],
    "ineligible": ["gauge-readings"],
    "dormant": ["sql-migrations"],
    "hidden": ["house-style"],
    "ready": ["fix-issue", "release-notes", "storm-watch", "tide-tables", "triage"],
}


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def test_the_sample_holds_a_skill_for_every_thing_the_tour_shows(terminal):
    tour = terminal.json("tour")
    assert tour["workspace"] == str(WORKSPACE)
    assert tour["states"] == STATES
    assert [(root["path"], root["files"]) for root in tour["discover"]["roots"]] == [
        (".agents/skills", 3),
        (".claude/skills", 3),
        (".opencode/skills", 2),
        (".omp/skills", 1),
        ("skills", 2),
    ]
    repairs = {
        name: [one["code"] for one in findings]
        for name, findings in tour["parse"]["repaired"].items()
    }
    assert repairs == {"triage": ["yaml-unquoted-colon", "yaml-unquoted-bracket"]}
    assert {one["name"]: one["reason"] for one in tour["gate"]} == {
        "gauge-readings": "the program tide-gauge cannot be found",
        "sql-migrations": "it waits for a file that matches migrations/**/*.sql",
        "house-style": "its header says `hide: true`",
    }


def test_two_hosts_give_two_files_for_one_name(terminal):
    hosts = terminal.json("tour")["hosts"]
    answers = {one["host"]: one["skill"]["location"] for one in hosts["answers"]}
    assert (hosts["name"], answers) == (
        "release-notes",
        {
            "claude-code": ".claude/skills/release-notes/SKILL.md",
            "opencode": ".agents/skills/release-notes/SKILL.md",
        },
    )


def test_every_state_is_decided_in_exactly_one_stage(terminal):
    tour = terminal.json("tour")
    decided = [*tour["parse"]["invalid"], *tour["resolve"], *tour["gate"]]
    assert (
        len(decided) + len(STATES["ready"])
        == tour["discover"]["files"]
        == sum(map(len, STATES.values()))
    )


def test_the_skills_of_the_user_and_of_the_folders_above_do_not_mix_in(terminal, monkeypatch):
    terminal.skill("home/.claude/skills/mine")
    terminal.skill("project/.claude/skills/ours")
    terminal.git()
    shutil.copytree(WORKSPACE, terminal.project / "vendor/workspace")
    monkeypatch.setattr(sample, "find_workspace", lambda: terminal.path("project/vendor/workspace"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", terminal.path("home/.claude"))
    monkeypatch.setenv("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1")
    tour = terminal.json("tour")
    assert tour["states"] == STATES
    assert [one["files"] for one in tour["hosts"]["answers"]] == [3, 8]


def test_it_leaves_nothing_behind(terminal, monkeypatch):
    scratch = terminal.root / "tmp"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = {path: path.stat().st_mtime_ns for path in WORKSPACE.rglob("*")}
    assert terminal.run("tour").code == 0
    assert (list(scratch.iterdir()), terminal.tree("project"), terminal.tree("home")) == (
        [],
        [],
        [],
    )
    assert {path: path.stat().st_mtime_ns for path in WORKSPACE.rglob("*")} == before


def test_what_it_prints_comes_from_the_scan(terminal, monkeypatch):
    changed = terminal.root / "changed"
    shutil.copytree(WORKSPACE, changed)
    shutil.rmtree(changed / ".opencode")
    shutil.rmtree(changed / ".claude/skills/release-notes")
    monkeypatch.setattr(sample, "find_workspace", lambda: str(changed))
    out = terminal.run("tour").out
    assert "4 do, with 8 files:" in out
    assert "8 of 8 were read" in out
    assert "chart-legend" not in out
    assert "One name, two agents" not in out


def test_piped_it_is_plain_lines(terminal):
    answer = terminal.run("tour")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert "\x1b" not in answer.out
    assert [line for line in lines if line != line.rstrip()] == []
    assert (
        "   load-test      – disabled  it is switched off in the settings (prowess.toml:5)" in lines
    )
    assert "   5 + 1 + 1 + 1 + 1 + 1 + 1 = 11 files" in lines
    assert [line for line in lines if line[:1].isdigit()] == [
        "1  Discover  Where are the skills?",
        "2  Parse  What does each one say?",
        "3  Resolve  Which file gets the name?",
        "4  Gate  Can it be offered here and now?",
        "5  Present  What does the model see?",
        "6  Activate  What does it get when a task needs one?",
    ]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_is_wider_than_the_terminal(terminal, monkeypatch, width):
    from rich.cells import cell_len
    from rich.console import Console

    from prowess.cli.terminal import tour_screen

    monkeypatch.setattr(
        tour_screen, "console", lambda: Console(force_terminal=True, width=width, color_system=None)
    )
    lines = terminal.run("tour").out.splitlines()
    long = [line for line in lines if cell_len(line) > width and "/" not in line]
    assert long == []
    assert any(line.strip().startswith("prowess explain release-notes") for line in lines)


def test_a_missing_sample_is_a_sentence(terminal, monkeypatch):
    monkeypatch.setattr(LocalFiles, "find_kind", lambda self, path: None)
    answer = terminal.run("tour")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.endswith(": it is missing from this installation.\n")


def test_it_works_as_a_program_within_two_seconds(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "prowess", "tour", "--json"]
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    before = os.times()
    started = time.monotonic()
    answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    after = os.times()
    spent = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    assert json.loads(answer.stdout)["states"] == STATES
    # Processor time, since other tests run beside this one.
    assert spent < 2.0
    assert json.loads(answer.stdout)["seconds"] <= time.monotonic() - started


def test_the_sample_validates_but_for_the_two_skills_that_are_meant_to_be_broken(terminal):
    answer = terminal.run("validate", str(WORKSPACE), "--json")
    broken = {
        os.path.relpath(one["file"], WORKSPACE): [
            found["code"] for found in one["diagnostics"] if found["severity"] != "info"
        ]
        for one in json.loads(answer.out)["files"]
    }
    assert {file: codes for file, codes in broken.items() if codes} == {
        ".opencode/skills/chart-legend/SKILL.md": ["header-unclosed"],
        ".opencode/skills/triage/SKILL.md": ["yaml-unquoted-colon", "yaml-unquoted-bracket"],
    }


def test_the_tour_shows_what_the_model_would_see_and_what_it_costs(terminal):
    tour = terminal.json("tour")
    present = tour["present"]
    assert present["shown"] == dict.fromkeys(STATES["ready"], "whole")
    assert present["text"].count("\n- ") == 5
    assert present["characters"] == len(present["text"]) < present["budget"] == 8000
    assert 150 < present["estimated_tokens"] < 300
    lines = terminal.run("tour").out.splitlines()
    size = f"{present['characters']:,} of 8,000 characters"
    assert (
        f"   Exactly this text, {size}, about {present['estimated_tokens']} tokens in every request:"
        in lines
    )
    given = [*present["text"].splitlines(), *tour["activate"]["text"].splitlines()]
    assert [line[6:] for line in lines if line.startswith("   │")] == given


def test_the_tour_loads_a_skill_with_its_arguments(terminal):
    loaded = terminal.json("tour")["activate"]
    assert (loaded["name"], loaded["arguments"]) == ("fix-issue", "42 tide-times")
    assert loaded["text"].startswith(
        '<skill_content name="fix-issue">\n# Skill: fix-issue\n\n# Fix issue 42\n'
    )
    assert "\n2. Make a branch named `tide-times`; " in loaded["text"]
    assert "\nBase folder of this skill: .claude/skills/fix-issue\n" in loaded["text"]
    said = f"   Loading “fix-issue 42 tide-times” gives it this, about {loaded['estimated_tokens']} tokens:"
    assert 150 < loaded["estimated_tokens"] < 250
    assert said in terminal.run("tour").out.splitlines()


def test_where_nothing_is_ready_the_tour_loads_nothing(terminal, monkeypatch):
    empty = terminal.root / "empty"
    empty.mkdir()
    monkeypatch.setattr(sample, "find_workspace", lambda: str(empty))
    assert terminal.json("tour")["activate"] is None
    assert "6  Activate" not in terminal.run("tour").out


def test_the_sample_can_be_walked_as_any_host(terminal):
    assert {key: terminal.json("tour")[key] for key in ("host", "edition")} == {
        "host": "prowess",
        "edition": "current",
    }
    tour = terminal.json("tour", "--host", "claude-code@documented")
    assert (tour["host"], tour["edition"]) == ("claude-code", "documented")
    assert [root["path"] for root in tour["discover"]["roots"]] == [".claude/skills"]
    for host in ("claude-code", "opencode", "openclaw", "omp", "codex", "spec"):
        answer = terminal.run("tour", "--host", host)
        assert (host, answer.code, answer.err) == (host, 0, "")
        assert (
            f" does with {WORKSPACE}, a small project with skills for several agents." in answer.out
        )
        assert f"prowess cost --host {host}" in answer.out


def test_a_profile_of_ones_own_walks_the_sample_too(terminal):
    terminal.write(
        "home/.config/prowess/profiles/mine.toml",
        'name = "mine"\ntitle = "Mine"\nextends = "claude-code"\n',
    )
    tour = terminal.json("tour", "--host", "mine")
    assert [root["path"] for root in tour["discover"]["roots"]] == [".claude/skills"]
    terminal.write("project/other.toml", 'name = "other"\nextends = "codex"\n')
    assert terminal.json("tour", "--host", "other.toml")["host"] == "other"
