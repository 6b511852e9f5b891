"""Headers made to be slow: one line that is hard to read, repeated until the header is as large as
is read.
"""

from __future__ import annotations

import pytest

from prowess.diagnostics import Diagnostic
from prowess.parse.header.fast import read_header
from prowess.parse.lint.checks import lint_skill
from prowess.parse.manifest.names import understand
from prowess.parse.repair.loop import fix_header
from prowess.profiles.load import load_profile
from tests.effort import soon
from tests.unit.parse.rules import HOSTS

MOST_BYTES = 65_000
# 50 of a kind and one that counts the rest; no file has many kinds.
MOST_FINDINGS = 51 * 4

LONG = "a" * 33
LINES: dict[str, str] = {
    "a bracket that only closes in quotes": '  - [ "]" ' + LONG,
    "a brace that only closes in quotes": "  - { '}' " + LONG,
    "an open bracket in each field": "k{n}: [ " + LONG,
    "an open bracket below a field": "  k{n}: [ " + LONG,
    "an open quote in each field": 'k{n}: "' + LONG,
    "an open quote below a field": "  k{n}: '" + LONG,
    "brackets opened and closed the wrong way round": "  - ]}[{ " + LONG,
    "many brackets on a line": "  - " + "[" * 20 + "]" * 19 + LONG,
    "a colon in each field": "k{n}: a: b " + LONG,
    "a colon below a field": "  - k: a: b " + LONG,
    "a field that is indented": "  name: x " + LONG,
    "a field without a blank": "name:x " + LONG,
    "text that belongs to no field": "text text " + LONG,
    "one key many times": "k: v " + LONG,
    "one key many times in a list": "  - a: 1\n    a: 2 " + LONG,
    "a tab before each line": "\t- k: v " + LONG,
    "a control character": "k{n}: \x01" + LONG,
    "a break that is none to YAML": "k{n}: \x85\u2028" + LONG,
    "text behind a block mark": "k{n}: > text " + LONG,
    "a reserved character": "k{n}: @" + LONG,
    "a tag": "k{n}: !t x " + LONG,
    "an anchor and an alias": "k{n}: &a{n} *a{n} " + LONG,
    "a number beyond 64 bits": "k{n}: " + "9" * 40,
    "a backslash that escapes nothing": 'k{n}: "\\d ' + LONG,
    "a date in each field": "k{n}: 2024-01-01",
    "an old number in each field": "k{n}: 1_",
    "a short unknown field": "k{n}: v",
    "a field that is spelled wrongly": "descriptoin{n}: v",
    "a sharp in the description": "description: a #b " + LONG,
    "a comment that is never closed": "k{n}: <!-- " + LONG,
    "a question mark key": "? k{n} " + LONG,
    "a line of dashes": "- " * 20,
    "a fence inside a line": "k{n}: a ---b" + LONG,
    "blanks before a comment": "k{n}: a" + " " * 200 + "b",
}
OPENINGS = {
    "at the start": "",
    "below a field": "metadata:\n",
    "below a list": "description: [\n",
    "below a quote": 'description: "\n',
    "below a block": "description: |\n",
}


def repeat(line: str, opening: str) -> str:
    lines = [opening]
    size = len(opening)
    number = 0
    while size < MOST_BYTES:
        lines.append(line.replace("{n}", str(number)) + "\n")
        size += len(lines[-1].encode())
        number += 1
    return f"---\n{''.join(lines[:-1])}---\nBody\n"


def read_all(host: str, data: bytes) -> tuple[Diagnostic, ...]:
    profile = load_profile(host)
    reading = read_header(data, rules=profile.header, limits=profile.limits)
    understood = understand(reading, default_name="x", required=(), fields=profile.fields)
    return reading.diagnostics + understood.diagnostics


def check(host: str, text: str) -> None:
    """A host reads a text soon and says little about it."""
    assert len(soon(lambda: read_all(host, text.encode()))) <= MOST_FINDINGS


def check_all(text: str) -> None:
    for host in HOSTS:
        check(host, text)


@pytest.mark.parametrize("opening", OPENINGS.values(), ids=OPENINGS.keys())
@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_no_line_makes_a_header_slow_however_often_it_stands(line: str, opening: str) -> None:
    check_all(repeat(line, opening))


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_no_line_makes_a_check_or_a_fix_slow(line: str) -> None:
    rules, fields = load_profile("prowess").header, load_profile("spec").fields
    text = repeat(line, "")
    findings = soon(lambda: lint_skill(text, folder_name="x", files=(), rules=rules, fields=fields))
    fixed, changes = soon(lambda: fix_header(text, rules=rules))
    assert max(len(findings), len(changes)) <= MOST_FINDINGS
    assert fixed.endswith("Body\n")


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_no_line_of_this_length_makes_a_header_slow(line: str) -> None:
    text = f"---\nk: {line.replace('{n}', '1') * (MOST_BYTES // len(line))}\n---\nBody\n"
    check_all(text)


@pytest.mark.parametrize("line", ["9", "9.", "-", "a ", "[", '"', "\\", "! ", "\ue000"])
def test_no_value_of_this_length_makes_a_broken_header_slow(line: str) -> None:
    check_all(f"---\nname: @\nk: {line * (MOST_BYTES // len(line.encode()))}x\n---\nBody\n")


@pytest.mark.parametrize("breaks", ["\r\n", "\n", "\r", " \r\n", "\t\n\r"])
@pytest.mark.parametrize("after", ["x", "--", "---\nname: x\ndescription: d\n---\n"])
def test_blank_lines_before_a_header_cost_little(breaks: str, after: str) -> None:
    text = breaks * (60_000 // len(breaks)) + after
    check_all(text)


def test_findings_of_one_kind_are_counted_where_there_are_many() -> None:
    header = "".join(f"k{number}: a: b\n" for number in range(60))
    profile = load_profile("prowess")
    text = f"---\nname: x\ndescription: d\n{header}---\nBody\n"
    findings = read_header(text.encode(), rules=profile.header, limits=profile.limits).diagnostics
    assert [finding.line for finding in findings] == [*range(4, 54), 54]
    assert {finding.code for finding in findings} == {"yaml-unquoted-colon"}
    assert findings[-1].message == "10 more like this, starting here."
