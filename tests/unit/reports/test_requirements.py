"""What a skill requires, what is missing, and what each report says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.diagnostics import Severity
from prowess.errors import UnknownSkill
from prowess.reports.check_report import check_skills
from prowess.reports.requirements import (
    Requirement,
    Way,
    report_ineligible,
    report_requirements,
)
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import skill_text


def open_skills(*, host: str = "prowess", bins: tuple[str, ...] = (), **declared: Any) -> Skills:
    text = skill_text("x", metadata=json.dumps({"openclaw": declared}))
    files = MemoryFiles({"/p/.agents/skills/x/SKILL.md": text, "/p/skills/x/SKILL.md": text})
    return Skills("/p", host=host, facts=make_facts(bins=bins), files=files)


def test_what_is_met_has_no_way_and_what_is_missing_has_one():
    skills = open_skills(bins=("sh",), requires={"bins": ["sh", "jq"]})
    report = report_requirements(skills, "x")
    met = Requirement("program", ("sh",), met=True)
    missing = Requirement(
        "program",
        ("jq",),
        met=False,
        ways=(Way("the skill does not say how to install it on this machine"),),
    )
    assert (report.requirements, report.missing) == ((met, missing), (missing,))
    assert not report.is_eligible


def test_one_of_several_programs_has_each_way_once():
    install = [{"kind": "uv", "package": "both", "label": "Install both"}]
    skills = open_skills(bins=("uv",), requires={"anyBins": ["a", "b"]}, install=install)
    assert report_requirements(skills, "x").missing == (
        Requirement(
            "one-of-programs", ("a", "b"), False, (Way("Install both", "uv tool install both"),)
        ),
    )


def test_a_variable_can_be_set_in_the_shell_and_in_the_settings():
    skills = open_skills(requires={"env": ["KEY"]}, primaryEnv="KEY")
    file = "~/.config/prowess/prowess.toml"
    assert report_requirements(skills, "x").missing[0].ways == (
        Way("set it in your shell or in its startup file", "export KEY=VALUE"),
        Way(f"set `skills.x.env.KEY` in {file}"),
        Way(f"set `skills.x.api_key` in {file}"),
    )


@pytest.mark.parametrize(
    ("host", "requires", "summary"),
    [
        ("prowess", {}, "“x” can be used on this machine."),
        (
            "opencode",
            {"bins": ["jq"]},
            "“x” can be used on this machine: opencode does not check requirements.",
        ),
        (
            "prowess",
            {"bins": ["jq"]},
            "“x” cannot be used on this machine: the program jq cannot be found.",
        ),
    ],
)
def test_the_summary_is_one_sentence(host, requires, summary):
    report = report_requirements(open_skills(host=host, requires=requires), "x")
    assert report.render_summary() == summary
    assert report.shape()["verdict"] == summary


def test_a_skill_that_could_not_be_read_has_no_requirements():
    files = MemoryFiles({"/p/.agents/skills/x/SKILL.md": "---\nname: x\n"})
    report = report_requirements(Skills("/p", facts=make_facts(), files=files), "x")
    assert (report.verdict, report.requirements, report.is_eligible) == (None, (), False)
    assert report.render_summary().startswith(
        "“x” could not be read, so its requirements are unknown: "
    )


def test_a_name_that_nothing_claims_is_unknown():
    with pytest.raises(UnknownSkill):
        report_requirements(open_skills(), "y")


def test_a_check_counts_everything_and_shows_what_is_severe_enough():
    skills = Skills(
        "/p",
        facts=make_facts(),
        files=MemoryFiles(
            {
                "/p/.agents/skills/torn/SKILL.md": "---\nname: torn\n",
                "/p/.agents/skills/b/SKILL.md": skill_text("b"),
                "/p/.claude/skills/b/SKILL.md": skill_text("b"),
            }
        ),
    )
    everything = check_skills(skills)
    errors = check_skills(skills, Severity.ERROR)
    assert [one.code for one in everything.diagnostics] == ["header-unclosed", "name-collision"]
    assert [one.code for one in errors.diagnostics] == ["header-unclosed"]
    assert errors.counts == everything.counts == {Severity.ERROR: 1, Severity.WARNING: 1}
    assert (everything.left_out, errors.left_out) == (0, 1)
    assert everything.shape()["counts"] == {"error": 1, "warning": 1, "info": 0}


def test_a_check_lists_what_cannot_be_used_here():
    skills = open_skills(requires={"bins": ["jq"]})
    report = check_skills(skills)
    assert report.ineligible == report_ineligible(skills)
    assert [one["missing"][0]["names"] for one in report.shape()["ineligible"]] == [("jq",)]
