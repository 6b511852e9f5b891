"""The slash commands that OpenClaw's release made of each recorded tree, every key of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prowess.activate.slash.commands import SlashCommand, build_commands
from prowess.model.skill import LoadedFrom
from tests.conformance.trees import Tree, load_cases


def as_openclaw(tree: Tree, command: SlashCommand) -> dict[str, Any]:
    return {
        "name": command.name,
        "displayName": command.display_name,
        "skillFile": tree.relative(command.location),
        "skillName": command.skill_name,
        "description": command.description,
        "modelVisible": command.model_visible,
        "skillSource": "bundled" if command.loaded_from is LoadedFrom.BUNDLED else "workspace",
    }


@pytest.mark.parametrize("case", load_cases("openclaw"))
def test_prowess_makes_the_commands_openclaw_makes(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    skills = tree.open()
    commands = build_commands(skills.snapshot, skills.profile.commands).typable
    assert [as_openclaw(tree, command) for command in commands] == case["expect"]["commands"]
