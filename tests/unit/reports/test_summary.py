"""A folder at a glance: counts, folders that exist, the worst findings, and what it costs."""

from __future__ import annotations

import pytest

from prowess.diagnostics import Severity
from prowess.model.outcome import State
from prowess.model.skill import Scope
from prowess.reports.summary import CatalogCost, load_summary
from prowess.testing import make_facts
from tests.unit.reports.folders import PROJECT, open_project, skill

FILES = {
    ".agents/skills/pdf/SKILL.md": skill("pdf"),
    ".agents/skills/torn/SKILL.md": "---\nname: torn\n",
    "~/.claude/skills/pdf/SKILL.md": skill("pdf"),
}


def test_states_are_counted_by_scope_and_errors_come_before_warnings():
    summary = load_summary(open_project(FILES))
    assert summary.scopes == {
        Scope.PROJECT: {State.INVALID: 1, State.READY: 1},
        Scope.USER: {State.SHADOWED: 1},
    }
    assert summary.severities == {Severity.ERROR: 1, Severity.WARNING: 1, Severity.INFO: 0}
    assert [finding.code for finding in summary.serious] == ["header-unclosed", "name-collision"]
    assert summary.ready == 1


def test_only_roots_that_exist_are_named_each_folder_once():
    summary = load_summary(open_project(FILES))
    assert [root.path for root in summary.roots] == [
        f"{PROJECT}/.agents/skills",
        "/home/me/.claude/skills",
    ]


@pytest.mark.parametrize("budget", ["lots", "0", "-1", "²", "9" * 5_000])
def test_a_budget_that_is_wrong_is_a_problem_of_the_cost_alone(budget):
    skills = open_project({".claude/skills/a/SKILL.md": skill("a")}, host="claude-code")
    skills.project.view.facts = make_facts(env={"SLASH_COMMAND_TOOL_CHAR_BUDGET": budget})
    summary = load_summary(skills)
    problem = summary.cost.problem or ""
    assert summary.cost == CatalogCost(problem=problem)
    assert "SLASH_COMMAND_TOOL_CHAR_BUDGET" in problem
    assert summary.shape()["cost"] == {"skills": 1, "problem": problem}
