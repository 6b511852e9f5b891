"""Words that reports share."""

from __future__ import annotations

import pytest

from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.reports.phrases import cite_reason, lower_first, name_host, render_counts


def test_the_current_edition_needs_no_name():
    assert [name_host("omp", edition) for edition in ("current", "documented")] == [
        "omp",
        "omp@documented",
    ]


def test_counts_name_the_ready_ones_first_and_leave_out_none():
    counts = {State.INVALID: 1, State.SHADOWED: 0, State.READY: 1200}
    assert render_counts(counts) == "1,200 ready, 1 invalid"
    assert render_counts({}) == ""


def test_a_reason_names_the_setting_that_decided():
    assert cite_reason(Note(State.HIDDEN, "it is hidden")) == "it is hidden"
    at = Origin("prowess.toml", 5)
    assert cite_reason(Note(State.DISABLED, "off", origin=at)) == "off (prowess.toml:5)"


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("The header is broken", "the header is broken"),
        ("A budget", "a budget"),
        ("SKILL.md is a folder", "SKILL.md is a folder"),
        ("`name` is missing", "`name` is missing"),
        ("", ""),
    ],
)
def test_a_sentence_becomes_the_end_of_another(sentence, part):
    assert lower_first(sentence) == part
