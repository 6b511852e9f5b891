"""Reports for programs: no file name, message or value of a skill steers a terminal or Actions."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.reports.github import render_github
from prowess.reports.sarif import shape_sarif
from prowess.text.display import escape_json
from tests.cli.terminal import Terminal

BASE = "/work/project"
# Emoji and some scripts need the two joiners, so text for people has them as they are.
JOINERS = "\u200c\u200d"
STEERING = "".join(
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
)
HOSTILE = "x\x1b[2J\x07\x7f\x85\x9b31m\u200b\u202e\u2028\u2066\ufeff\U000e0041y"


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)


def is_safe(text: str) -> bool:
    return not set(text) & (set(STEERING) - set("\n\t"))


def make_finding(text: str) -> Diagnostic:
    return diagnose("field-value", text, file=f"{BASE}/{text}", hint=text, severity=Severity.INFO)


def decode_command(text: str) -> str:
    """Decode a value as the runner of Actions does."""
    for escape, character in (("0D", "\r"), ("0A", "\n"), ("3A", ":"), ("2C", ","), ("25", "%")):
        text = text.replace(f"%{escape}", character)
    return text


@pytest.mark.parametrize(
    "text",
    [
        "a\n::error::b",
        "a\r::stop-commands::b",
        "a::add-mask::b",
        "a,line=1::b",
        "%0A::error::b",
        "a\u2028::error::b",
        "a\x85::error::b",
        HOSTILE,
    ],
)
def test_nothing_in_a_finding_starts_another_workflow_command(text: str) -> None:
    shown = render_github([make_finding(text)], base=BASE)
    (line,) = shown.splitlines()
    match = re.fullmatch("::notice file=([^:,]*),title=field-value::(.*)", line)
    assert match is not None
    assert is_safe(shown)
    if text.replace("\n", "").replace("\r", "").isprintable():
        assert [decode_command(part) for part in match.groups()] == [text, f"{text} {text}"]


@given(st.text(st.sampled_from(STEERING + "a%:,\\")))
def test_a_workflow_command_is_one_printable_line(text: str) -> None:
    shown = render_github([make_finding(text)], base=BASE)
    assert shown.endswith("\n")
    (line,) = shown.splitlines()
    assert is_safe("".join(one for one in line if one not in JOINERS))


@given(st.text(st.sampled_from(STEERING + 'a"\\')))
def test_json_is_safe_to_print_and_reads_the_same(text: str) -> None:
    shown = escape_json(msgspec.json.encode({text: [text]}))
    assert is_safe(shown.decode())
    assert json.loads(shown) == {text: [text]}


def test_every_character_that_steers_is_escaped_in_json() -> None:
    shown = escape_json(msgspec.json.encode(STEERING))
    assert shown.isascii()
    assert json.loads(shown) == STEERING


def test_other_characters_stay_in_json() -> None:
    assert escape_json('"é 漢 😀"'.encode()) == '"é 漢 😀"'.encode()


@given(st.text(st.sampled_from(STEERING + "a")))
def test_sarif_messages_and_addresses_are_safe(text: str) -> None:
    log = shape_sarif([make_finding(text)], base=BASE)
    (result,) = log["runs"][0]["results"]
    assert is_safe("".join(one for one in result["message"]["text"] if one not in JOINERS))
    (location,) = result["locations"]
    assert is_safe(location["physicalLocation"]["artifactLocation"]["uri"])


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_validate_is_safe_in_every_format(terminal: Terminal, form: str) -> None:
    folder = HOSTILE.replace("/", "")
    spelled = json.dumps(HOSTILE)
    text = f'---\nname: {spelled}\n"f{spelled[1:]}: 1\nlicense: [{spelled}]\n---\nBody\n'
    terminal.write(f"project/.agents/skills/{folder}/SKILL.md", text)
    answer = terminal.run("validate", "--format", form)
    assert is_safe(answer.out)
    assert is_safe(answer.err)


@pytest.mark.parametrize("arguments", [("list",), ("list", "--all"), ("explain",), ("check",)])
def test_json_of_commands_is_safe(terminal: Terminal, arguments: tuple[str, ...]) -> None:
    text = f"---\nname: bad\ndescription: {json.dumps(HOSTILE)}\n---\nBody\n"
    terminal.write("project/.agents/skills/bad/SKILL.md", text)
    names = ("bad",) if arguments == ("explain",) else ()
    answer = terminal.run(*arguments, *names, "--json")
    assert "\\u202e" in answer.out or arguments == ("check",)
    assert is_safe(answer.out)
