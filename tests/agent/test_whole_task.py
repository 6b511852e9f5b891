"""One whole task from a script file: an issue, a skill and its script, two edits, tests, a commit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from prowess.agent.events import SkillLoaded, ToolFinished, ToolStarted
from tests.agent.studio import Studio, pick
from tests.workspace import skill_text

SCRIPT = Path(__file__).parent / "whole_task.jsonl"
RULES = {
    "allow": [
        "Edit(src/*)",
        "Edit(tests/*)",
        "Bash(python3 *)",
        "Bash(git add *)",
        "Bash(git commit *)",
        "Bash(git log *)",
    ]
}


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
    (project / ".git").rmdir()
    studio.write("issues/42.md", "# 42: high water is rounded down\n\nround() it to 1 digit.\n")
    studio.write("src/tides.py", "def height(metres):\n    return int(metres)\n")
    studio.write(
        "tests/test_tides.py",
        "import sys\nsys.path.insert(0, 'src')\nfrom tides import height\n"
        "assert height(3.0) == 3\nprint('ok')\n",
    )
    studio.write(
        ".agents/skills/fix-issue/SKILL.md",
        skill_text(
            "fix-issue",
            "Fixes a numbered issue. Use when someone names an issue.",
            "1. Run scripts/where.py with the number; it names the file.\n"
            "2. Fix the file, add a test, run the tests.\n3. Commit as `Fix #NUMBER: TITLE`.\n",
        ),
    )
    studio.write(
        ".agents/skills/fix-issue/scripts/where.py",
        "import sys\nprint(f'issue {sys.argv[1]}: src/tides.py')\n",
    )
    git(project, "init", "-q")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(project, "config", key, value)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Begin")
    studio.trust()
    return project


@pytest.mark.needs("git", "python3")
def test_a_model_fixes_an_issue_from_reading_it_to_the_commit(studio, project):
    rules = {**RULES, "allow": [*RULES["allow"], "Bash(*where.py*)"]}
    ended, events = studio.run(text="Fix issue 42.", model=f"script:{SCRIPT}", rules=rules)
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
    assert git(project, "log", "--format=%s") == "Fix #42: high water is rounded down\nBegin\n"
    assert git(project, "status", "--porcelain") == ""
    assert "round(metres, 1)" in studio.read("src/tides.py")


def test_the_script_of_the_task_is_valid_json_lines():
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"prowess-script": 1}
    assert all(isinstance(json.loads(line), dict) for line in lines)
