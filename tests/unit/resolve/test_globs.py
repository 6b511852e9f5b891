"""Glob patterns over names, as omp's settings have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.resolve.globs import matches_any


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("alpha", "alpha", True),
        ("alpha", "Alpha", False),
        ("alpha*", "alpha-two", True),
        ("*", "beta", True),
        ("*", "team/x", False),
        ("**", "team/x", True),
        ("team/*", "team/x", True),
        ("*", ".dot", True),
        ("?lpha", "alpha", True),
        ("?lpha", "lpha", False),
        ("[a-c]x", "bx", True),
        ("[a-c]x", "dx", False),
        ("[!a]x", "bx", True),
        ("[^a]x", "ax", False),
        ("{a,b}c", "bc", True),
        ("{a,b*}c", "bbbc", True),
        ("{a,b}c", "cc", False),
        ("!x", "y", True),
        ("!x", "x", False),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a.b", "axb", False),
        ("[", "[", True),
        ("{a", "{a", True),
        ("a+", "a+", True),
    ],
)
def test_a_pattern_matches_as_a_shell_would(pattern: str, name: str, matches: bool) -> None:
    assert matches_any(name, (pattern,)) == (pattern if matches else None)


def test_the_first_pattern_that_matches_is_named() -> None:
    assert matches_any("beta", ("alpha", "b*", "beta")) == "b*"
    assert matches_any("beta", ()) is None


@given(pattern=st.text(max_size=12), name=st.text(max_size=12))
def test_no_pattern_breaks_the_matcher(pattern: str, name: str) -> None:
    assert matches_any(name, (pattern,)) in (pattern, None)


@given(name=st.text(st.characters(exclude_characters="*?[]{}\\!,"), max_size=12))
def test_a_plain_name_matches_only_itself(name: str) -> None:
    assert matches_any(name, (name,)) == name
    assert matches_any(name + "x", (name,)) is None
