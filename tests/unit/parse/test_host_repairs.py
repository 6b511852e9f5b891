"""Headers that are not YAML, as each host's release was seen to take them."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from prowess.parse.header.fast import HeaderReading
from prowess.profiles.load import load_profile
from tests.unit.parse.rules import (
    CLAUDE_CODE,
    CODEX,
    EVERY_HOST,
    OMP,
    OPENCLAW,
    OPENCODE,
    codes,
    read_fields,
)

INVALID = None

CASES = {
    ("claude-code", "description: Use when: x\n"): {"description": "Use when: x"},
    ("claude-code", "description: [unclosed\n"): {"description": "[unclosed"},
    ("claude-code", "a: b: c\ntags: [x, y]\n"): {"a": "b: c", "tags": "[x, y]"},
    ("claude-code", 'a: b: c\ntags: "[x, y]"\n'): {"a": "b: c", "tags": "[x, y]"},
    ("claude-code", 'a: say "x": \\y # z\n'): {"a": 'say "x": \\y # z'},
    ("claude-code", "description: first\ndescription: second\n"): {"description": "second"},
    ("claude-code", "description: ok\n\tbad: 1\n"): {},
    ("claude-code", "- a\n- b\n"): {},
    ("claude-code", 'description: "unclosed\n'): {},
    ("opencode", "name: colon\ndescription: Use when: the user asks\n"): {
        "name": "colon",
        "description": "Use when: the user asks",
    },
    ("opencode", "name: a: b\ndescription: d\n"): {"name": "a: b", "description": "d"},
    ("opencode", 'a: He said "x": y # hash\n'): {"a": 'He said "x": y # hash'},
    ("opencode", "name: tabs\n\tdescription: bad\n"): {"name": "tabs", "description": "bad"},
    ("opencode", "name: x\nallowed-tools: a: b\n"): INVALID,
    ("opencode", "name: x\nname: y\n"): INVALID,
    ("opencode", "name: x\ndescription: [unclosed\n"): INVALID,
    ("opencode", "name: x\ndescription: plain multi\n  continued: here\n"): INVALID,
    ("opencode", "name: x\ndescription: @y\n"): INVALID,
    ("opencode", "name: x\ndescription: 'y\n"): INVALID,
    ("opencode", "- a\n"): INVALID,
    ("openclaw", "description: Use when: x: y\n"): {"description": "Use when: x: y"},
    ("openclaw", "description: [unclosed\n"): {"description": "[unclosed"},
    ("openclaw", "description: d\nsummary: a: b\nread_when: c: d\n"): {
        "description": "d",
        "summary": "a: b",
        "read_when": "c: d",
    },
    ("openclaw", "description: d\nsummary: @b\n"): INVALID,
    ("openclaw", "description: d\nfoo: [1, 2\n"): INVALID,
    ("openclaw", "description: d\nname: a: b\n"): INVALID,
    ("openclaw", "description: d\nmetadata:\n\topenclaw: {}\n"): INVALID,
    ("openclaw", "name: a\nname: b\ndescription: d\n"): INVALID,
    ("openclaw", "- a\n- b\n"): INVALID,
    ("omp", "description: Use when: things happen\n"): {"description": "Use when: things happen"},
    ("omp", "name: x\nmetadata:\n\tk: v\ndescription: d\n"): {
        "name": "x",
        "metadata": {"k": "v"},
        "description": "d",
    },
    ("omp", "m:\n  a: b: c\nhide: true\n"): {"m": {"a": "b: c"}, "hide": True},
    ("omp", 'name: x\ndescription: "unclosed\n'): {"name": "x", "description": '"unclosed'},
    ("omp", "name: x\nfoo: [1, 2\nhide: true\n"): {"name": "x", "foo": "[1, 2", "hide": "true"},
    ("omp", "name: x\nname: y\n"): {"name": "y"},
    ("omp", "a: @x\na: y\n  deeper: z\n"): {"a": "y"},
    ("omp", "just a string\n"): {},
    ("codex", "name: x\ndescription: Build for AWS: ECS\n"): {
        "name": "x",
        "description": "Build for AWS: ECS",
    },
    ("codex", "name: x\ndescription: @y\n"): INVALID,
    ("spec", "description: Use when: x\n"): INVALID,
}


@pytest.mark.parametrize(("host", "header"), CASES)
def test_a_host_repairs_what_its_release_repairs_and_nothing_else(host, header):
    expected = CASES[host, header]
    reading = read_fields(header, EVERY_HOST[host])
    assert (reading.frontmatter if reading.valid else INVALID) == expected
    assert reading.diagnostics


@pytest.mark.seed("C-38")
def test_claude_code_quotes_what_breaks_yaml_and_parses_again():
    rules = load_profile("claude-code@documented").header
    reading = read_fields("description: Use when: x\nversion: [1\n", rules)
    assert (reading.frontmatter, reading.valid) == (
        {"description": "Use when: x", "version": "[1"},
        True,
    )
    assert codes(reading) == [("yaml-unquoted-colon", 2), ("yaml-unquoted-colon", 3)]


@pytest.mark.seed("C-38")
def test_a_second_failure_leaves_claude_code_with_the_body_alone():
    rules = load_profile("claude-code@documented").header
    reading = read_fields("description: ok\n\tbad: 1\n", rules)
    assert (reading.frontmatter, reading.lead, reading.valid) == ({}, "Body", True)
    assert codes(reading) == [("yaml-invalid", 3)]


def test_opencode_reads_dates_and_old_numbers_as_values_that_are_no_text():
    header = "a: 2024-01-01\nb: '2024-01-01'\nc: 2001-12-14t21:59:43.10-05:00\nd: 012\ne: 1:30\nf: 1_000\ng: v1\n"
    reading = read_fields(header, OPENCODE)
    assert reading.frontmatter == {
        "a": datetime(2024, 1, 1, tzinfo=UTC),
        "b": "2024-01-01",
        "c": datetime(2001, 12, 15, 2, 59, 43, tzinfo=UTC),
        "d": 10,
        "e": 90,
        "f": 1000,
        "g": "v1",
    }
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(reading), type=HeaderReading) == reading


@pytest.mark.parametrize("host", ["prowess", "claude-code", "omp", "codex"])
def test_a_key_that_appears_twice_changes_no_other_value(host):
    header = "a: text\ntools: [Read, Bash]\nb: {c: 1}\nx y: 1\nx y: 2\n"
    reading = read_fields(header, load_profile(host).header)
    assert reading.frontmatter == {
        "a": "text",
        "tools": ["Read", "Bash"],
        "b": {"c": 1},
        "x y": 2,
    }
    assert len(reading.diagnostics) == 1


def test_a_key_of_two_words_that_appears_twice_is_no_part_of_the_text_above():
    reading = read_fields("a: text\nx y: 1\nx y: 2\n", load_profile("prowess").header)
    assert (reading.frontmatter, codes(reading)) == (
        {"a": "text", "x y": 2},
        [("yaml-duplicate-key", 3)],
    )


def test_opencode_reads_the_sign_of_an_old_number():
    header = "a: -012\nb: +012\nc: -1:30\nd: +1_000\ne: -0b11\nf: -0o17 # eight\ng: -x\nh: '-012'\n"
    assert read_fields(header, OPENCODE).frontmatter == {
        "a": -10,
        "b": 10,
        "c": -90,
        "d": 1000,
        "e": -3,
        "f": "-0o17",
        "g": "-x",
        "h": "-012",
    }


def test_opencode_reads_a_date_after_a_key_in_quotes_and_in_ascii_digits_alone():
    header = "\"a\": 2024-01-01\n'b': 012\nc: ２０２４-０１-０１\nd: 1２\n"
    assert read_fields(header, OPENCODE).frontmatter == {
        "a": datetime(2024, 1, 1, tzinfo=UTC),
        "b": 10,
        "c": "２０２４-０１-０１",
        "d": "1２",
    }


@pytest.mark.parametrize(
    ("value", "items"), [("['a\\']", ["a\\"]), (r'["a\"]"]', ['a"]']), ("['a']", ["a"])]
)
def test_opencode_ends_a_value_at_a_bracket_outside_quotes(value, items):
    rules = load_profile("opencode").header
    reading = read_fields(f"name: x\na: {value} b: y\n", rules)
    assert reading.frontmatter == {"name": "x", "a": items, "b": "y"}


@pytest.mark.parametrize("date", ["2024-13-45", "0001-01-01T00:00:00+14:00"])
def test_a_date_of_no_calendar_is_no_text_either(date):
    assert read_fields(f"a: {date}\n", OPENCODE).frontmatter == {
        "a": datetime(1970, 1, 1, tzinfo=UTC)
    }


@pytest.mark.parametrize("host", ["prowess", "claude-code", "omp", "openclaw"])
def test_dates_are_text_elsewhere(host):
    assert read_fields("a: 2024-01-01\n", EVERY_HOST[host]).frontmatter == {"a": "2024-01-01"}


def test_openclaw_makes_text_of_every_value_but_metadata():
    header = (
        "a: 123\nb: true\nc: [a, 'b', 1.0]\nd: {x: 1.5}\ne:\nf: '  padded '\ng: 1.0\nh: .inf\n"
        "metadata: {openclaw: {always: true}}\ni: >\n  folded\n  text\n"
    )
    assert read_fields(header, OPENCLAW).frontmatter == {
        "a": "123",
        "b": "true",
        "c": '["a","b",1]',
        "d": '{"x":1.5}',
        "f": "padded",
        "g": "1",
        "h": "Infinity",
        "metadata": {"openclaw": {"always": True}},
        "i": "folded text",
    }


@pytest.mark.parametrize("rules", [OPENCODE, OMP, CLAUDE_CODE, CODEX])
def test_anchors_resolve(rules):
    header = "name: &n anchor\ndescription: *n\n"
    assert read_fields(header, rules).frontmatter == {"name": "anchor", "description": "anchor"}


@pytest.mark.parametrize("host", EVERY_HOST)
def test_bytes_that_are_not_utf8_are_replaced_and_reported(host):
    from tests.unit.parse.rules import read

    reading = read(b"---\nname: a\ndescription: caf\xe9\n---\nB", EVERY_HOST[host])
    assert reading.frontmatter == {"name": "a", "description": "caf\ufffd"}
    assert codes(reading) == [("not-utf8", 3)]


@pytest.mark.parametrize("host", EVERY_HOST)
def test_bad_bytes_in_the_body_are_reported_too(host):
    from tests.unit.parse.rules import read

    reading = read(b"---\nname: a\n---\ncaf\xe9\n", EVERY_HOST[host])
    assert (reading.frontmatter, reading.lead, codes(reading)) == (
        {"name": "a"},
        "caf\ufffd",
        [("not-utf8", 4)],
    )
