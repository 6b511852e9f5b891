"""What the tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    """A terminal in a repository, where everything that Prowess remembers lies below the made-up
    home.
    """
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    return terminal
