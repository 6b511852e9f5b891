"""Repairs that are written into the file."""

from __future__ import annotations

import pytest
import yaml

from prowess.parse.repair.loop import fix_header
from tests.unit.parse.rules import PROWESS, SPEC, read
from tests.unit.parse.test_value_repairs import CASES

BROKEN = """\
---
# who
name: a   # short
description: Use when: the user asks # now
metadata:
    author:  me

paths:
- **/*.md
---
Body: stays
---
"""

FIXED = """\
---
# who
name: a   # short
description: "Use when: the user asks" # now
metadata:
    author:  me

paths:
- "**/*.md"
---
Body: stays
---
"""


def test_only_broken_lines_change():
    text, diagnostics = fix_header(BROKEN, rules=PROWESS)
    assert text == FIXED
    assert [(finding.code, finding.line) for finding in diagnostics] == [
        ("yaml-unquoted-colon", 4),
        ("yaml-reserved-character", 9),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_byte_order_mark_are_kept(end):
    text, _ = fix_header("\ufeff" + BROKEN.replace("\n", end), rules=PROWESS)
    assert text == "\ufeff" + FIXED.replace("\n", end)


@pytest.mark.parametrize("case", CASES)
def test_a_fixed_header_needs_no_repair_and_says_the_same(case):
    header, frontmatter, _ = CASES[case]
    text, _ = fix_header(f"---\n{header}---\nBody\n", rules=PROWESS)
    reading = read(text, SPEC)
    assert (reading.frontmatter, reading.valid) == (frontmatter, True)
    assert fix_header(text, rules=PROWESS) == (text, ())


def texts_in(value):
    """The value with everything but text left out, since readers differ on the type of numbers."""
    if isinstance(value, dict):
        return {key: texts_in(item) for key, item in value.items()}
    if isinstance(value, list):
        return [texts_in(item) for item in value]
    return value if isinstance(value, str) else None


@pytest.mark.parametrize("case", CASES)
def test_another_yaml_reader_gets_the_same_from_a_fixed_header(case):
    header, frontmatter, _ = CASES[case]
    text, _ = fix_header(f"---\n{header}---\n", rules=PROWESS)
    values = yaml.safe_load(text.removeprefix("---\n").removesuffix("---\n"))
    assert texts_in(values) == texts_in(frontmatter)


@pytest.mark.parametrize(
    "text",
    [
        FIXED,
        "no header\n",
        "---\nname: a\n",
        "",
        "---\n- a\n---\n",
        "---\na: " + "b: c" * 40_000 + "\n---\n",
        "---\n\x00---\na: b: c\n---\n",
    ],
    ids=["sound", "no-header", "unclosed", "empty", "list", "too-large", "makes-a-fence"],
)
def test_what_needs_no_repair_or_cannot_be_repaired_stays(text):
    assert fix_header(text, rules=PROWESS) == (text, ())


def test_a_repair_that_the_rules_do_not_name_is_not_made():
    assert fix_header("---\na: b: c\n---\n", rules=SPEC) == ("---\na: b: c\n---\n", ())


@pytest.mark.parametrize("opening", ["---yaml\n", "--- yml \r\n", "---JSON\r"])
def test_a_language_behind_the_fence_is_left_out(opening):
    end = opening[len(opening.rstrip("\r\n")) :]
    rest = f"name: a{end}---{end}Body{end}"
    text, diagnostics = fix_header(f"\ufeff{opening}{rest}", rules=PROWESS)
    assert (text.replace(" ", ""), read(text, SPEC).diagnostics) == (
        f"\ufeff---{end}{rest}".replace(" ", ""),
        (),
    )
    said = "The opening fence names a language."
    assert [(finding.code, finding.line, finding.message) for finding in diagnostics] == [
        ("header-malformed-fence", 1, said)
    ]


def test_a_header_in_a_language_that_is_not_read_is_not_touched():
    text = "---js\nname: a: b\n---\nBody\n"
    assert fix_header(text, rules=PROWESS) == (text, ())


@pytest.mark.parametrize("last", ["\t", "\x01", ""])
def test_a_blank_line_before_the_fence_means_the_same_after_a_fix(last):
    text = f"---\ndescription: a: b\nk: |+\n  x\n\n{last}\n---\nBody\n"
    fixed, _ = fix_header(text, rules=PROWESS)
    assert fixed != text
    assert read(fixed).frontmatter == read(text).frontmatter
    assert read(fixed, SPEC).frontmatter == {"description": "a: b", "k": "x\n\n"}
