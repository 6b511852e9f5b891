"""Small readers that some hosts fall back to where a header is not what they expect.

They are the hosts' own, quirks included, so that a header gives here what it gives there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line
from prowess.parse.header.result import HeaderReading
from prowess.parse.yaml.reader import YamlProblem
from prowess.parse.yaml.text_values import make_whole
from prowess.profiles.schema.header import Fallback, HeaderRules

_NAME_LINE = re.compile(r"\s*name:\s*(.*)")
_DESCRIPTION_LINE = re.compile(r"\s*description:\s*(.*)")
_CONTINUED = re.compile(r"[ \t]+\S")
_ITEM = "  - "
_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_PREFIXED_NUMBER = re.compile(r"0(?:[xX][\da-fA-F]{1,8}|[oO][0-7]{1,10}|[bB][01]{1,32})", re.ASCII)


class _Reader(NamedTuple):
    """A fallback: whether a header that is valid YAML needs it too, how it reads, what it says."""

    is_needed: Callable[[dict[str, Any]], bool]
    read: Callable[[Sequence[str]], dict[str, Any]]
    reads: str


def needs_fallback(value: dict[str, Any], rules: HeaderRules) -> bool:
    """Whether the host reads a header again, line by line, although it is valid YAML."""
    return _READERS[rules.fallback].is_needed(value)


def read_fallback(
    lines: Sequence[Line],
    problem: YamlProblem | None,
    body: str,
    findings: list[Diagnostic],
    rules: HeaderRules,
) -> HeaderReading:
    """A header as the host's fallback reads it."""
    reader = _READERS[rules.fallback]
    fields = reader.read([line.text for line in lines])
    why = "`name` or `description` is not text" if problem is None else problem.why
    message = f"The header is not what this host expects ({why}), so it reads {reader.reads}."
    line = _find_line(problem, lines)
    findings.append(diagnose("yaml-invalid-value", message, line=line))
    return HeaderReading(fields, body, tuple(findings))


def _find_line(problem: YamlProblem | None, lines: Sequence[Line]) -> int:
    """The line of the file that a problem is on; the first one if nobody knows."""
    if not lines:
        return 1
    if problem is None:
        return lines[0].number
    if problem.line is None:
        return 1
    # The parser may name the line after the last one.
    last = min(problem.line, len(lines))
    return lines[last - 1].number


def _is_not_text(value: dict[str, Any]) -> bool:
    texts = (value.get("name"), value.get("description"))
    return any(type(text) is not str for text in texts)


def _never(value: dict[str, Any]) -> bool:
    return False


def _read_name_and_description(lines: Sequence[str]) -> dict[str, Any]:
    """The last `name:` and the last `description:` at any indentation, as they are written.

    A description goes on with the indented lines below it.
    """
    fields: dict[str, Any] = {}
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        # At any indentation: in Gemini CLI a `name:` below `metadata` replaces the skill's.
        if name := _NAME_LINE.fullmatch(line):
            fields["name"] = name[1].strip()
        elif description := _DESCRIPTION_LINE.fullmatch(line):
            parts = [description[1].strip()]
            while index < len(lines) and _CONTINUED.match(lines[index]):
                parts.append(lines[index].strip())
                index += 1
            fields["description"] = " ".join(part for part in parts if part)
    return fields


def _read_simple_yaml(lines: Sequence[str]) -> dict[str, Any]:
    """`key: value` lines, lists of `  - item` and mappings that are indented by two blanks."""
    reader = _SimpleYaml()
    kept = [line for line in lines if not _is_blank_or_comment(line)]
    for line, following in zip_longest(kept, kept[1:], fillvalue=""):
        reader.read_line(line, following)
    return reader.fields


def _is_blank_or_comment(line: str) -> bool:
    text = line.strip()
    return not text or text.startswith("#")


class _SimpleYaml:
    """Qwen Code's own reader: one level of lists and mappings, and no errors.

    `_open` is the last key without a value, to which indented lines belong; "" if there is none.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self._open = ""

    def read_line(self, line: str, following: str) -> None:
        """Read a line; the next one decides what a key without a value is."""
        below = self.fields.get(self._open)
        if line.startswith(_ITEM):
            # An item without a list above it goes to the field "".
            items = below if isinstance(below, list) else []
            self.fields[self._open] = [*items, _read_value(line[len(_ITEM) :].strip())]
            return
        key, colon, value = (part.strip() for part in line.partition(":"))
        if line.startswith("  ") and isinstance(below, dict):
            below[key] = _read_value(value)
            return
        self._open = ""
        if colon and value:
            self.fields[key] = _read_value(value)
        elif colon:
            self._open_key(key, following)

    def _open_key(self, key: str, following: str) -> None:
        # A key without anything below it is no field at all.
        if not following.startswith("  "):
            return
        self._open = key
        # Its list is made by its first item.
        if key and not following.startswith(_ITEM):
            self.fields[key] = {}


def _read_value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    if is_quoted:
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if _NUMBER.fullmatch(text):
        return make_whole(float(text))
    if _PREFIXED_NUMBER.fullmatch(text):
        return int(text, 0)
    return text


_READERS: dict[Fallback, _Reader] = {
    "name-and-description": _Reader(
        _is_not_text, _read_name_and_description, "only the `name:` and `description:` lines"
    ),
    "simple-yaml": _Reader(_never, _read_simple_yaml, "simple `key: value` lines only"),
}
