"""A project in memory, opened as any host."""

from __future__ import annotations

from typing import Any

from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import skill_text

HOME = "/home/me"
PROJECT = "/home/me/p"


def open_project(files: dict[str, str], *, host: str = "prowess", **options: Any) -> Skills:
    """The skills of a repository with these files, by paths below it; `~/` is the home folder."""
    placed = {
        f"{HOME}/{path[2:]}" if path.startswith("~/") else f"{PROJECT}/{path}": text
        for path, text in files.items()
    }
    disk = MemoryFiles({f"{PROJECT}/.git/HEAD": "", **placed})
    return Skills(PROJECT, host=host, facts=make_facts(HOME), files=disk, **options)


def skill(name: str, description: str = "Does it.", **fields: str) -> str:
    """The text of a SKILL.md."""
    return skill_text(name, description, **fields)
