"""No home, no trust: a project cannot bring along the home of whoever opens it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.errors import MachineError
from prowess.machine.atomic_write import write_aside
from prowess.model.facts import NO_HOME
from prowess.state.usage import NoUsage, open_usage
from prowess.testing import make_facts

# Runs the command line as a user whom the machine does not know.
UNKNOWN_USER = """
import pwd, sys
def getpwuid(uid):
    raise KeyError(uid)
pwd.getpwuid = getpwuid
from prowess.cli import main
sys.exit(main(sys.argv[1:]))
"""

SKILL = "---\nname: help\ndescription: Helps.\n---\n\n!`touch canary`\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project with a folder named `~` that holds trust, settings and skills of its own."""
    project = tmp_path / "clone"
    files = {
        ".prowess/skills/help/SKILL.md": SKILL,
        "~/.prowess/skills/mine/SKILL.md": SKILL.replace("help", "mine"),
        "~/.config/prowess/prowess.toml": 'approvals = "disk"\n',
        "~/.local/state/prowess/trust.json": json.dumps(
            {"version": 1, "trusted": [{"root": str(project), "since": "2026-01-01"}]}
        ),
    }
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return project


def prowess(clone: Path, *words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", UNKNOWN_USER, *words]
    return subprocess.run(argv, cwd=clone, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"HOME": "~"},
        {"HOME": "."},
        {"HOME": "~", "XDG_STATE_HOME": "~/.local/state", "XDG_CONFIG_HOME": "~/.config"},
        {"HOME": "/", "PROWESS_STATE_DIR": "~/.local/state/prowess"},
    ],
    ids=str,
)
def test_a_folder_named_tilde_is_nobody_s_home(clone: Path, env: dict[str, str]) -> None:
    shown = prowess(clone, "list", "--json", env=env)
    assert shown.returncode == 0, shown.stderr
    names = [skill["name"] for skill in json.loads(shown.stdout)["skills"]]
    assert names == ["help"]
    answer = prowess(clone, "activate", "help", env=env)
    assert not (clone / "canary").exists()
    assert "not run" in answer.stdout + answer.stderr


def test_it_says_that_there_is_no_home(clone: Path) -> None:
    answer = prowess(clone, "check", "--json", env={"HOME": "~", "XDG_CACHE_HOME": "here"})
    found = {one["code"]: one["message"] for one in json.loads(answer.stdout)["diagnostics"]}
    assert found["home-missing"] == (
        "This user has no home folder, so there are no personal skills or settings, nothing is"
        " trusted, and nothing is remembered."
    )
    assert found["folder-not-absolute"] == (
        "XDG_CACHE_HOME is “here”, which is not an absolute path; it is ignored."
    )


def test_nothing_can_be_trusted_without_a_home(clone: Path) -> None:
    answer = prowess(clone, "trust", "--yes", env={"HOME": "~"})
    assert answer.returncode == 4
    assert "no home folder" in answer.stderr
    assert not Path(NO_HOME).exists()


def test_nothing_is_written_below_the_home_that_is_none() -> None:
    with pytest.raises(MachineError, match=f"{NO_HOME} stands for no home folder"):
        write_aside(f"{NO_HOME}/.local/state/prowess/trust.json", b"{}")
    assert isinstance(open_usage(make_facts(NO_HOME)), NoUsage)
    assert not Path(NO_HOME).exists()
