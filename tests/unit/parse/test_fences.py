"""Where headers begin and end, host by host."""

from __future__ import annotations

import msgspec
import pytest

from prowess.diagnostics import Severity
from prowess.parse.header.fences import split_body, split_header, strip_comments
from prowess.profiles.load import load_profile
from tests.unit.parse.rules import (
    CLAUDE_CODE,
    EVERY_HOST,
    HOSTS,
    OMP,
    OPENCODE,
    PROWESS,
    codes,
    read,
)


def header_of(text, rules):
    split = split_header(text, rules)
    return split.text[split.start : split.end]


@pytest.mark.seed("C-34")
@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize("opening", ["---\n", "--- \t\n", "---\r\n", "\ufeff---\n"])
def test_blanks_a_carriage_return_and_a_byte_order_mark_do_not_hide_the_opening_fence(
    host, opening
):
    reading = read(f"{opening}name: a\ndescription: d\n---\nBody\n", EVERY_HOST[host])
    assert (reading.frontmatter, reading.lead, reading.valid) == (
        {"name": "a", "description": "d"},
        "Body",
        True,
    )


@pytest.mark.seed("C-34", "C-35")
@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize(
    "text", ["\n---\nname: a\n---\nBody\n", "# Title\n", " ---\nname: a\n---\n"]
)
def test_a_header_that_is_not_at_the_very_start_is_none(host, text):
    reading = read(text, EVERY_HOST[host])
    assert reading.frontmatter == {}
    assert codes(reading) == [("header-missing", 1)]
    assert split_body(text, rules=EVERY_HOST[host]) == text


@pytest.mark.seed("C-36")
def test_the_documented_claude_code_closes_a_header_only_on_a_line_of_its_own():
    rules = load_profile("claude-code@documented").header
    reading = read("---\ndescription: a --- b\n---\nBody\n", rules)
    assert (reading.frontmatter, reading.lead) == ({"description": "a --- b"}, "Body")


def test_claude_code_today_closes_a_header_at_the_first_three_dashes():
    reading = read("---\ndescription: a --- b\n---\nBody\n", CLAUDE_CODE)
    assert (reading.frontmatter, reading.lead) == ({"description": "a"}, "b")


IN_A_LINE = "`---` in the middle of line {} closes the header; the rest is body."
AT_THE_START = "Line {} begins with `---`, which closes the header; the rest is body."


@pytest.mark.parametrize(
    ("host", "text", "line", "message"),
    [
        ("claude-code", "---\nname: a\ndescription: a --- b\n---\nBody\n", 3, IN_A_LINE),
        ("claude-code", "---\r\nname: a\r\ndescription: a---\r\n---\r\nBody\r\n", 3, IN_A_LINE),
        ("claude-code", "---\nname: a\n  ---\nBody\n", 3, IN_A_LINE),
        ("claude-code", "---\nname: a\n---x\nBody\n", 3, AT_THE_START),
        ("claude-code", "---\n---- x\n", 2, AT_THE_START),
        ("opencode", "---\nname: a\n---x\nBody\n", 3, AT_THE_START),
        ("opencode", "---\nname: a\n----\nBody\n", 3, AT_THE_START),
        ("omp", "---\nname: a\n--- x", 3, AT_THE_START),
        ("omp", "----\nname: a\n----\nBody\n", 3, AT_THE_START),
    ],
)
def test_a_header_that_is_closed_by_more_than_a_plain_line_is_reported(host, text, line, message):
    [finding] = read(text, EVERY_HOST[host]).diagnostics
    assert (finding.code, finding.line, finding.severity.value) == (
        "header-malformed-fence",
        line,
        "warning",
    )
    assert finding.message == message.format(line)


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize(
    "closing", ["---\n", "---", "--- \t\n", "---\r\n", "--- \r", "---\n\nBody\n---x\n"]
)
def test_a_header_that_is_closed_by_a_plain_line_is_not(host, closing):
    assert read(f"---\nname: a\n{closing}", EVERY_HOST[host]).diagnostics == ()


def test_a_closing_fence_is_counted_from_the_start_of_the_file():
    rules = msgspec.structs.replace(EVERY_HOST["claude-code"], leading_blanks=True)
    reading = read("\n\n---\nname: a---\n", rules)
    assert codes(reading) == [("header-malformed-fence", 1), ("header-malformed-fence", 4)]


@pytest.mark.seed("C-37", "O-05")
@pytest.mark.parametrize(
    ("host", "text", "body"),
    [
        ("prowess", "---\na: b\n---\n\n  Body\n", "\n  Body\n"),
        ("prowess", "---\na: b\n--- \t\r\nBody\r\n", "Body\r\n"),
        ("prowess", "---\na: b\n---", ""),
        ("prowess", "---\na: b\nno end\n", "---\na: b\nno end\n"),
        ("claude-code", "---\na: b\n---\n\n# T\n", "# T\n"),
        ("opencode", "---\na: b\n---\n\n\n   Body   \n", "\n\n   Body   \n"),
        ("opencode", "---\r\na: b\r\n---\r\n\r\nBody\r\n", "\r\nBody\r\n"),
        ("opencode", "---\na: b\n---Body\n", "Body\n"),
        ("opencode", "---\na: b\n", ""),
        ("opencode", "---\na: b\n---\nBody\n---\nmore\n---\n", "Body\n---\nmore\n---\n"),
        ("omp", "---\na: b\n---x\nB", "x\nB"),
        ("omp", "<!-- c -->---\na: b\n---\nB <!-- d -->", "B "),
    ],
)
def test_the_body_begins_after_the_closing_fence(host, text, body):
    assert split_body(text, rules=EVERY_HOST[host]) == body


@pytest.mark.seed("C-37")
def test_the_documented_body_keeps_the_blank_line_after_the_fence():
    rules = load_profile("claude-code@documented").header
    assert split_body("---\na: b\n---\n\nBody\n", rules=rules) == "\nBody\n"


@pytest.mark.parametrize(
    ("host", "valid", "found"),
    [
        ("prowess", False, [("header-unclosed", 1)]),
        ("openclaw", False, [("header-unclosed", 1)]),
        ("claude-code", True, [("header-unclosed", 1)]),
        ("omp", True, [("header-unclosed", 1)]),
        ("opencode", True, [("header-unclosed", 1)]),
    ],
)
def test_a_header_that_is_never_closed(host, valid, found):
    reading = read("---\nname: a\ndescription: d\n", EVERY_HOST[host])
    assert (reading.valid, codes(reading)) == (valid, found)
    assert reading.frontmatter == ({"name": "a", "description": "d"} if host == "opencode" else {})


def test_an_unclosed_header_of_opencode_that_is_not_yaml_is_invalid():
    reading = read("---\nname: a\ndescription: d\nBody without close\n", OPENCODE)
    assert (reading.valid, reading.frontmatter) == (False, {})


def test_the_lead_of_an_unclosed_file_is_its_fence_in_claude_code():
    assert read("---\ndescription: x\nbody\n", CLAUDE_CODE).lead == "---"


@pytest.mark.parametrize(
    ("text", "frontmatter", "found"),
    [
        ("---yaml\nname: a\n---\nB", {"name": "a"}, []),
        ('---json\n{"name":"a"}\n---\nB', {"name": "a"}, []),
        ("----\nname: a\n----\nB", {}, [("header-missing", 1)]),
        ('---js\n{name:"a"+(1+1)}\n---\nB', {}, [("header-language", 1)]),
        ('---toml\nname="a"\n---\nB', {}, [("header-language", 1)]),
        ("---coffee\nname: a\n---\nB", {}, [("header-language", 1)]),
    ],
)
def test_opencode_reads_the_languages_it_names_and_nothing_is_evaluated(text, frontmatter, found):
    reading = read(text, OPENCODE)
    assert (reading.frontmatter, codes(reading)) == (frontmatter, found)
    assert reading.valid is (not found or found[0][0] == "header-missing")


@pytest.mark.parametrize(
    ("text", "frontmatter", "found", "lead"),
    [
        ("---yaml\nname: a\n---\nB", {"name": "a"}, [("header-malformed-fence", 1)], "B"),
        (
            '--- JSON \r\n{"name":"a"}\r\n---\r\nB',
            {"name": "a"},
            [("header-malformed-fence", 1)],
            "B",
        ),
        ('---js\n{name:"a"+(1+1)}\n---\nB', {}, [("header-language", 1)], "B"),
        ('---toml\nname="a"\n---\nB', {}, [("header-language", 1)], "B"),
        ("---yaml\nname: a\nB", {}, [("header-unclosed", 1)], "---yaml"),
        ("--- Title\nText", {}, [("header-missing", 1)], "--- Title"),
        ("----\nname: a\n----\nB", {}, [("header-missing", 1)], "----"),
    ],
)
def test_prowess_forgives_a_language_behind_the_fence_and_evaluates_nothing(
    text, frontmatter, found, lead
):
    reading = read(text, PROWESS)
    assert (reading.frontmatter, codes(reading), reading.lead) == (frontmatter, found, lead)
    assert reading.valid is (found[0][0] != "header-unclosed")


def test_a_forgiven_language_is_told_in_a_sentence_and_does_not_reach_the_body():
    messages = [
        read(f"---{word}\nname: a\n---\nB", PROWESS).diagnostics[0] for word in ("js", "yaml")
    ]
    assert [(finding.severity, finding.message) for finding in messages] == [
        (
            Severity.WARNING,
            "The header's language is “js”, not one of yaml, yml, json; headers are never evaluated.",
        ),
        (
            Severity.WARNING,
            "The opening fence names a language, “yaml”; most hosts find no header.",
        ),
    ]
    assert [
        split_body(f"---{word}\nname: a\n---\nB", rules=PROWESS) for word in ("js", "yaml")
    ] == ["B", "B"]


def test_omp_takes_four_dashes_for_a_fence_and_reads_on_behind_three():
    assert read("----\nname: a\ndescription: d\n----\nB", OMP).frontmatter == {
        "name": "a",
        "description": "d",
    }
    assert read("---\nname: a\n...\nB", OMP).frontmatter == {}


def test_comments_are_stripped_in_one_pass_and_an_open_one_stays():
    assert strip_comments("a<!-- x -->b<!-- y\nz -->c<!-- open") == "abc<!-- open"
    assert read("<!-- c -->\n---\nname: a\n---\nB", OMP).frontmatter == {}
    assert read("<!-- c -->---\nname: a\n---\nB", OMP).frontmatter == {"name": "a"}


@pytest.mark.parametrize("host", [host for host in EVERY_HOST if host != "claude-code"])
@pytest.mark.parametrize("text", ["", "\ufeff", " \n\n"])
def test_an_empty_file_is_no_skill(host, text):
    reading = read(text, EVERY_HOST[host])
    assert (reading.valid, codes(reading)) == (False, [("empty-file", None)])


def test_an_empty_file_is_a_skill_in_claude_code():
    reading = read("", CLAUDE_CODE)
    assert (reading.valid, reading.frontmatter, reading.lead) == (True, {}, "")


def test_lone_carriage_returns_are_line_ends():
    reading = read("---\rname: a\rdescription: b: c\r---\rBody\r", PROWESS)
    assert (reading.frontmatter, reading.lead) == ({"name": "a", "description": "b: c"}, "Body")
    assert codes(reading) == [("yaml-unquoted-colon", 3)]


def test_three_dashes_inside_a_block_of_text_close_nothing():
    assert header_of("---\na: |\n  ---\n  x\n---\nB", PROWESS) == "a: |\n  ---\n  x\n"


@pytest.mark.parametrize("host", ["codex", "crush"])
def test_dashes_after_blanks_close_a_header_also_where_a_plain_fence_follows(host):
    text = "---\nname: a\ndescription: d\n ---\nBody\n---\n"
    reading = read(text, load_profile(host).header)
    assert (reading.frontmatter, reading.text) == ({"name": "a", "description": "d"}, "Body\n---\n")


@pytest.mark.parametrize("host", HOSTS)
def test_only_one_byte_order_mark_is_taken_off(host):
    reading = read("\ufeff\ufeff---\nname: a\n---\nBody\n", load_profile(host).header)
    assert reading.frontmatter == {}
