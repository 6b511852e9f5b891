"""Bytes become text, text becomes lines that can be put together again."""

from __future__ import annotations

import pytest

from prowess.parse.header.lines import Line, decode, join_lines, split_lines, strip_mark
from prowess.parse.header.result import find_lead
from prowess.profiles.schema.header import HeaderRules


@pytest.mark.parametrize(
    ("data", "text", "code"),
    [
        (b"plain", "plain", None),
        ("é".encode(), "é", None),
        (b"\xef\xbb\xbf---\n", "---\n", None),
        (b"a\ncaf\xe9\n", "a\ncaf\ufffd\n", "not-utf8"),
        ("---\n".encode("utf-16"), "", "utf16"),
        ("---\n".encode("utf-16-be"), "", "utf16"),
        ("---\n".encode("utf-16-le"), "", "utf16"),
    ],
)
def test_bytes_become_text_without_mark_and_what_is_not_utf8_is_reported(data, text, code):
    decoded, finding = decode(data)
    assert (strip_mark(decoded, HeaderRules()), finding and finding.code) == (text, code)


def test_the_line_that_is_not_utf8_is_named():
    _, finding = decode(b"one\ntwo\ncaf\xe9\n")
    assert finding is not None
    assert (finding.line, finding.message) == (
        3,
        "Line 3 contains bytes that are not UTF-8; they are replaced by U+FFFD.",
    )


def test_a_character_cut_in_two_at_the_end_of_a_large_head_is_no_finding():
    head = ("a" + "é" * 140_000).encode()[: 1 << 18]
    text, finding = decode(head)
    assert (len(text), finding) == (131_073, None)


def test_a_whole_file_that_ends_in_half_a_character_is_told():
    _, finding = decode(("é" * 40_000).encode()[:-1])
    assert finding is not None
    assert (finding.code, finding.line) == ("not-utf8", 1)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", [Line(1, "a", "")]),
        ("a\nb\n", [Line(1, "a", "\n"), Line(2, "b", "\n")]),
        (
            "a\r\n\rb\nc",
            [Line(1, "a", "\r\n"), Line(2, "", "\r"), Line(3, "b", "\n"), Line(4, "c", "")],
        ),
    ],
)
def test_cr_lf_and_crlf_end_a_line(text, lines):
    assert split_lines(text) == lines
    assert join_lines(lines) == text


def test_an_emptied_line_does_not_melt_two_line_ends_into_one():
    assert join_lines([Line(1, "a", "\r"), Line(2, "", "\n"), Line(3, "b", "\n")]) == "a\r\rb\n"


@pytest.mark.parametrize(
    ("body", "lead"),
    [
        ("", ""),
        ("\n \n\t\n", ""),
        ("\n\n# Title\n\ntext", "Title"),
        ("###### Deep  \r\nmore", "Deep"),
        ("####### not a heading", "####### not a heading"),
        ("#tag first", "#tag first"),
        ("#", ""),
        ("Text\rmore", "Text"),
        ("---\n", "---"),
    ],
)
def test_the_lead_is_the_first_line_without_heading_marks(body, lead):
    assert find_lead(body) == lead
