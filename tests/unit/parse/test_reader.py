"""The guard around the native reader: bounds, keys, tags, and its words for what is wrong."""

from __future__ import annotations

import pytest

from prowess.diagnostics import Severity
from prowess.parse.yaml.reader import parse_yaml
from prowess.profiles.load import load_profile
from prowess.profiles.schema.roots import ScanLimits
from tests.effort import soon
from tests.unit.parse.rules import EVERY_HOST, SPEC, codes, read, read_fields

LIMITS = ScanLimits()


def test_a_few_aliases_are_read():
    assert parse_yaml("name: &n anchor\ndescription: *n\n", LIMITS).value == {
        "name": "anchor",
        "description": "anchor",
    }


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize(
    "header",
    [
        'a: &a "' + "x" * 20_000 + '"\nb: [' + ",".join(["*a"] * 10_000) + "]\n",
        'a: &a "' + "x" * 20_000 + '"\nb: [' + ",".join(["*a"] * 30) + "]\n",
        "a: &a [x, x]\n"
        + "".join(f"{c}: &{c} [{','.join([f'*{chr(ord(c) - 1)}'] * 9)}]\n" for c in "bcdefghij"),
        'a: &a "'
        + "x" * 50_000
        + '"\n'
        + "".join(f"{c}: &{c} [{','.join([f'*{chr(ord(c) - 1)}'] * 3)}]\n" for c in "bcdefghijk"),
    ],
    ids=["long-scalar", "thirty", "bomb", "bomb-below-the-count"],
)
def test_aliases_that_could_grow_are_refused(host, header):
    reading = soon(lambda: read_fields(header, EVERY_HOST[host]))
    assert (reading.frontmatter, codes(reading)) == ({}, [("yaml-aliases", None)])


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize(
    "header",
    [
        "- " * 20_000,
        "[" * 60_000,
        "[" * 20_000 + "]" * 20_000,
        "{a: " * 15_000,
        "? " * 30_000,
        "a:\n" + "- " * 10_000,
        "".join(" " * depth + "a:\n" for depth in range(300)),
    ],
    ids=["dashes", "open", "closed", "mappings", "questions", "below-a-key", "indented"],
)
def test_deep_nesting_is_refused_in_no_time(host, header):
    reading = soon(lambda: read_fields(header + "\n", EVERY_HOST[host]))
    assert (reading.frontmatter, [code for code, _ in codes(reading)]) == ({}, ["yaml-nesting"])


@pytest.mark.parametrize(("depth", "code"), [(63, None), (64, "yaml-nesting")])
def test_nesting_is_bounded_by_the_limit(depth, code):
    header = "".join(" " * level + "a:\n" for level in range(depth)) + " " * depth + "a: x\n"
    trouble = parse_yaml(header, LIMITS).problem
    assert (trouble and trouble.code) == code


def test_keys_that_are_no_text_become_text_and_do_not_collide():
    header = "1: a\ntrue: b\nnull: c\n1.5: d\n- x: y\n"
    assert parse_yaml(header.partition("- ")[0], LIMITS).value == {
        "1": "a",
        "true": "b",
        "null": "c",
        "1.5": "d",
    }
    assert parse_yaml("m:\n  1: a\n  true: b\n", LIMITS).value == {"m": {"1": "a", "true": "b"}}


def test_a_tag_is_not_interpreted():
    loaded = parse_yaml("a: !env HOME\nb: {c: !x [1]}\n", LIMITS)
    assert (loaded.value, loaded.tags) == ({"a": "HOME", "b": {"c": [1]}}, ("!env", "!x"))
    reading = read_fields("a: !env HOME\n", SPEC)
    assert (reading.frontmatter, codes(reading)) == ({"a": "HOME"}, [("yaml-tag", None)])


@pytest.mark.parametrize("host", EVERY_HOST)
def test_nothing_but_the_tagged_value_changes_for_the_sake_of_a_tag(host):
    reading = read_fields("b: [c, d]\na: !env HOME\n", EVERY_HOST[host])
    assert reading.valid
    assert reading.frontmatter["b"] == ('["c","d"]' if host == "openclaw" else ["c", "d"])
    assert reading.frontmatter["a"] == ("!env HOME" if host == "prowess" else "HOME")
    assert len(reading.diagnostics) == 1


def test_a_mapping_with_an_exclamation_mark_among_others_is_a_mapping():
    assert parse_yaml('a: {"!x": 1, b: 2}\n', LIMITS).value == {"a": {"!x": 1, "b": 2}}


@pytest.mark.parametrize(
    ("header", "value", "tags"),
    [
        ('a: {"!x": 1}\nb: !y 2\n', {"a": {"!x": 1}, "b": 2}, ("!y",)),
        ("'!x': 1\n", {"!x": 1}, ()),
        ('a: ["!x", {"!y": !z q}]\n', {"a": ["!x", {"!y": "q"}]}, ("!z",)),
        ('a: say "!x" twice\nb: !x "!y"\n', {"a": 'say "!x" twice', "b": "!y"}, ("!x",)),
        ('a: "\ue000"\n"!x": "!y"\n', {"a": "\ue000", "!x": "!y"}, ()),
    ],
)
def test_a_key_in_quotes_is_never_a_tag(header, value, tags):
    assert parse_yaml(header, LIMITS) == (value, None, tags)


def test_a_key_in_quotes_that_appears_twice_is_named_as_it_is_written():
    problem = parse_yaml('"!x": 1\n"!x": 2\n', LIMITS).problem
    assert problem is not None
    assert (problem.key, problem.why) == ("!x", "the key `!x` appears twice")


@pytest.mark.parametrize("host", ["opencode", "gemini"])
@pytest.mark.parametrize(
    "value",
    [
        "Do it !!now",
        '"Do it !!now"',
        "|\n  Do it\n  !!now",
        "!!str 5",
        "! 5",
        "x # !!now",
        '{"!x": 1}',
        "'!x'",
    ],
)
def test_what_only_looks_like_a_tag_is_no_error_where_tags_must_be_defined(host, value):
    rules = load_profile(host).header
    reading = read_fields(f"name: x\ndescription: d\nk: {value}\n", rules)
    assert (reading.valid, list(reading.frontmatter)) == (True, ["name", "description", "k"])


@pytest.mark.parametrize("tag", ["!x", "!!x"])
@pytest.mark.parametrize("value", ["{tag} 1", "[{tag} 1]", "\n  - {tag} 1"])
def test_a_tag_that_is_not_defined_is_an_error_in_opencode(tag, value):
    rules = load_profile("opencode").header
    reading = read_fields(f"name: x\nk: {value.replace('{tag}', tag)}\n", rules)
    [finding] = reading.diagnostics
    assert (reading.valid, finding.severity) == (False, Severity.ERROR)
    assert finding.message == f"The header cannot be parsed: it has the tag `{tag}`."


def test_json_may_be_nested_as_deeply_as_yaml_and_no_deeper():
    rules = load_profile("opencode").header
    for levels, valid in ((64, True), (65, False), (5_000, False)):
        json = '{"a":' * levels + "1" + "}" * levels
        reading = read(f"---json\n{json}\n---\nBody\n", rules)
        assert (reading.valid, bool(reading.frontmatter)) == (valid, valid)


@pytest.mark.parametrize(
    "number", ["123456789012345678901234", "-9223372036854775809", "99999999999999999999"]
)
def test_numbers_beyond_64_bits_are_text_in_every_host(number):
    for rules in EVERY_HOST.values():
        reading = read_fields(f"name: a\nid: {number}\n", rules)
        assert reading.frontmatter == {"name": "a", "id": number}
        assert codes(reading) == [("yaml-large-number", 3)]


def test_words_of_yaml_1_2_stay_words():
    value = parse_yaml("a: yes\nb: on\nc: no\nd: 012\ne: 1_000\nf: 2024-01-01\n", LIMITS).value
    assert value == {"a": "yes", "b": "on", "c": "no", "d": "012", "e": "1_000", "f": "2024-01-01"}


@pytest.mark.parametrize(
    ("header", "line", "why"),
    [
        ("a: b: c\n", 2, "an unquoted value contains `: `"),
        ("a: | text\n", 2, "text follows a block mark (`|` or `>`) on the same line"),
        ("a: x\nb: @y\n", 3, "a value begins with a reserved character, or a line with a tab"),
        ("a: - b\n", 2, "a list starts on the same line as its key"),
        ("a: *b\n", 2, "a value begins with `*`, and there is no such anchor"),
        ("a: **b**\n", 2, "a value begins with `*` or `&`"),
        ("a: 1\na: 2\n", None, "the key `a` appears twice"),
        ('a: "x\n', 2, "a quote is never closed"),
        ("a: [x\n", 2, "a bracket is never closed"),
        ('a: "\\d"\n', 2, "a backslash in double quotes is not a valid YAML escape"),
        ("a: b\nc\n", 3, "a line is neither `key: value` nor indented"),
        ("a: [b] [c]\n", 2, "text follows a closed value, or the indentation changes"),
        ("a: x\x00y\n", 2, "it contains a control character"),
        ("a: x\n\tb\n", 3, "a tab is used for indentation"),
    ],
)
def test_what_is_wrong_is_said_in_words_with_the_line_of_the_file(header, line, why):
    reading = read_fields(header, SPEC)
    where = f" (line {line})" if line else ""
    [finding] = reading.diagnostics
    assert reading.valid is False
    assert (finding.code, finding.line, finding.message) == (
        "yaml-invalid",
        line,
        f"The header cannot be parsed: {why}{where}.",
    )


@pytest.mark.parametrize("host", EVERY_HOST)
def test_a_header_beyond_the_limit_is_reported(host):
    reading = read_fields("a: " + "x" * 70_000 + "\n", EVERY_HOST[host])
    assert codes(reading) == [("header-too-large", 1)]
    assert reading.valid is (EVERY_HOST[host].broken == "empty")


def test_a_file_of_five_megabytes_is_read_at_its_head():
    reading = read(b"---\nname: a\n---\n" + b"x" * 5_000_000)
    assert reading.frontmatter == {"name": "a"}
