"""Where in a file a field stands, for findings that know only its name; asked only when there is a
finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.parse.header.fences import Split, split_header
from prowess.parse.header.lines import decode, split_lines
from prowess.parse.repair.broken_header import find_key
from prowess.profiles.schema.header import HeaderRules

_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")
_INDENT = re.compile(r"[ \t]*")
_DASH = re.compile(r"[ \t]*-(?:[ \t]|$)")
_FLOW_KEY = re.compile(r"""["']?([\w.-]+)["']?[ \t]*:""")


class FieldLines:
    """The lines of a header, asked by the path of a field."""

    def __init__(self, split: Split) -> None:
        header = split.text[split.start : split.end]
        self._lines = split_lines(header, first=split.line)
        self._above = max(split.line - 1, 1) if split.end else 1
        self._tops: dict[str, int] = {}
        find = _find_flow_key if header.lstrip().startswith("{") else find_key
        for index, line in enumerate(self._lines):
            key = find(line.text)
            if key is not None:
                self._tops[key] = index

    def find(self, path: str) -> int:
        """The line of a field such as `install[1].kind`, or of what holds it; of the fence where
        nothing does.
        """
        steps: list[str] = _STEP.findall(path) or [""]
        if path in self._tops:
            steps = [path]
        at = self._tops.get(steps[0])
        if at is None:
            return self._above
        first, last = at + 1, self._end_of_field(at)
        for step in steps[1:]:
            found = (
                self._find_item(step, first, last)
                if step[0] == "["
                else self._find_key(step, first, last)
            )
            if found is None:
                break
            at, first, last = found
        return self._lines[at].number

    def _end_of_field(self, at: int) -> int:
        return min((index for index in self._tops.values() if index > at), default=len(self._lines))

    def _find_key(self, key: str, first: int, last: int) -> tuple[int, int, int] | None:
        """The line of a key below another, and the lines that belong to it."""
        pattern = re.compile(rf"""[ \t\-{{,]*["']?{re.escape(key)}["']?[ \t]*:""")
        for index in range(first, last):
            if pattern.match(self._lines[index].text):
                deeper = (
                    other
                    for other in range(index + 1, last)
                    if self._indent(other) <= self._indent(index)
                )
                return index, index + 1, next(deeper, last)
        return None

    def _find_item(self, step: str, first: int, last: int) -> tuple[int, int, int] | None:
        """The line of an item of a list, and the lines that belong to it, its own among them."""
        dashes = [index for index in range(first, last) if _DASH.match(self._lines[index].text)]
        items = [index for index in dashes if self._indent(index) == self._indent(dashes[0])]
        number = int(step[1:-1])
        if number >= len(items):
            return None
        return items[number], items[number], (*items[number + 1 :], last)[0]

    def _indent(self, index: int) -> int:
        text = self._lines[index].text
        blank = _INDENT.match(text)
        # An empty line belongs to what stands above it.
        return blank.end() if blank is not None and blank.end() < len(text) else len(text) + 1000


def _find_flow_key(text: str) -> str | None:
    match = _FLOW_KEY.search(text)
    return match[1] if match else None


def locate(findings: Iterable[Diagnostic], split: Split) -> tuple[Diagnostic, ...]:
    """The findings, each with the line of its field where it has none."""
    lines = FieldLines(split)
    return tuple(
        finding
        if finding.line is not None or finding.field is None
        else msgspec.structs.replace(finding, line=lines.find(finding.field))
        for finding in findings
    )


def locate_in_file(
    findings: tuple[Diagnostic, ...], data: bytes, rules: HeaderRules
) -> tuple[Diagnostic, ...]:
    """The findings about a file with their lines; without, where what the host strips first has
    moved the lines.
    """
    open_ones = {
        finding.field for finding in findings if finding.line is None and finding.field is not None
    }
    if not open_ones:
        return findings
    lines = _find_plainly(open_ones, data)
    if lines is not None:
        return tuple(
            msgspec.structs.replace(one, line=lines[one.field])
            if one.line is None and one.field
            else one
            for one in findings
        )
    text, _ = decode(data)
    split = split_header(text, rules)
    if rules.strip_comments and not text.lstrip().startswith(split.text[: split.body].lstrip()):
        return findings
    return locate(findings, split)


def _find_plainly(fields: Iterable[str], data: bytes) -> dict[str, int] | None:
    """The lines of fields that stand once, at the start of a line of a plain header; None where one
    does not.

    Nearly every finding is about such a field, and a scan of many skills has many findings.
    """
    end = data.find(b"\n---", 3)
    if end < 0 or not data.startswith(b"---\n") or b"\r" in data[:end] or b"<!--" in data[:end]:
        return None
    lines = {}
    for field in fields:
        key = f"\n{field}: ".encode(errors="replace")
        place = data.find(key, 3, end)
        if place < 0 or data.find(key, place + 1, end) >= 0:
            return None
        lines[field] = data.count(b"\n", 0, place + 1) + 1
    return lines
