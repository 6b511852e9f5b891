"""Values as JavaScript prints them, and lists that were written as one line."""

from __future__ import annotations

import pytest

from prowess.parse.yaml.text_values import (
    render_scalar,
    split_commas,
    split_names,
    split_patterns,
    split_tools,
)


# What `String(number)` gives in Node.
@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (123456.789, "123456.789"),
        (0.000123, "0.000123"),
        (1e-5, "0.00001"),
        (-1.5e-6, "-0.0000015"),
        (1e-7, "1e-7"),
        (-1.5e-7, "-1.5e-7"),
        (5e-324, "5e-324"),
        (1e15, "1000000000000000"),
        (1e16, "10000000000000000"),
        (12345678901234567890.0, "12345678901234567000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_a_number_is_printed_as_javascript_prints_it(number, text):
    assert render_scalar(number) == text


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Read", ("Read",)),
        ("Read Bash", ("Read", "Bash")),
        ("Read, Bash,Write", ("Read", "Bash", "Write")),
        ("Bash(git add *) Read", ("Bash(git add *)", "Read")),
        ("Bash(git:*), Bash(npm run test, build)", ("Bash(git:*)", "Bash(npm run test, build)")),
        ('"Read", "Write"', ("Read", "Write")),
        ('["Read","Bash(x y)"]', ("Read", "Bash(x y)")),
        ("mcp__a__b Bash(open", ("mcp__a__b", "Bash(open")),
        (" ,, ", ()),
    ],
)
def test_tools_are_parted_by_blanks_or_commas_outside_parentheses(text, items):
    assert split_tools(text) == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("src/**, *.md", ("src/**", "*.md")),
        ("src/{a,b}/**,docs", ("src/{a,b}/**", "docs")),
        ("a b/*.py", ("a b/*.py",)),
        ("a\nb", ("a", "b")),
        ("{open,b", ("{open", "b")),
        ('["a,b","c"]', ("a,b", "c")),
    ],
)
def test_patterns_are_parted_by_commas_outside_braces(text, items):
    assert split_patterns(text) == items


def test_names_are_parted_by_blanks_or_commas():
    assert split_names("file  count, mode") == ("file", "count", "mode")


def test_words_are_parted_by_commas_alone():
    assert split_commas("darwin, linux , ") == ("darwin", "linux")
