"""Patterns of arguments: what they mean, what they refuse, and that none takes long."""

from __future__ import annotations

import pytest

from prowess.text.value_pattern import PatternError, parse_pattern
from tests.effort import soon


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("", [""], ["a"]),
        ("abc", ["abc"], ["ab", "abcd", ""]),
        ("[0-9]+", ["0", "123"], ["", "1a", "-1"]),
        (r"v?\d{1,3}\.\d+", ["1.2", "v123.45"], ["v1", "1234.5", "v1x2"]),
        ("^[a-z-]*$", ["", "a-b"], ["A", "a b"]),
        (r"\$\d", ["$1"], ["1"]),
        ("[^/ ]+", ["a.b"], ["a/b", ""]),
        ("[]x]", ["]", "x"], ["a"]),
        ("a{2}b{2,}c{0,1}", ["aabb", "aabbbc"], ["abb", "aab", "aabbcc"]),
        (".*", ["", "a\nb", "北京"], []),
        (r"\w+@\w+\.com", ["me@x.com"], ["me@x.org"]),
    ],
)
def test_a_pattern_covers_the_whole_value(
    pattern: str, matching: list[str], other: list[str]
) -> None:
    parsed = parse_pattern(pattern)
    assert [value for value in matching if not parsed.matches(value)] == []
    assert [value for value in other if parsed.matches(value)] == []


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a+)+", "`(a+)+` in it is not supported"),
        ("a|b", "`|b` in it is not supported"),
        ("a**", "`*` in it is not supported"),
        ("[a", "`[a` in it is not supported"),
        ("[b-a]", "`[b-a]` in it is not supported"),
        ("[a--b]", "`[a--b]` in it is not supported"),
        ("a\\", "`\\` in it is not supported"),
        (r"\1", r"`\1` in it is not supported"),
        ("a{3,1}", "`{3,1}` in it is not supported"),
        ("a{9999}", "`{9999}` in it is not supported"),
        ("a{200}b{200}", "it repeats more than 300 characters"),
        ("a" * 201, "it has 201 characters; at most 200 are allowed"),
    ],
)
def test_a_pattern_of_another_kind_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern(pattern)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("a*" * 99 + "b", False),
        (".*" * 99 + "x", False),
        ("a?" * 66 + "a{100}", False),
        ("[ab]*" * 39, True),
    ],
)
def test_no_pattern_takes_long(pattern: str, matches: bool) -> None:
    assert soon(lambda: parse_pattern(pattern).matches("a" * 2_000)) is matches


def test_a_value_that_is_too_long_matches_nothing() -> None:
    assert parse_pattern("a*").matches("a" * 2_000)
    assert not parse_pattern("a*").matches("a" * 2_001)
