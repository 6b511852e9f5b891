"""Errors where JSON was asked for, streams that are closed, and suggestions for what was mistyped."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def run_in_shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line.replace("prowess", f"{sys.executable} -m prowess", 1)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_an_error_is_an_object_on_the_output_and_a_sentence_on_the_error_output(terminal):
    terminal.skill("project/.agents/skills/pdf")
    code, out, err = terminal.run("show", "pdg", "--json")
    assert (code, err) == (3, "prowess: There is no skill named “pdg” here.\nDid you mean “pdf”?\n")
    assert json.loads(out) == {
        "version": 1,
        "error": {
            "kind": "unknown-skill",
            "message": "There is no skill named “pdg” here.",
            "exit_code": 3,
            "hint": "Did you mean “pdf”?",
            "name": "pdg",
            "nearest": ["pdf"],
        },
    }


def test_a_wrong_setting_has_its_file_line_and_key(terminal):
    file = str(terminal.write("project/prowess.toml", '\nenabled = "perhaps"\n'))
    code, out, _ = terminal.run("list", "--json")
    error = json.loads(out)["error"]
    assert (code, error["kind"], error["file"], error["line"], error["key"]) == (
        2,
        "setting-error",
        file,
        2,
        "enabled",
    )


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["list", "--json", "--nonsense"], "usage-error"),
        (["lst", "--json"], "usage-error"),
        (["validate", "nothing-here", "--format", "json"], "usage-error"),
        (["validate", "nothing-here", "--format=json"], "usage-error"),
        (["list", "--json", "--host", "opencod"], "unknown-host"),
    ],
)
def test_every_error_is_of_a_kind(terminal, arguments, kind):
    answer = terminal.run(*arguments)
    error = json.loads(answer.out)["error"]
    assert (answer.code, error["kind"], error["exit_code"]) == (2, kind, 2)
    assert error["message"] in answer.err


def test_without_json_nothing_is_printed_for_programs(terminal):
    assert terminal.run("show", "x").out == ""
    assert terminal.run("list", "--", "--json").out == ""


def test_a_closed_output_is_a_sentence(terminal):
    for command in ("list", "list --json", "tour", "hosts"):
        answer = run_in_shell(f"prowess {command} >&-")
        said = "prowess: stdout is closed, so nothing was done.\n"
        assert (command, answer.returncode, answer.stderr) == (command, 4, said)
    assert run_in_shell("prowess list >&- 2>&-").returncode == 4


def test_a_closed_error_output_is_no_reason_to_stop(terminal):
    terminal.skill("project/.agents/skills/pdf")
    answer = run_in_shell("prowess list --json 2>&-")
    assert (answer.returncode, [one["name"] for one in json.loads(answer.stdout)["skills"]]) == (
        0,
        ["pdf"],
    )


@pytest.mark.parametrize("full", [path for path in ("/dev/full",) if os.path.exists(path)])
def test_a_full_disk_is_a_sentence(terminal, full):
    for command in ("list", "list --json"):
        answer = run_in_shell(f"prowess {command} >{full}")
        assert (answer.returncode, answer.stderr) == (
            4,
            "prowess: No space left on device\n",
        )


def test_a_mistyped_host_edition_or_command_is_told_the_nearest(terminal):
    assert terminal.run("list", "--host", "opncode").err.endswith("\nDid you mean “opencode”?\n")
    assert terminal.run("list", "--host", "omp@documentd").err.endswith(
        "\nDid you mean “omp@documented”?\n"
    )
    assert "Did you mean explain?" in terminal.run("explian", "x").err
