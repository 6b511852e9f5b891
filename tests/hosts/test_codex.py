"""Codex, as its source reads."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("length", "state"), [(64, "ready"), (65, "invalid")])
def test_a_name_has_at_most_64_characters(workspace, length, state):
    workspace.git()
    workspace.skill("project/.agents/skills/a", name="n" * length)
    assert workspace.ends(workspace.scan("codex")) == {"project/.agents/skills/a/SKILL.md": state}
