"""Recorded catalogs of releases, line by line and in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prowess.model.catalog import Catalog, Shown
from prowess.present.offer import offer
from tests.conformance.trees import Tree, load_cases


def catalog_of(tree: Tree) -> Catalog:
    """The catalog of a recorded tree as its host makes it for a window of 200,000 tokens."""
    skills = tree.open()
    return offer(
        skills.snapshot, profile=skills.profile, facts=tree.facts(), context_tokens=200_000
    )


@pytest.mark.parametrize("case", load_cases("claude-code"))
def test_claude_code_shows_the_lines_it_was_seen_to_show(
    case: dict[str, Any], tmp_path: Path
) -> None:
    _, _, lines = catalog_of(Tree(case, tmp_path)).text.partition("\n\n")
    assert lines == "\n".join(f"- {line}" for line in case["expect"]["listing"])


@pytest.mark.parametrize(
    "case", [case for case in load_cases("openclaw") if "prompt_skills" in case.values[0]["expect"]]
)
def test_openclaw_shows_the_skills_it_was_seen_to_show(
    case: dict[str, Any], tmp_path: Path
) -> None:
    catalog = catalog_of(Tree(case, tmp_path))
    shown = [line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT]
    assert shown == case["expect"]["prompt_skills"]
