"""Lists that were written as one line."""

from __future__ import annotations

import pytest

from prowess.parse.yaml.text_values import split_commas, split_names, split_patterns, split_tools


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
