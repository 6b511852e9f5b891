"""A user who installs skills: a terminal in a repository, and sources to install from."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.workspace import skill_text


class Desk(Terminal):
    """A terminal with sources of skills beside the project."""

    def source(self, files: Mapping[str, str | bytes], folder: str = "source") -> Path:
        """Write a folder to install from."""
        for path, content in files.items():
            self.write(f"{folder}/{path}", content)
        return self.root / folder

    def repository(self, files: Mapping[str, str | bytes], name: str = "upstream") -> Path:
        """Commit files to a repository; each call with the same name is one more commit."""
        folder = self.root / name
        if not (folder / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.do_git(folder, "init", "--quiet", "--initial-branch=main")
        for path, content in files.items():
            self.write(f"{name}/{path}", content)
        return self.commit(folder)

    def commit(self, folder: Path) -> Path:
        """Commit everything in a repository as it is."""
        self.do_git(folder, "add", "--all")
        self.do_git(folder, "commit", "--quiet", "--allow-empty", "-m", "change")
        return folder

    def do_git(self, folder: Path, *arguments: str) -> str:
        """Run git in a repository."""
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        plain = ("-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "core.quotePath=0")
        finished = subprocess.run(
            ["git", *identity, *plain, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return finished.stdout.strip()

    def forget(self) -> None:
        """Delete the store and what is installed."""
        shutil.rmtree(self.home / ".local/share")
        shutil.rmtree(self.project / ".agents")

    def installed(self, path: str = ".agents/skills") -> dict[str, bytes]:
        """Every file below a folder of the project."""
        top = self.project / path
        files = [one for one in top.rglob("*") if one.is_file()]
        return {str(one.relative_to(top)): one.read_bytes() for one in sorted(files)}


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Desk:
    """A terminal in a repository, where everything that Prowess keeps is below the made-up home."""
    desk = Desk(tmp_path, monkeypatch, capsys)
    desk.git()
    return desk


def two_skills() -> dict[str, str]:
    """A source with two skills, one of them with a script."""
    return {
        "skills/alpha/SKILL.md": skill_text("alpha", "Does A."),
        "skills/alpha/scripts/run.sh": "#!/bin/sh\necho a\n",
        "skills/beta/SKILL.md": skill_text("beta", "Does B."),
    }
