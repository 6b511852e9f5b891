"""One whole task from a script file: an issue, a skill and its script, two edits, tests, a commit.

The project and the script are in `examples/fix-issue`; the transcript is in the docs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.agent.events import SkillLoaded, ToolFinished, ToolStarted
from tests.agent.studio import Studio, pick
from tests.docs.pages import ROOT, load_blocks
from tests.docs.reader import compare

EXAMPLE = ROOT / "examples" / "fix-issue"
SCRIPT = EXAMPLE / "session.jsonl"
PAGE = ROOT / "docs" / "guides" / "a-whole-task.md"
ALLOWED = ["Skill(fix-issue)", "Edit(src/*)", "Edit(tests/*)", "Bash(*scripts/where.py *)"]


def git(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder.parent / "home")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(studio: Studio) -> Path:
    """A repository with a bug, an issue that describes it, and a skill for such issues."""
    project = studio.project
    shutil.rmtree(project)
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("session.jsonl"))
    git(project, "init", "-q")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(project, "config", key, value)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Begin")
    studio.trust()
    return project


def check_repository(project: Path) -> None:
    assert git(project, "log", "--format=%s") == "Fix #42: high water is rounded down\nBegin\n"
    assert git(project, "status", "--porcelain") == ""
    assert "round(metres, 1)" in (project / "src/tides.py").read_text(encoding="utf-8")


@pytest.mark.needs("git", "python3")
def test_a_model_fixes_an_issue_from_reading_it_to_the_commit(studio, project):
    ended, events = studio.run(
        text="Fix issue 42.", model=f"script:{SCRIPT}", rules={"allow": ALLOWED}
    )
    outcomes = [(one.tool, one.outcome, one.output) for one in pick(events, ToolFinished)]
    assert [outcome for _, outcome, _ in outcomes] == ["done"] * len(outcomes), outcomes
    assert (ended.status, ended.answer) == (
        "done",
        "Fixed: heights are rounded to one digit, and a test says so.",
    ), ended.reason
    assert [one.tool for one in pick(events, ToolStarted)] == [
        "Read",
        "skill",
        "run_skill_script",
        "Read",
        "Edit",
        "Edit",
        "Bash",
        "Bash",
    ]
    assert [one.name for one in pick(events, SkillLoaded)] == ["fix-issue"]
    check_repository(project)


@pytest.mark.needs("git", "python3")
def test_the_transcript_in_the_docs_is_what_the_command_prints(studio, project):
    shown = next(block for block in load_blocks(PAGE) if "prowess run" in block.text)
    command, _, transcript = shown.text.removeprefix("$ ").partition("\n")
    arguments = shlex.split(command.replace("../session.jsonl", str(SCRIPT)))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "prowess", *arguments],
        cwd=project,
        env={**studio.facts.env, "PYTHONPATH": str(ROOT / "src"), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    compare(re.sub(r"\b[0-9a-f]{7} Fix", "4a1c9e0 Fix", done.stdout), transcript, str(PAGE))
    check_repository(project)


def test_the_script_of_the_task_is_valid_json_lines():
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"prowess-script": 1}
    assert all(isinstance(json.loads(line), dict) for line in lines)
