"""Laws of the reader of plain lines: it says what the YAML parser says, or nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prowess.parse.yaml.plain_lines import parse_plain_lines
from prowess.parse.yaml.reader import parse_natively

# Pieces that mean something to YAML, between words that do not.
PIECES = st.sampled_from(
    (
        *("a", "word", "Two words", "x-y", "true", "Null", "no", "e5", "1", "1.10", "0x1F", ".inf"),
        *(":", ": ", " #", "#", "-", "- ", "--", "? ", "*a", "&a", "!t", "|", ">", "%", "@", "`"),
        *('"', "'", '""', "\\", "\\n", "[", "]", "{", "}", ",", " ", "  ", "\t", "~", "=", "<<"),
        *("---", "...", "é", "\u2028", "\x85", "\ufeff", "\x7f", "\x00", "\r"),
    )
)
VALUES = st.lists(PIECES, max_size=5).map("".join)
QUOTED = VALUES.map(lambda text: f'"{text}"') | VALUES.map(lambda text: f"'{text}'")
KEYS = st.sampled_from(("a", "b", "name", "allowed-tools", "x_y", "Zeta", "true", "on", "1", "-x"))
INDENTS = st.sampled_from(("", "", "", "  ", "  ", " ", "    ", "\t"))
LINES = st.builds(
    "{}{}{}{}".format,
    INDENTS,
    KEYS | VALUES,
    st.sampled_from((": ", ": ", ": ", ":", ":  ", " : ", "")),
    VALUES | QUOTED | st.just(""),
)
HEADERS = st.lists(LINES, max_size=7).map("\n".join)


def parse_with_yaml(text: str) -> Any:
    try:
        return parse_natively(text)
    except Exception as error:
        return error


def check_agreement(text: str) -> None:
    plain = parse_plain_lines(text)
    if plain is not None:
        expected = parse_with_yaml(text)
        assert plain == expected
        assert str(plain) == str(expected), "the order of the fields differs"


@given(text=HEADERS | st.text(max_size=60), end=st.sampled_from(("\n", "", " \n", "\n\n")))
@example(text="a: b\n  c: d", end="\n")
@example(text="a:\n  b: c\nd: e\n  f: g", end="\n")
@example(text="a: b\na: c", end="\n")
@example(text="a:\n  b: c\n  b: d", end="\n")
@example(text="a:\nb: c", end="\n")
@example(text="a: b:", end="\n")
@example(text="a: 'it''s'", end="\n")
@example(text='a: "b" c', end="\n")
def test_plain_lines_mean_what_yaml_says_they_mean(text: str, end: str) -> None:
    check_agreement(text + end)


@given(
    lines=st.lists(st.tuples(KEYS, VALUES | QUOTED), min_size=1, max_size=6), nested=st.booleans()
)
def test_lines_of_a_mapping_mean_what_yaml_says_they_mean(
    lines: list[tuple[str, str]], nested: bool
) -> None:
    outer, indent = ("outer:\n", "  ") if nested else ("", "")
    body = outer + "".join(f"{indent}{key}: {value}\n" for key, value in lines)
    check_agreement(body)
    check_agreement(f"first: x\n{body}last: y\n")


@pytest.mark.parametrize(
    "word",
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "none", "infinity"],
)
def test_a_word_is_text_exactly_where_yaml_says_so_in_any_case(word: str) -> None:
    for letters in product(*((one.lower(), one.upper()) for one in word)):
        check_agreement(f"a: {''.join(letters)}\n")
        check_agreement(f"{''.join(letters)}: a\n")


@pytest.mark.parametrize("length", [1, 63, 64, 65, 1023, 1024, 1025, 5000])
def test_long_keys_and_values_mean_what_yaml_says_they_mean(length: int) -> None:
    for text in (f"{'k' * length}: a\n", f"a: {'v' * length}\n", f"a:\n  b: '{'v' * length}'\n"):
        check_agreement(text)


def test_an_ordinary_header_is_read_without_the_parser() -> None:
    header = (
        "name: pdf-tools\n"
        "description: Fill in forms (PDF, v2), merge files; use when someone says `pdf`.\n"
        "allowed-tools: Read Bash(git status *)\n"
        'metadata:\n  author: someone\n  version: "1.10"\n'
        "license: 'MIT'\n"
    )
    assert parse_plain_lines(header) == {
        "name": "pdf-tools",
        "description": "Fill in forms (PDF, v2), merge files; use when someone says `pdf`.",
        "allowed-tools": "Read Bash(git status *)",
        "metadata": {"author": "someone", "version": "1.10"},
        "license": "MIT",
    }
