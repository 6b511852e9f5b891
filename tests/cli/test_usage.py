"""`prowess usage` and `prowess list --unused`: counts that the user can see, clear and switch off."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from prowess.reports.usage_report import render_time
from prowess.state.usage import UsageFile, usage_path
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for name in ("pdf", "sql", "ship"):
        terminal.skill(f"project/.agents/skills/{name}")
    return terminal


def count(terminal: Terminal) -> UsageFile:
    """Three skills offered twice; one of them used by the user once and by the model twice, on New
    Year's Eve 2020.
    """
    store = UsageFile(usage_path(terminal.facts()), clock=lambda: 1_609_459_199.0)
    skills = {skill.name: skill for skill in terminal.open()}
    for _ in range(2):
        store.note_offered(skills.values())
    store.note_activated(skills["sql"], "user")
    store.note_activated(skills["sql"], "model")
    store.note_activated(skills["sql"], "model")
    return store


COUNTED = """\
NAME  OFFERED  BY USER  BY MODEL  LAST USED         FILE
sql         2        1         2  2020-12-31 23:59  .agents/skills/sql/SKILL.md
pdf         2        0         0  never             .agents/skills/pdf/SKILL.md
ship        2        0         0  never             .agents/skills/ship/SKILL.md

The counts are in ~/.local/state/prowess/usage.sqlite3 and never leave this machine.
To stop counting, put `usage = false` in prowess.toml or set PROWESS_NO_USAGE=1; --clear deletes the counts.
"""


def test_the_counts_are_shown_most_used_first_with_their_place(terminal):
    count(terminal)
    assert terminal.run("usage") == (0, COUNTED, "")


def test_before_anything_was_counted_it_says_so_and_makes_no_file(terminal):
    answer = terminal.run("usage")
    assert (answer.code, answer.out.splitlines()[0]) == (
        0,
        "No counts yet: skills are counted when an agent is offered them or uses one.",
    )
    assert terminal.run("usage", "--clear") == (0, "Deleted the counts of 0 skills.\n", "")
    assert not os.path.lexists(usage_path(terminal.facts()))


def test_json_has_every_count(terminal):
    store = count(terminal)
    told = terminal.json("usage")
    skills = told.pop("skills")
    assert told == {"version": 1, "file": store.path, "counting": True, "diagnostics": []}
    assert skills[0] == {
        "name": "sql",
        "location": terminal.path("project/.agents/skills/sql/SKILL.md"),
        "offered": 2,
        "activated": 3,
        "by_user": 1,
        "by_model": 2,
        "last_offered": "2020-12-31 23:59:59+00:00",
        "last_activated": "2020-12-31 23:59:59+00:00",
    }
    assert [(one["name"], one["last_activated"]) for one in skills[1:]] == [
        ("pdf", None),
        ("ship", None),
    ]


def test_one_name_or_all_of_them_can_be_forgotten(terminal):
    store = count(terminal)
    assert terminal.run("usage", "--clear", "sql") == (
        0,
        "Deleted the counts of “sql”.\n",
        "",
    )
    assert {name for name, _ in store.load_counts()} == {"pdf", "ship"}
    assert terminal.json("usage", "--clear") == {"version": 1, "file": store.path, "forgotten": 2}
    assert store.load_counts() == {}


def test_a_name_that_is_not_counted_is_told_with_the_nearest(terminal):
    store = count(terminal)
    assert terminal.run("usage", "--clear", "pfd") == (
        3,
        "",
        "“pfd” has no counts; nothing was deleted. Did you mean “pdf”?\n",
    )
    assert terminal.run("usage", "--clear", "").code == 3
    assert len(store.load_counts()) == 3


def test_counts_from_before_it_was_switched_off_can_still_be_seen_and_forgotten(
    terminal, monkeypatch
):
    store = count(terminal)
    terminal.write("project/prowess.toml", "\nusage = false\n")
    answer = terminal.run("usage")
    assert answer.out.splitlines()[1].startswith("sql         2        1         2")
    assert answer.out.splitlines()[-1] == "Counting is off: `usage` is false in prowess.toml:2."
    monkeypatch.setenv("PROWESS_NO_USAGE", "1")
    assert terminal.run("usage").out.splitlines()[-1] == "Counting is off: PROWESS_NO_USAGE is set."
    assert terminal.json("usage")["counting"] is False
    assert terminal.run("usage", "--clear").code == 0
    assert store.load_counts() == {}


def test_a_store_that_is_broken_is_told_and_never_cleared_by_accident(terminal):
    path = Path(usage_path(terminal.facts()))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database" * 100)
    answer = terminal.run("usage")
    assert answer.code == 0
    assert "(state-unreadable)" in answer.out
    assert [found["code"] for found in terminal.json("usage")["diagnostics"]] == [
        "state-unreadable"
    ]
    cleared = terminal.run("usage", "--clear")
    assert (
        cleared.code,
        cleared.err.startswith(f"prowess: Could not clear the counts in {path}: "),
    ) == (4, True)
    assert path.read_bytes().startswith(b"this is no database")
    assert terminal.run("list", "--unused").code == 4


def test_a_clock_that_was_wrong_once_hides_nothing():
    assert [render_time(seconds) for seconds in (None, 0.0, 1e300, -1e300, float("nan"))] == [
        None,
        "1970-01-01 00:00:00+00:00",
        None,
        None,
        None,
    ]


def test_names_and_paths_cannot_steer_the_terminal(terminal):
    terminal.skill("project/.agents/skills/x\x1b[31m", name='"\\e[2J"')
    store = UsageFile(usage_path(terminal.facts()))
    store.note_offered(terminal.open().snapshot.skills)
    assert terminal.run("usage").out.replace("\n", "").isprintable()


# Unused skills


def test_skills_that_are_ready_and_were_never_used_are_listed(terminal):
    count(terminal)
    terminal.skill("project/.agents/skills/hidden", hide="true")
    assert terminal.run("list", "--unused") == (
        0,
        "   NAME  STATE  SCOPE    SOURCE          DESCRIPTION\n"
        "●  pdf   ready  project  agents:project  d\n"
        "●  ship  ready  project  agents:project  d\n"
        "\n"
        "2 of 3 ready skills were never used.\n"
        "`prowess usage` shows the counts, `prowess cost` what each skill costs.\n",
        "",
    )
    assert [skill["name"] for skill in terminal.json("list", "--unused")["skills"]] == [
        "pdf",
        "ship",
    ]


def test_being_offered_is_not_being_used_and_another_file_of_the_name_has_its_own_counts(terminal):
    count(terminal)
    (terminal.project / ".agents/skills/sql").rename(terminal.project / ".agents/skills/elsewhere")
    assert [skill["name"] for skill in terminal.json("list", "--unused")["skills"]] == [
        "pdf",
        "ship",
        "sql",
    ]


def test_where_all_were_used_it_says_so(terminal):
    store = UsageFile(usage_path(terminal.facts()))
    for skill in terminal.open():
        store.note_activated(skill, "user")
    assert terminal.run("list", "--unused") == (0, "Every ready skill has been used.\n", "")
    assert terminal.run("list", "--unused", "--deny", "*") == (0, "No skill is ready here.\n", "")


def test_where_nobody_counts_nobody_knows(terminal, monkeypatch):
    monkeypatch.setenv("PROWESS_NO_USAGE", "1")
    assert terminal.run("list", "--unused") == (
        2,
        "",
        "prowess: Usage counting is off (PROWESS_NO_USAGE is set), so unused skills cannot be listed.\n",
    )


def test_unused_and_all_are_two_questions(terminal):
    answer = terminal.run("list", "--unused", "--all")
    assert (answer.code, answer.err) == (
        2,
        "prowess: --all and --unused cannot be used together.\n",
    )


def test_what_was_used_comes_first_in_the_catalog(terminal):
    for name in ("pdf", "sql", "ship"):
        terminal.skill(f"project/.agents/skills/{name}", description=f"{name} " * 20 + ".")
    count(terminal)
    shown = {
        line["name"]: line["shown"] for line in terminal.json("catalog", "--budget", "370")["lines"]
    }
    assert shown == {"pdf": "name-only", "ship": "name-only", "sql": "whole"}


def test_only_the_skills_that_a_host_sees_here(terminal):
    count(terminal)
    terminal.skill("project/.claude/skills/only-there")
    assert [one["name"] for one in terminal.json("usage", "--host", "opencode")["skills"]] == [
        "sql",
        "pdf",
        "ship",
    ]
    answer = terminal.run("usage", "--host", "claude-code")
    assert answer.out.splitlines()[0] == "None of the skills that claude-code sees here has counts."
    assert "leave out --host" in terminal.run("usage", "--host", "codex", "--clear").err
