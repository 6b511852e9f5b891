"""Prowess's own repairs: what the author meant, and a diagnostic that says what was changed."""

from __future__ import annotations

import pytest

from prowess.parse.repair.loop import REPAIRS as TABLE
from tests.unit.parse.rules import PROWESS, SPEC, codes, read, read_fields

WEATHER = """\
name: weather
description: >
Get current weather and forecasts.
NOT for: historical data, severe alerts.
always: false
os: [darwin, linux]
"""

CASES = {
    "colon": ("a: b: c\n", {"a": "b: c"}, [("yaml-unquoted-colon", 2)]),
    "colon-at-the-end": ("a: see below:\n", {"a": "see below:"}, [("yaml-unquoted-colon", 2)]),
    "colon-and-hash": ("a: fix #12: it\nb: c\n", {"a": "fix", "b": "c"}, []),
    "colon-and-comment": ("a: b: c # note\n", {"a": "b: c"}, [("yaml-unquoted-colon", 2)]),
    "colon-and-quotes": ('a: say "x": y\\z\n', {"a": 'say "x": y\\z'}, [("yaml-unquoted-colon", 2)]),
    "colon-over-lines": ("a: one\n  two: three\n  four\nb: c\n", {"a": "one two: three four", "b": "c"}, [("yaml-unquoted-colon", 2)]),
    "colon-nested": ("m:\n  a: b: c\n  d: e\n", {"m": {"a": "b: c", "d": "e"}}, [("yaml-unquoted-colon", 3)]),
    "colon-in-a-list": ("m:\n- a: b: c\n- d\n", {"m": [{"a": "b: c"}, "d"]}, [("yaml-unquoted-colon", 3)]),
    "hint": ("argument-hint: [a] [b]\n", {"argument-hint": "[a] [b]"}, [("yaml-unquoted-bracket", 2)]),
    "hint-before-text": ("description: [OLD] Use: x\n", {"description": "[OLD] Use: x"}, [("yaml-unquoted-bracket", 2)]),
    "hint-braces": ("a: {{x}} y\n", {"a": "{{x}} y"}, [("yaml-unquoted-bracket", 2)]),
    "hint-open": ("argument-hint: [file\n", {"argument-hint": "[file"}, [("yaml-unquoted-bracket", 2)]),
    "at": ("a: @b\n", {"a": "@b"}, [("yaml-reserved-character", 2)]),
    "backtick": ("a: `b` c\n", {"a": "`b` c"}, [("yaml-reserved-character", 2)]),
    "percent": ("a: % of\n", {"a": "% of"}, [("yaml-reserved-character", 2)]),
    "star": ("paths: **/*.md\n", {"paths": "**/*.md"}, [("yaml-reserved-character", 2)]),
    "stars-in-a-list": (
        "paths:\n  - **/*.md\n  - *.py\n  - ok\n",
        {"paths": ["**/*.md", "*.py", "ok"]},
        [("yaml-reserved-character", 3), ("yaml-reserved-character", 4)],
    ),
    "bold": ("a: **b** c: d\n", {"a": "**b** c: d"}, [("yaml-reserved-character", 2)]),
    "dash": ("a: - b: c\n", {"a": "- b: c"}, [("yaml-reserved-character", 2)]),
    "question": ("a: ? b\n", {"a": "? b"}, [("yaml-reserved-character", 2)]),
    "ampersand": ("a: & b\n", {"a": "& b"}, [("yaml-reserved-character", 2)]),
    "tag": ("a: !important b\n", {"a": "!important b"}, [("yaml-reserved-character", 2)]),
    "block-text": ("a: > b\n", {"a": "b\n"}, [("yaml-text-after-block-mark", 2)]),
    "block-text-strip": ("a: |- b: c\nd: e\n", {"a": "b: c", "d": "e"}, [("yaml-text-after-block-mark", 2)]),
    "block-text-and-lines": ("a: | b\n   c: d\n   e\n", {"a": "b\nc: d\ne\n"}, [("yaml-text-after-block-mark", 2)]),
    "tab": ("m:\n\ta: b\n\tc: d\n", {"m": {"a": "b", "c": "d"}}, [("yaml-tab-indentation", 3), ("yaml-tab-indentation", 4)]),
    "tab-before-a-field": (
        "name: a\n\tdescription: b\n",
        {"name": "a", "description": "b"},
        [("yaml-tab-indentation", 3), ("yaml-indented-field", 3)],
    ),
    "tab-on-an-empty-line": ("a: b\n\t\nc: d\n", {"a": "b", "c": "d"}, []),
    "field-indented": ("name: a\n  description: b\n", {"name": "a", "description": "b"}, [("yaml-indented-field", 3)]),
    "fields-indented": (
        "  name: a\n  metadata:\n    b: c\nlicense: d\n",
        {"name": "a", "metadata": {"b": "c"}, "license": "d"},
        [("yaml-indented-field", 2), ("yaml-indented-field", 3)],
    ),
    "json-open": (
        'metadata: {"a": {"b": ["c"]}\nname: d\n',
        {"metadata": {"a": {"b": ["c"]}}, "name": "d"},
        [("yaml-unclosed-bracket", 2)],
    ),
    "list-open": ("allowed-tools: [A, B\nname: c\n", {"allowed-tools": ["A", "B"], "name": "c"}, [("yaml-unclosed-bracket", 2)]),
    "json-over-lines": ('metadata: {\n  "a": {\n    "b": 1\nname: c\n', {"metadata": {"a": {"b": 1}}, "name": "c"}, [("yaml-unclosed-bracket", 4)]),
    "json-at-the-margin": (
        'metadata:\n{\n  "a": 1\n}\nname: b\n',
        {"metadata": {"a": 1}, "name": "b"},
        [("yaml-stray-line", 3), ("yaml-stray-line", 4), ("yaml-stray-line", 5)],
    ),
    "json5-with-a-comment": (
        'metadata: {\n  // why\n  "a": 1,\n}\nname: b\n',
        {"metadata": '{\n  // why\n  "a": 1,\n}', "name": "b"},
        [("yaml-unquoted-bracket", 2)],
    ),
    "quotes-in-quotes": ('a: "b "c" d"\n', {"a": 'b "c" d'}, [("yaml-invalid-quotes", 2)]),
    "apostrophe": ("a: 'it's'\n", {"a": "it's"}, [("yaml-invalid-quotes", 2)]),
    "quote-open": ('a: "b c\nd: e\n', {"a": "b c", "d": "e"}, [("yaml-invalid-quotes", 2)]),
    "quote-and-text": ('a: "b" c\n', {"a": '"b" c'}, [("yaml-invalid-quotes", 2)]),
    "quotes-with-commas": ('a: "b", "c"\n', {"a": '"b", "c"'}, [("yaml-invalid-quotes", 2)]),
    "quote-and-comma": ('"a": "b",\n"c": "d"\n', {"a": "b", "c": "d"}, [("yaml-invalid-quotes", 2)]),
    "backslashes": ('a: "C:\\dir \\n \\d"\n', {"a": "C:\\dir \n \\d"}, [("yaml-invalid-quotes", 2)]),
    "quotes-over-lines": ('a: "b\n  c "d" e\n  f"\ng: h\n', {"a": 'b c "d" e f', "g": "h"}, [("yaml-invalid-quotes", 2)]),
    "stray-line": ("a: b\nc d e\nf: g\n", {"a": "b c d e", "f": "g"}, [("yaml-stray-line", 3)]),
    "stray-line-with-a-colon": (
        "a: b: c\nd e\nf: g\n",
        {"a": "b: c d e", "f": "g"},
        [("yaml-stray-line", 3), ("yaml-unquoted-colon", 2)],
    ),
    "stray-line-before-all": ("some words\na: b\n", {"a": "b"}, [("yaml-stray-line", 2)]),
    "code-fence": ("```yaml\na: b\n```\n", {"a": "b"}, [("yaml-stray-line", 2), ("yaml-stray-line", 4)]),
    "block-at-the-margin": (
        WEATHER,
        {
            "name": "weather",
            "description": "Get current weather and forecasts. NOT for: historical data, severe alerts.\n",
            "always": False,
            "os": ["darwin", "linux"],
        },
        [("yaml-stray-line", 4), ("yaml-stray-line", 5)],
    ),
    "block-with-a-ragged-margin": ("a: >-\n  b: c\n d\ne: f\n", {"a": "b: c d", "e": "f"}, [("yaml-stray-line", 4)]),
    "no-blank": ("name:a\ndescription:b c\n", {"name": "a", "description": "b c"}, [("yaml-missing-space", 2), ("yaml-missing-space", 3)]),
    "wide-colon": ("name：a\ndescription：b：c\n", {"name": "a", "description": "b：c"}, [("yaml-missing-space", 2), ("yaml-missing-space", 3)]),
    "no-break-space": ("name:\u00a0a\nb: c\n", {"name": "a", "b": "c"}, [("yaml-missing-space", 2)]),
    "duplicate": ("a: 1\nb: 2\na: 3\n", {"b": 2, "a": 3}, [("yaml-duplicate-key", 2)]),
    "duplicate-with-lines": ("a:\n  x: 1\nb: 2\na:\n  y: 3\n", {"b": 2, "a": {"y": 3}}, [("yaml-duplicate-key", 2)]),
    "duplicate-nested": ("m:\n  a: 1\n  a: 2\n  b: 3\n", {"m": {"a": 2, "b": 3}}, [("yaml-duplicate-key", 3)]),
    "control-characters": ("a: b\x00c\x1b[0m\n", {"a": "bc[0m"}, [("yaml-invalid-character", 2)]),
    "line-separator": ("a: b\u2028c\n", {"a": "b c"}, [("yaml-invalid-character", 2)]),
    "last-resort": ("a: b\n# c\n  d: e\nf: g\n", {"a": "b # c d: e", "f": "g"}, [("yaml-invalid-value", 2)]),
    "several": (
        "a: b: c\nd: @e\nf: > g\n",
        {"a": "b: c", "d": "@e", "f": "g\n"},
        [("yaml-unquoted-colon", 2), ("yaml-reserved-character", 3), ("yaml-text-after-block-mark", 4)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_repair_gives_what_the_author_meant_and_names_its_line(case):
    header, frontmatter, found = CASES[case]
    reading = read_fields(header)
    assert reading.frontmatter == frontmatter
    assert codes(reading) == found
    assert (reading.valid, reading.lead) == (True, "Body")


@pytest.mark.parametrize(
    "case",
    [
        case
        for case, (_, _, found) in CASES.items()
        if found and case not in ("tag", "line-separator")
    ],
)
def test_without_repairs_the_same_header_is_reported_and_not_read(case):
    reading = read_fields(CASES[case][0], SPEC)
    assert (reading.valid, reading.frontmatter) == (False, {})


@pytest.mark.parametrize("header", ["- a\n- b\n", "just words\n", "a = 1\nb = 2\n"])
def test_a_header_that_is_no_mapping_stays_invalid(header):
    reading = read_fields(header)
    assert (reading.valid, codes(reading)) == (False, [("header-not-a-mapping", None)])


@pytest.mark.parametrize("header", ["", "# only a comment\n", "\n\n", "~\n"])
def test_a_header_with_nothing_in_it_is_empty(header):
    reading = read_fields(header)
    assert (reading.frontmatter, reading.diagnostics, reading.valid) == ({}, (), True)


def test_what_is_sound_is_left_as_it_was_written():
    header = 'a: "b: c" # d\ne:\n  - f: [g, {h: i}]\nj: |\n  k: l\nm: n: o\n'
    reading = read_fields(header)
    assert reading.frontmatter == {
        "a": "b: c",
        "e": [{"f": ["g", {"h": "i"}]}],
        "j": "k: l\n",
        "m": "n: o",
    }
    assert codes(reading) == [("yaml-unquoted-colon", 7)]


def test_forty_broken_values_are_all_repaired():
    header = "".join(f"k{n}: a: {n}\n" for n in range(40))
    reading = read_fields(header)
    assert reading.frontmatter == {f"k{n}": f"a: {n}" for n in range(40)}
    assert codes(reading) == [("yaml-unquoted-colon", n + 2) for n in range(40)]


def test_messages_say_what_is_wrong():
    reading = read_fields("a: b: c\nd: > e\nf: 'it's'\nf: g\n")
    assert [finding.message for finding in reading.diagnostics] == [
        "The value of `a` contains `: `, which YAML reads as a new key.",
        "The value of `d` has text on the line of its block mark `>`.",
        "The value of `f` has an unescaped quote inside its quotes.",
        "`f` appears twice; the one on line 5 is used.",
    ]
    assert [finding.field for finding in reading.diagnostics] == ["a", "d", "f", "f"]


def test_text_cut_off_by_a_comment_is_reported():
    reading = read_fields("description: Fix issue #12 in the tracker\n")
    assert reading.frontmatter == {"description": "Fix issue"}
    assert [str(finding) for finding in reading.diagnostics] == [
        ":2: `description` is cut off before “#12 in the tracker” because ` #` starts a comment. [value-cut]"
    ]
    assert read_fields("description: Fix issues # not a word of it\n").diagnostics == ()


def test_every_word_of_the_schema_has_a_repair():
    from typing import get_args

    from prowess.profiles.schema.header import Repair

    assert set(get_args(Repair)) == set(TABLE)


def test_line_numbers_count_from_the_start_of_the_file_with_a_byte_order_mark_and_crlf():
    reading = read("\ufeff---\r\nname: a\r\n\r\ndescription: b: c\r\n---\r\n", PROWESS)
    assert (reading.frontmatter, codes(reading)) == (
        {"name": "a", "description": "b: c"},
        [("yaml-unquoted-colon", 4)],
    )
