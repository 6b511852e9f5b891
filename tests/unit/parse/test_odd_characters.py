"""Characters and encodings on which YAML parsers, and so the hosts, disagree."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.parse.header.fast import read_header
from prowess.profiles.load import load_profile
from prowess.profiles.schema.header import HeaderRules
from tests.unit.parse.rules import EVERY_HOST, LIMITS, codes, read

HOSTS = {name: load_profile(name).header for name in ("claude-code", "omp", "openclaw", "opencode")}


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\uD83D\uDE00"', "😀"),
        (r'"a \ud83d\ude00\uD83D\uDE00 z"', "a 😀😀 z"),
        (r'"é\\\uD83D\uDE00"', "é\\😀"),
        ('"two\n  lines \\uD83D\\uDE00"', "two lines 😀"),
    ],
)
def test_two_escapes_of_a_surrogate_pair_are_one_character_everywhere(host, written, value):
    reading = read(f"---\nname: a\ndescription: {written}\n---\nBody\n", EVERY_HOST[host])
    assert (reading.frontmatter["description"], reading.valid) == (value, True)


@pytest.mark.parametrize("host", EVERY_HOST)
def test_outside_double_quotes_an_escape_is_text(host):
    text = "---\ndescription: '\\uD83D\\uDE00'\nx: \"\\uD83D\\uDE00\"\n---\n"
    assert read(text, EVERY_HOST[host]).frontmatter == {"description": r"\uD83D\uDE00", "x": "😀"}


@given(st.lists(st.text(st.characters(min_codepoint=0x10000), min_size=1), max_size=40))
def test_what_json_writes_for_any_text_comes_back(texts):
    lines = [
        f"k{number}: {msgspec.json.encode(text).decode()}" for number, text in enumerate(texts)
    ]
    escaped = "\n".join(
        "".join(_escape(character) if ord(character) > 0xFFFF else character for character in line)
        for line in lines
    )
    reading = read(f"---\nk: v\n{escaped}\n---\n", HeaderRules())
    if len(texts) <= 32:
        expected = {f"k{number}": text for number, text in enumerate(texts)}
        assert reading.frontmatter == {"k": "v", **expected}


def _escape(character):
    code = ord(character) - 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("host", HOSTS)
def test_the_hosts_read_line_separators_of_unicode_as_text(host, separator):
    reading = read(f"---\ndescription: a{separator} b\n---\n", HOSTS[host])
    assert (reading.frontmatter, reading.valid) == ({"description": f"a{separator} b"}, True)


@pytest.mark.parametrize("control", ["\x07", "\x1b", "\x7f", "\x9b"])
@pytest.mark.parametrize("host", ["claude-code", "omp", "openclaw"])
def test_some_hosts_read_raw_control_characters_as_text(host, control):
    reading = read(f"---\ndescription: a{control}b\n---\n", HOSTS[host])
    assert (reading.frontmatter, reading.valid) == ({"description": f"a{control}b"}, True)


@pytest.mark.parametrize(
    ("host", "frontmatter", "valid"),
    [
        ("claude-code", {}, True),
        ("omp", {"description": "a\0b"}, True),
        ("openclaw", {"description": "a\0b"}, True),
        ("opencode", {}, False),
    ],
)
def test_nul_in_a_header(host, frontmatter, valid):
    reading = read("---\ndescription: a\0b\n---\nBody\n", HOSTS[host])
    assert (reading.frontmatter, reading.valid) == (frontmatter, valid)


def test_characters_of_private_use_stay_what_they_are():
    text = "---\ndescription: \ue000a\x07\ue001\n---\n"
    assert read(text, HOSTS["omp"]).frontmatter == {"description": "\ue000a\x07\ue001"}


@given(st.text(st.sampled_from("ab \ue000\ue001\x01\x85\u2028"), min_size=1))
def test_odd_characters_never_change_on_their_way_through_the_parser(text):
    reading = read(f'---\ndescription: "{text}"\n---\n', HOSTS["omp"])
    assert reading.frontmatter == {"description": text}


@pytest.mark.parametrize(("host", "is_read"), [("claude-code", False), ("omp", True)])
def test_a_file_with_lone_carriage_returns_has_a_header_or_none(host, is_read):
    reading = read("---\rdescription: d\r---\rBody\r", HOSTS[host])
    assert reading.frontmatter == ({"description": "d"} if is_read else {})


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf16_is_read_or_refused_or_read_as_bytes(encoding, mark):
    data = f"{mark}---\ndescription: é\n---\nBody\n".encode(encoding)
    readings = {
        word: read_header(data, rules=HeaderRules(utf16=word), limits=LIMITS)
        for word in ("refuse", "read", "bytes")
    }
    assert {word: (one.frontmatter, one.valid) for word, one in readings.items()} == {
        "refuse": ({}, False),
        "read": ({"description": "é"}, True),
        "bytes": ({}, True),
    }


def test_bytes_that_are_not_utf8_are_replaced_or_refused():
    data = b"---\ndescription: caf\xe9\n---\n"
    replaced = read_header(data, rules=HeaderRules(), limits=LIMITS)
    refused = read_header(data, rules=HeaderRules(only_utf8=True), limits=LIMITS)
    assert (replaced.frontmatter, replaced.valid) == ({"description": "caf\ufffd"}, True)
    assert (refused.valid, codes(refused)) == (False, [("not-utf8", 2)])


def test_where_a_byte_order_mark_is_not_accepted_there_is_no_header_after_it():
    rules = HeaderRules(byte_order_mark=False)
    assert read("\ufeff---\ndescription: d\n---\n", rules).frontmatter == {}
    assert read("---\ndescription: d\n---\n", rules).frontmatter == {"description": "d"}


@pytest.mark.parametrize("fence", ["---", " ---", "\t--- ", "\u2003---"])
def test_blanks_around_a_trimmed_fence_do_not_count(fence):
    rules = HeaderRules(open="trimmed", close="trimmed")
    reading = read(f"{fence}\ndescription: d\n{fence}\nBody\n", rules)
    assert (reading.frontmatter, reading.lead) == ({"description": "d"}, "Body")


@pytest.mark.parametrize("fence", ["----", "---yaml", "--", "- --"])
def test_a_trimmed_fence_has_exactly_three_dashes(fence):
    rules = HeaderRules(open="trimmed", close="trimmed")
    assert read(f"{fence}\ndescription: d\n---\nBody\n", rules).frontmatter == {}


def test_a_tab_before_an_item_of_a_list_is_indentation_and_nowhere_else():
    rules = HOSTS["claude-code"]
    items = read("---\ndescription: d\nlist:\n\t- a\n\t- b\n---\n", rules)
    assert items.frontmatter == {"description": "d", "list": ["a", "b"]}
    assert read("---\ndescription: d\n\tbad: 1\n---\n", rules).frontmatter == {}
