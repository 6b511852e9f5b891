"""A misspelt option is an error for a type checker, and every path may be a `Path`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from prowess.runtime import Skills
from prowess.sources import Folder
from tests.workspace import Workspace

PROGRAM = """
from pathlib import Path
from prowess import Files, Folder, Package, Skills

skills = Skills.open(Path("."), host="prowess", refresh="manual", trust=True, usage=False)
skills = Skills.of(Folder(Path("a")), Package("b"), Files({"c/SKILL.md": ""}), cwd=Path("."))
skills.conversation(include=["a"], allow=lambda skill: skill.name != "x").touched(Path("x"))
skills.catalog(characters=1_000).prompt
{wrong}
"""
WRONG = [
    'Skills.open(".", hots="omp")',
    'Skills.open(".", refresh="often")',
    'Skills(".", trust="yes")',
    'Skills.of(Folder("a", scop="user"))',
    'Skills.of("a")',
    "skills.conversation().catalog(charcters=7)",
    "skills.conversation().tool(lised=False)",
    "skills.conversation(includ=[])",
]


@pytest.mark.slow
def test_misspelt_options_are_errors_for_mypy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("{wrong}", "\n".join(WRONG)))
    first = PROGRAM.splitlines().index("{wrong}") + 1
    answer = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    found = {int(line.split(":")[1]) for line in answer.stdout.splitlines() if "error:" in line}
    assert found == set(range(first, first + len(WRONG))), answer.stdout + answer.stderr


def test_a_misspelt_option_is_refused_when_it_runs() -> None:
    with pytest.raises(TypeError, match="hots"):
        Skills.open(".", hots="omp")  # type: ignore[call-arg]


def test_paths_may_be_paths(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/.claude/skills/sql", paths="'*.sql'")
    workspace.skill("more/.claude/skills/extra")
    skills = workspace.open("claude-code", add_dirs=[workspace.root / "more"])
    chat = skills.conversation()
    assert [skill.name for skill in chat.touched(Path("a.sql"))] == ["sql"]
    assert [skill.name for skill in chat.snapshot.skills] == ["extra", "sql"]
    assert len(Skills.of(Folder(workspace.root / "more" / ".claude")).snapshot.outcomes) == 1
