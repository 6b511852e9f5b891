"""The catalog as a report: its format, what was cut, and the sentences about it."""

from __future__ import annotations

import pytest

from prowess.errors import UsageError
from prowess.model.catalog import Catalog, CatalogLine, Shown
from prowess.reports.catalog_report import (
    Cut,
    group_cuts,
    load_catalog,
    load_tool_catalog,
    pair_lines,
    render_empty,
    render_over_budget,
    render_shown_counts,
    render_size,
)
from tests.unit.reports.folders import HOME, PROJECT, open_project, skill

CATALOG = Catalog(
    text="x" * 1200,
    lines=(
        CatalogLine("a", Shown.WHOLE),
        CatalogLine("b", Shown.SHORTENED, why="too long"),
        CatalogLine("c", Shown.LEFT_OUT, why="no room"),
        CatalogLine("d", Shown.SHORTENED, why="too long"),
        CatalogLine("e", Shown.INJECTED),
    ),
    characters=1200,
    tokens=300,
    budget=1000,
    over_budget=True,
)


def test_skills_that_were_cut_alike_are_told_together():
    assert group_cuts(CATALOG) == [
        Cut(Shown.SHORTENED, "too long", ("b", "d")),
        Cut(Shown.LEFT_OUT, "no room", ("c",)),
    ]


def test_sizes_and_counts_in_words():
    assert render_size(CATALOG) == "1,200 of 1,000 characters, about 300 tokens (an estimate)"
    assert render_shown_counts(CATALOG) == "1 injected, 1 whole, 2 shortened, 1 left out"
    assert render_over_budget(CATALOG) == (
        "The catalog is over budget: it has 1,200 characters, and 1,000 are allowed."
        " This host does not shorten it further."
    )


def test_an_empty_catalog_says_what_was_found_instead():
    nothing = open_project({}, host="codex").snapshot
    assert render_empty(nothing) == "The model sees no skills here, by the rules of codex."
    hidden = open_project({".agents/skills/x/SKILL.md": skill("x", hide="true")}).snapshot
    assert render_empty(hidden) == (
        "The model sees no skills here, by the rules of prowess. Found 1 file: 1 hidden."
    )


def test_the_format_is_the_hosts_own_unless_one_is_given():
    skills = open_project({".agents/skills/x/SKILL.md": skill("x")})
    assert load_catalog(skills).format == skills.profile.catalog.format
    report = load_catalog(skills, format="json")
    assert (report.format, report.catalog.text[:1]) == ("json", "[")


def test_the_list_of_a_tool_leaves_out_injected_bodies():
    skills = open_project({".agents/skills/x/SKILL.md": skill("x", always="true")})
    assert load_catalog(skills).catalog.always != ""
    report = load_tool_catalog(skills)
    assert (report.format, report.catalog.always) == (skills.profile.catalog.tool_format, "")


def test_a_host_without_a_list_in_its_tool_names_those_that_have_one():
    with pytest.raises(UsageError) as raised:
        load_tool_catalog(open_project({}, host="claude-code"))
    assert str(raised.value) == (
        "claude-code does not list skills in its tool description; prowess and"
        " opencode@documented do."
    )


def test_lines_belong_to_files_where_two_keep_one_name():
    files = {
        ".agents/skills/x/SKILL.md": skill("x", "First."),
        "~/.agents/skills/x/SKILL.md": skill("x", "Second."),
    }
    skills = open_project(files, host="codex")
    paired = pair_lines(skills, skills.catalog())
    assert [(outcome.candidate.location, line.text) for outcome, _, line in paired] == [
        (f"{PROJECT}/.agents/skills/x/SKILL.md", "First."),
        (f"{HOME}/.agents/skills/x/SKILL.md", "Second."),
    ]


def test_json_has_a_line_for_each_skill():
    shape = load_catalog(open_project({".agents/skills/x/SKILL.md": skill("x")})).shape()
    assert shape["counts"] == {"whole": 1}
    assert shape["lines"] == [
        {"name": "x", "shown": "whole", "why": None, "text": shape["lines"][0]["text"]}
    ]
