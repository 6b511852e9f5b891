"""What skills cost: how tokens are counted, what each skill costs, and what is saved."""

from __future__ import annotations

import pytest

from prowess.model.catalog import Shown
from prowess.present.tokens import ESTIMATE, TokenCounter, compare_loading
from prowess.reports.cost import (
    CostReport,
    Method,
    SkillCost,
    choose_method,
    list_comparison,
    load_costs,
    render_catalog_cost,
    render_saving,
    sum_costs,
)
from tests.unit.reports.folders import PROJECT, open_project, skill

# Counts words, so that the numbers below can be checked by reading.
WORDS = Method(TokenCounter("words", exact=True, count=lambda text: len(text.split())), "Words.")


def make_report(*bodies: int, reads: int = 2) -> CostReport:
    costs = tuple(
        SkillCost(
            name=f"s{number}",
            location=f"/s{number}/SKILL.md",
            shown=Shown.WHOLE,
            listed=10,
            described=10,
            body=body,
        )
        for number, body in enumerate(bodies)
    )
    return CostReport(
        host="prowess",
        edition="current",
        cwd="/p",
        method=Method(ESTIMATE, "Estimates."),
        window=1000,
        reads=reads,
        skills=costs,
        catalog=50,
        comparison=compare_loading(bodies, catalog=50, reads=reads, window=1000),
    )


class Told:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def progress(self, doing: str, done: int) -> None:
        self.told.append((doing, done))


def test_skills_are_counted_the_most_expensive_first_and_progress_is_reported():
    files = {
        ".agents/skills/small/SKILL.md": skill("small", "Does little.", body="one two\n"),
        ".agents/skills/large/SKILL.md": skill("large", "Does much.", body="word " * 9),
    }
    reporter = Told()
    report = load_costs(open_project(files), WORDS, window=200_000, reads=1, reporter=reporter)
    assert report.skills == tuple(
        SkillCost(
            name=name,
            location=f"{PROJECT}/.agents/skills/{name}/SKILL.md",
            shown=Shown.WHOLE,
            listed=3,
            described=3,
            body=body,
        )
        for name, body in (("large", 9), ("small", 2))
    )
    assert reporter.told == [("counting tokens", 0), ("counting tokens", 1)]
    assert (report.host, report.edition, report.cwd) == ("prowess", "current", PROJECT)


def test_an_injected_body_costs_every_request_and_nothing_more_when_used():
    injected = SkillCost(
        name="a", location="/a", shown=Shown.INJECTED, listed=101, described=5, body=100
    )
    unread = SkillCost(name="b", location="/b", shown=Shown.WHOLE, listed=4, described=4, body=None)
    assert [(one.added, one.total) for one in (injected, unread)] == [(0, 101), (0, 4)]
    assert sum_costs([injected, unread]) == (105, 0)


def test_a_body_that_is_gone_is_not_counted_and_the_others_are():
    files = {f".agents/skills/{name}/SKILL.md": skill(name) for name in ("kept", "gone")}
    skills = open_project(files)
    _ = skills.snapshot
    skills.project.files.write(f"{PROJECT}/.agents/skills/gone/SKILL.md", None)  # type: ignore[attr-defined]
    report = load_costs(skills, WORDS, window=1000, reads=1)
    assert {cost.name: cost.body for cost in report.skills} == {"kept": 1, "gone": None}


@pytest.mark.parametrize(
    ("reads", "line"),
    [
        (0, ("the same, no skill used", 50)),
        (1, ("the catalog and 1 skill, used", 250)),
        (2, ("the catalog and 2 skills, each used once", 450)),
        (9, ("the catalog and 3 skills, each used once", 650)),
    ],
)
def test_the_comparison_says_how_many_skills_are_used(reads, line):
    assert list_comparison(make_report(100, 200, 300, reads=reads)) == [
        ("the catalog, in every request", 50),
        line,
        ("all skills loaded up front", 600),
    ]


def test_what_is_saved_or_not_is_a_sentence():
    assert render_saving(make_report(300, 300, 300)) == (
        "Loading on demand saves 250 tokens, 25.0 % of the window."
    )
    assert render_saving(make_report(10)) == (
        "With so few and short skills, loading all of them up front would save 50 tokens,"
        " 5.0 % of the window."
    )
    assert render_catalog_cost(make_report(10)) == (
        "1 skill costs about 50 tokens in every request, 5.0 % of the window."
    )


def test_a_model_without_a_tokenizer_is_estimated():
    assert choose_method(model="some-model") == Method(
        ESTIMATE, "Token counts are estimates: no exact tokenizer is available for some-model."
    )
    assert choose_method().counter == ESTIMATE
