"""Small readers that some hosts fall back to where a header is not what they expect.

They are the hosts' own, quirks included, so that a header gives here what it gives there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line
from prowess.parse.header.result import HeaderReading
from prowess.parse.yaml.reader import YamlProblem
from prowess.profiles.schema.header import Fallback, HeaderRules

_NAME_LINE = re.compile(r"\s*name:\s*(.*)")
_DESCRIPTION_LINE = re.compile(r"\s*description:\s*(.*)")
_CONTINUED = re.compile(r"[ \t]+\S")
_ITEM = "  - "
_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


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
    if problem is None:
        why, line = "`name` or `description` is not text", lines[0].number if lines else 1
    else:
        why = problem.why
        line = lines[min(problem.line, len(lines)) - 1].number if problem.line and lines else 1
    message = f"The header is not what this host expects ({why}), so it reads {reader.reads}."
    findings.append(diagnose("yaml-invalid-value", message, line=line))
    return HeaderReading(fields, body, tuple(findings))


def _is_not_text(value: dict[str, Any]) -> bool:
    return not (type(value.get("name")) is str and type(value.get("description")) is str)


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
    kept = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    fields: dict[str, Any] = {}
    key = ""
    for index, line in enumerate(kept):
        below = fields.get(key)
        if line.startswith(_ITEM):
            items = below if isinstance(below, list) else []
            fields[key] = [*items, _read_value(line[len(_ITEM) :].strip())]
            continue
        inner, colon, value = (part.strip() for part in line.partition(":"))
        if line.startswith("  ") and isinstance(below, dict):
            below[inner] = _read_value(value)
            continue
        key = ""
        if colon and value:
            fields[inner] = _read_value(value)
        elif colon:
            following = kept[index + 1] if index + 1 < len(kept) else ""
            if following.startswith("  "):
                key = inner
            if key and not following.startswith(_ITEM):
                fields[key] = {}
    return fields


def _read_value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if _NUMBER.fullmatch(text):
        number = float(text)
        return int(number) if number.is_integer() else number
    return text


_READERS: dict[Fallback, _Reader] = {
    "name-and-description": _Reader(
        _is_not_text, _read_name_and_description, "only the `name:` and `description:` lines"
    ),
    "simple-yaml": _Reader(_never, _read_simple_yaml, "simple `key: value` lines only"),
}
