"""The lines of fields, for findings that only name a field; searched for when there are any."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.parse.header.fences import Split, split_header
from prowess.parse.header.lines import decode, measure_indent, split_lines
from prowess.parse.repair.broken_header import find_key
from prowess.profiles.schema.header import HeaderRules

_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")
_DASH = re.compile(r"[ \t]*-(?:[ \t]|$)")
_FLOW_KEY = re.compile(r"""["']?([\w.-]+)["']?[ \t]*:""")
# Deeper than any line: an empty line belongs to what is above it.
_EMPTY_LINE = 1 << 30


class _FieldRange(NamedTuple):
    """The line of a key or an item, and the range of lines that belong to it.

    `last` is the line after the range.
    """

    at: int
    first: int
    last: int


class FieldLines:
    """Finds the line of a field by its path."""

    def __init__(self, split: Split) -> None:
        header = split.text[split.start : split.end]
        self._lines = split_lines(header, first=split.line)
        # Where the header starts on the line of its fence, that is line 1.
        self._fence = max(split.line - 1, 1) if split.end else 1
        self._tops: dict[str, int] = {}
        # A header in braces, such as JSON, has its keys anywhere in a line.
        is_flow = header.lstrip().startswith("{")
        find = _find_flow_key if is_flow else find_key
        for index, line in enumerate(self._lines):
            key = find(line.text)
            if key is not None:
                # Of a key that appears twice the last one counts.
                self._tops[key] = index

    def find(self, path: str) -> int:
        """The line of a field such as `install[1].kind`, else of what contains it.

        Where not even that is in the header, it is the line of the opening fence.
        """
        # A key may contain dots itself, such as `my.key`.
        steps: list[str] = [path] if path in self._tops else _STEP.findall(path)
        at = self._tops.get(steps[0]) if steps else None
        if at is None:
            return self._fence
        lines = _FieldRange(at, at + 1, self._find_end_of_field(at))
        for step in steps[1:]:
            find = self._find_item if step[0] == "[" else self._find_key
            deeper = find(step, lines.first, lines.last)
            if deeper is None:
                # A value in brackets on one line, or one that is missing: the key above it is near.
                break
            lines = deeper
        return self._lines[lines.at].number

    def _find_end_of_field(self, at: int) -> int:
        later = [index for index in self._tops.values() if index > at]
        return min(later, default=len(self._lines))

    def _find_key(self, key: str, first: int, last: int) -> _FieldRange | None:
        pattern = re.compile(rf"""[ \t\-{{,]*["']?{re.escape(key)}["']?[ \t]*:""")
        for index in range(first, last):
            if pattern.match(self._lines[index].text):
                return _FieldRange(index, index + 1, self._find_end_of_key(index, last))
        return None

    def _find_end_of_key(self, index: int, last: int) -> int:
        indent = self._measure(index)
        for below in range(index + 1, last):
            is_deeper = self._measure(below) > indent
            if not is_deeper:
                return below
        return last

    def _find_item(self, step: str, first: int, last: int) -> _FieldRange | None:
        dashes = [index for index in range(first, last) if _DASH.match(self._lines[index].text)]
        # Deeper dashes are items of lists inside the items.
        items = [index for index in dashes if self._measure(index) == self._measure(dashes[0])]
        number = int(step[1:-1])
        if number >= len(items):
            return None
        at, *later = items[number:]
        end = later[0] if later else last
        # An item's own line belongs to it: its first key is there.
        return _FieldRange(at, at, end)

    def _measure(self, index: int) -> int:
        """How far a line is indented."""
        text = self._lines[index].text
        indent = measure_indent(text)
        return indent if indent < len(text) else _EMPTY_LINE


def _find_flow_key(text: str) -> str | None:
    match = _FLOW_KEY.search(text)
    return match[1] if match else None


def locate(findings: Iterable[Diagnostic], split: Split) -> tuple[Diagnostic, ...]:
    """The findings, each with the line of its field where it has none."""
    lines = FieldLines(split)
    return tuple(_add_line(finding, lines.find) for finding in findings)


def locate_in_file(
    findings: tuple[Diagnostic, ...], data: bytes, rules: HeaderRules
) -> tuple[Diagnostic, ...]:
    """The findings about a file, each with the line of its field.

    They stay without, where the host strips comments first and lines may have moved.
    """
    without_line = {finding.field for finding in findings if finding.line is None}
    fields = [field for field in without_line if field is not None]
    if not fields:
        return findings
    lines = _find_plainly(fields, data)
    if lines is not None:
        return tuple(_add_line(finding, lines.__getitem__) for finding in findings)
    text, _ = decode(data, rules)
    split = split_header(text, rules)
    if rules.strip_comments:
        header = split.text[: split.body].lstrip()
        has_moved = not text.lstrip().startswith(header)
        if has_moved:
            return findings
    return locate(findings, split)


def _add_line(finding: Diagnostic, find_line: Callable[[str], int]) -> Diagnostic:
    if finding.line is not None or finding.field is None:
        return finding
    return msgspec.structs.replace(finding, line=find_line(finding.field))


def _find_plainly(fields: Iterable[str], data: bytes) -> dict[str, int] | None:
    """The lines of fields that are in a plain header once, at the start of a line; else None.

    Nearly every finding is about such a field, and a scan of many skills has many findings.
    """
    end = data.find(b"\n---", 3)
    if end < 0 or not data.startswith(b"---\n"):
        return None
    header = data[:end]
    # A CR may end a line, too, and a comment may be stripped before lines are counted.
    if b"\r" in header or b"<!--" in header:
        return None
    lines: dict[str, int] = {}
    for field in fields:
        key = f"\n{field}: ".encode(errors="replace")
        position = data.find(key, 3, end)
        is_there = position >= 0
        is_there_twice = is_there and data.find(key, position + 1, end) >= 0
        if not is_there or is_there_twice:
            return None
        lines[field] = data.count(b"\n", 0, position + 1) + 1
    return lines
