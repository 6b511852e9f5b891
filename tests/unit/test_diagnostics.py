"""The table of codes, former codes, and the limit on diagnostics of one code."""

from __future__ import annotations

import re

import pytest

from prowess.diagnostics import (
    CODES,
    MOST_PER_CODE,
    Diagnostic,
    Severity,
    diagnose,
    find_code,
    limit_diagnostics,
)

FORMER = {what.formerly: code for code, what in CODES.items() if what.formerly is not None}


def test_every_former_code_leads_to_one_code_of_today():
    assert len(FORMER) == 15
    assert {old: find_code(old) for old in FORMER} == FORMER
    assert not FORMER.keys() & CODES.keys()


def test_a_code_of_today_is_found_by_its_own_name_and_no_other_name_is():
    assert [find_code(code) for code in CODES] == list(CODES)
    assert (find_code("repaired-everything"), find_code("")) == (None, None)


def test_codes_say_what_is_wrong_and_not_what_was_repaired():
    assert [code for code in CODES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)] == []
    assert [code for code in CODES if code.startswith("repaired")] == []


def test_summaries_and_hints_are_sentences():
    for code, what in CODES.items():
        assert (what.summary[-1], what.hint[-1]) == (".", "."), code


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (diagnose("utf16", "M."), "M. [utf16]"),
        (diagnose("utf16", "M.", file="/a"), "/a: M. [utf16]"),
        (diagnose("utf16", "M.", file="/a", line=3), "/a:3: M. [utf16]"),
        (diagnose("utf16", "M.", line=3), ":3: M. [utf16]"),
    ],
)
def test_a_diagnostic_prints_as_one_line(finding: Diagnostic, text: str) -> None:
    assert str(finding) == text


def test_the_diagnostics_of_a_code_are_limited_and_the_rest_is_counted():
    many = [diagnose("value-cut", f"{n}.", line=n) for n in range(MOST_PER_CODE + 2)]
    few = [diagnose("utf16", "M.")]
    *kept, count = limit_diagnostics([*many, *few])
    assert kept == [*many[:MOST_PER_CODE], *few]
    assert (count.code, count.line, count.message) == (
        "value-cut",
        MOST_PER_CODE,
        "2 more like this, starting here.",
    )


def test_the_count_has_the_highest_severity_of_what_it_counts():
    many = [diagnose("field-unknown", "M.") for _ in range(MOST_PER_CODE + 1)]
    worse = diagnose("field-unknown", "M.", severity=Severity.WARNING)
    count = limit_diagnostics([*many, worse])[-1]
    assert (count.severity, count.message) == (Severity.WARNING, "2 more like this.")


def test_few_diagnostics_are_all_kept():
    few = [diagnose("utf16", "M.")] * MOST_PER_CODE
    assert limit_diagnostics(few) == tuple(few)
