"""A user at the command line: a home, a project, and commands run through the real entry point."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from prowess.cli import main
from tests.workspace import Workspace

# A key that must not be seen anywhere.
SECRET = "sk-live-0123456789abcdef"


class Answer(NamedTuple):
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


class Terminal(Workspace):
    """A workspace whose project is the working folder and whose home is the user's."""

    def __init__(
        self, root: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        super().__init__(root)
        self._capture = capture
        patch.chdir(self.project)
        patch.setenv("HOME", str(self.home))
        patch.setenv("PROWESS_CACHE_DIR", str(root / "cache"))

    def run(self, *arguments: str) -> Answer:
        """Run `prowess` with these arguments."""
        self._capture.readouterr()
        code = main(list(arguments))
        out, err = self._capture.readouterr()
        return Answer(code, out, err)

    def json(self, *arguments: str) -> Any:
        """Run a command that must succeed with `--json`, and read what it printed."""
        answer = self.run(*arguments, "--json")
        assert (answer.code, answer.err) == (0, "")
        return json.loads(answer.out)

    def tree(self, folder: str = "project") -> list[str]:
        """Every file and empty folder below a folder, by relative path; `.git` left out."""
        top = self.root / folder
        return sorted(
            os.path.relpath(path, top) + ("/" if path.is_dir() else "")
            for path in top.rglob("*")
            if ".git" not in path.relative_to(top).parts
            and not (path.is_dir() and any(path.iterdir()))
        )
