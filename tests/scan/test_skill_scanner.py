"""Cisco's skill-scanner beside the scan, with a stand-in that prints what release 2.3.2 printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from prowess.diagnostics import Severity
from prowess.supply.scan.skill_scanner import parse_report
from tests.cli.terminal import Terminal
from tests.workspace import skill_text

RECORDED = Path(__file__).with_name("skill_scanner_report.json")


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    made = Terminal(tmp_path, monkeypatch, capsys)
    made.write("project/.agents/skills/evil/SKILL.md", skill_text("evil", "Use when evil."))
    return made


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Put a program of that name on the PATH, outside the project."""
    folder = tmp_path / "tools"
    folder.mkdir()
    path = folder / "skill-scanner"
    path.write_text(f"#!{sys.executable}\n{program}")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


STAND_IN = f"""
import sys
assert sys.argv[1] == "scan" and sys.argv[3:] == ["--format", "json", "--compact"], sys.argv
sys.stdout.write(open({str(RECORDED)!r}).read())
sys.exit(1)
"""


def test_a_recorded_report_is_read_with_severities_files_and_lines():
    found = list(parse_report(RECORDED.read_text(), "/skills/evil"))
    assert len(found) == 10
    first = next(one for one in found if one.code.endswith("PROMPT_INJECTION_IGNORE_INSTRUCTIONS"))
    assert (first.severity, first.file, first.line) == (
        Severity.ERROR,
        "/skills/evil/SKILL.md",
        6,
    )
    assert first.message == (
        "Attempts to override previous system instructions:"
        " Pattern detected: Ignore all previous instructions"
    )
    assert {one.severity for one in found} == set(Severity)


def test_its_findings_are_added_under_codes_of_their_own(tmp_path, terminal, monkeypatch):
    install(tmp_path, monkeypatch, STAND_IN)
    answer = terminal.run("scan", "evil", "--with-skill-scanner", "--json")
    assert (answer.code, answer.err) == (1, "")
    codes = [one["code"] for one in json.loads(answer.out)["findings"]]
    assert "skill-scanner:PIPELINE_TAINT_FLOW" in codes
    sarif = terminal.run("scan", "evil", "--with-skill-scanner", "--format", "sarif")
    rules = json.loads(sarif.out)["runs"][0]["tool"]["driver"]["rules"]
    assert {"id": "skill-scanner:PIPELINE_TAINT_FLOW"} in rules


def test_without_the_program_it_says_how_to_get_it(terminal, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    answer = terminal.run("scan", "evil", "--with-skill-scanner")
    assert (answer.code, answer.out) == (2, "")
    assert "skill-scanner is not on the PATH. Install it" in answer.err


def test_a_program_that_fails_is_an_error_and_not_a_clean_result(tmp_path, terminal, monkeypatch):
    install(tmp_path, monkeypatch, "import sys\nsys.exit('No such policy: strict')\n")
    answer = terminal.run("scan", "evil", "--with-skill-scanner")
    assert (answer.code, "No such policy: strict" in answer.err) == (4, True)


def test_a_program_of_the_project_is_not_run(tmp_path, terminal, monkeypatch):
    terminal.write("project/bin/skill-scanner", "#!/bin/sh\necho '{\"findings\": []}'\n")
    (tmp_path / "project/bin/skill-scanner").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/project/bin:/usr/bin:/bin")
    assert terminal.run("scan", "evil", "--with-skill-scanner").code == 2
