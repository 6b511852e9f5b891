"""A real repository of twelve modules, and batches on it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prowess.agent.batch.command import start_batch
from prowess.agent.jobs.values import Job
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from prowess.runtime import Skills
from tests.agent.jobs.conftest import Yard, starter, wait_until
from tests.agent.studio import Studio

__all__ = ["starter"]

EXAMPLE = Path(__file__).parents[3] / "examples" / "batch"
ONCE = ApprovalAnswer(ApprovalChoice.ONCE)


class Works:
    """The example's repository, with batches that replay scripts."""

    def __init__(self, yard: Yard) -> None:
        self.yard = yard
        self.project = yard.studio.project
        shutil.rmtree(self.project / ".git", ignore_errors=True)
        for one in EXAMPLE.iterdir():
            if one.is_dir():
                shutil.copytree(one, self.project / one.name)
            else:
                shutil.copy(one, self.project)
        (self.project / "script.jsonl").unlink()
        home = yard.studio.workspace.home
        (home / ".gitconfig").write_text(
            "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n"
        )
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "Twelve gauges")
        script = (EXAMPLE / "script.jsonl").read_text(encoding="utf-8")
        self.lines = [json.loads(line) for line in script.splitlines()][1:]

    def git(self, *arguments: str) -> str:
        env = {**self.yard.env(), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments], cwd=self.project, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def skills(self) -> Skills:
        return Skills(self.project, facts=self.yard.facts(), cache=False)

    def add(self, *lines: Any, task: str = "Rename get_level to read_level everywhere.") -> str:
        """Start a batch that replays these lines, by default those of the example."""
        model = self.yard.studio.script(*(lines or self.lines))
        return start_batch(self.skills(), task, model=model, start_worker=False)

    def approve(self, id: str) -> None:
        """Approve the plan when it is shown."""
        self.yard.wait_for(id, "waiting")
        self.yard.jobs.answer(id, ONCE)

    def finish(self, id: str) -> Job:
        (job,) = self.yard.wait(id)
        return job

    def files_on(self, branch: str) -> str:
        """The text of all modules on a branch."""
        names = self.git("ls-tree", "--name-only", branch, "stations/").splitlines()
        return "\n".join(self.git("show", f"{branch}:{name}") for name in names)

    def branches(self) -> list[str]:
        return self.git("branch", "--format=%(refname:short)").splitlines()

    def worktrees(self) -> list[str]:
        listed = self.git("worktree", "list", "--porcelain").splitlines()
        return [line for line in listed if line.startswith("worktree ")]

    def worktree_folders(self) -> list[Path]:
        folder = self.yard.studio.workspace.home / ".cache/prowess/worktrees"
        return list(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def works(studio: Studio, starter: subprocess.Popen[str]) -> Iterator[Works]:
    yard = Yard(studio, None, starter)
    yield Works(yard)
    yard.close()


def wait_while(is_so: Any) -> None:
    wait_until(lambda: not is_so())
