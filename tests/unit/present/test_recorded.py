"""Recorded catalogs of releases, line by line and in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prowess.model.catalog import Catalog, Shown
from prowess.present.catalog import present
from prowess.present.offer import describe_skill
from tests.conformance.trees import Tree, load_cases


def catalog_of(tree: Tree) -> Catalog:
    """The catalog of a recorded tree as its host makes it for a window of 200,000 tokens."""
    skills = tree.open()
    ready = {skill.location: skill for skill in skills.snapshot.skills}
    items = [
        describe_skill(ready[outcome.candidate.location], root=outcome.candidate.root)
        for outcome in skills.snapshot.outcomes
        if outcome.candidate.location in ready
    ]
    rules = skills.profile
    return present(
        items,
        catalog=rules.catalog,
        budget=rules.budget,
        context_tokens=200_000,
        home=str(tree.home),
    )


@pytest.mark.parametrize("case", load_cases("claude-code"))
def test_claude_code_shows_the_lines_it_was_seen_to_show(
    case: dict[str, Any], tmp_path: Path
) -> None:
    _, _, lines = catalog_of(Tree(case, tmp_path)).text.partition("\n\n")
    assert lines == "\n".join(f"- {line}" for line in case["expect"]["listing"])


# The release's list calls a skill with `os: [Linux]` visible to the model, and its prompt leaves it
# out.
AT_ODDS = {"f2_os": ["os-upper"]}


@pytest.mark.parametrize(
    "case", [case for case in load_cases("openclaw") if "prompt_skills" in case.values[0]["expect"]]
)
def test_openclaw_shows_the_skills_it_was_seen_to_show_or_to_call_visible(
    case: dict[str, Any], tmp_path: Path
) -> None:
    catalog = catalog_of(Tree(case, tmp_path))
    shown = [line.name for line in catalog.lines if line.shown is Shown.WHOLE]
    at_odds = AT_ODDS.get(case["case"], [])
    assert [name for name in shown if name not in at_odds] == case["expect"]["prompt_skills"]
    assert sorted(shown) == sorted(
        skill["name"] for skill in case["expect"]["skills"] if skill["modelVisible"]
    )
