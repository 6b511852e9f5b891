"""What the tests of the agent share: a project, scripts, and sessions in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.studio import Studio


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """A project in a repository, and a home in which sessions are kept."""
    made = Studio(tmp_path)
    monkeypatch.chdir(made.workspace.project)
    yield made
    made.close()
