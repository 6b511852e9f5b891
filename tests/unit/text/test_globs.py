"""Glob patterns over names, as omp's settings have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.text.globs import find_match
from tests.effort import soon


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
    assert find_match(name, (pattern,)) == (pattern if matches else None)


def test_the_first_pattern_that_matches_is_named() -> None:
    assert find_match("beta", ("alpha", "b*", "beta")) == "b*"
    assert find_match("beta", ()) is None


@given(pattern=st.text(max_size=12), name=st.text(max_size=12))
def test_no_pattern_breaks_the_matcher(pattern: str, name: str) -> None:
    assert find_match(name, (pattern,)) in (pattern, None)


@given(name=st.text(st.characters(exclude_characters="*?[]{}\\!,"), max_size=12))
def test_a_plain_name_matches_only_itself(name: str) -> None:
    assert find_match(name, (name,)) == name
    assert find_match(name + "x", (name,)) is None


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*a" * 12 + "c", "a" * 60 + "b"),
        ("*a*a*a*a*c", "a" * 10_000 + "b"),
        ("**a*b" * 6 + "c", "a" * 2_000),
        ("{a,a,a}" * 30 + "c", "a" * 200 + "b"),
        ("{*,*}" * 8 + "c", "a" * 200 + "b"),
        ("{" * 300 + "a" + "}" * 300 + "c", "a" * 200),
        ("[" * 2_000, "a"),
    ],
)
def test_no_pattern_is_slow(pattern: str, name: str) -> None:
    assert soon(lambda: find_match(name, (pattern,))) is None


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("{a,{b,c}d}e", "cde", True),
        ("{a,{b,c}d}e", "ae", True),
        ("{a,{b,c}d}e", "be", False),
        ("{a,}b", "b", True),
        ("x{,y}", "x", True),
        ("{*,x/y}", "x/y", True),
        ("{*,x/y}", "x/z", False),
        ("**/b*d", "a/bc/bd", True),
        ("**/b*d", "a/bc/d", False),
        ("a,b", "a,b", True),
        ("[z-a]", "[z-a]", True),
        ("{a,b", "{a,b", True),
        ("a}", "a}", True),
    ],
)
def test_braces_nest_and_may_be_empty(pattern: str, name: str, matches: bool) -> None:
    assert find_match(name, (pattern,)) == (pattern if matches else None)


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [("[a&&b]", "a&b"), ("[a||b]", "a|b"), ("[a~~b]", "a~b"), ("[+--]", "+,-"), ("[--/]", "-./")],
)
def test_no_range_means_more_to_python_than_to_a_shell(pattern: str, matching: str) -> None:
    # The suite turns warnings into errors, and Python warns of sets that it may read otherwise.
    found = [name for name in "abc+,-./|&~" if find_match(name, (pattern,))]
    assert sorted(found) == sorted(matching)
