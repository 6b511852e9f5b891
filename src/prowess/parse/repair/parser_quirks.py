"""What other YAML parsers make of lines that are not YAML, for hosts that use them.

js-yaml, `yaml` and Bun's parser each read something into text after a closed quote or bracket; the
native parser rejects it. Each function here rewrites such lines so that the native parser reads
what that parser does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prowess.diagnostics import Diagnostic
from prowess.parse.header.lines import Line
from prowess.parse.repair.broken_header import (
    BrokenHeader,
    Patch,
    RepairedLines,
    apply_patches,
    match_lines,
    quote_parts,
    report,
)

_PAIR = re.compile(r"([^\s:#\"'\[\]{},&*!|>%@`-][^:#]*|\"[^\"]*\"|'[^']*'):[ \t]+(\S.*)")
_BARE_KEY = re.compile(r"[\w-]+:[ \t]*", re.ASCII)
_NEXT_PAIR = re.compile(r"[^\s:#,\[\]{}\"'][^:#\[\]{}]*:(?:[ \t]|$)")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^']|'')*+'")
_OPENING = "[{"
_BRACKETS = {"[": 1, "{": 1, "]": -1, "}": -1}
_QUOTES = "\"'"


def part_closed_values(broken: BrokenHeader) -> RepairedLines | None:
    """js-yaml takes `a: [x] b: y` for two pairs, and a value that begins with `? ` for none."""
    return apply_patches(broken.lines, _part_closed_values(broken))


def _part_closed_values(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line, pair in match_lines(broken.lines, _PAIR):
        key, value = pair[1], pair[2]
        if value.startswith("? "):
            message = f"This host reads no value for `{key}` because it begins with `? `."
            finding = _report(message, line, key)
            yield Patch(index, index, [line._replace(text=f"{key}: null")], finding)
            continue
        end = find_closed_end(value)
        closed, rest = value[:end], value[end:].strip()
        is_followed_by_pair = _NEXT_PAIR.match(rest) is not None
        if closed and is_followed_by_pair:
            parted = [line._replace(text=f"{key}: {closed}"), line._replace(text=rest)]
            message = f"This host ends the value of `{key}` after `{closed[:40]}`."
            yield Patch(index, index, parted, _report(message, line, key))


def quote_bracketed_keys(broken: BrokenHeader) -> RepairedLines | None:
    """`yaml` reads the `y` in `a: [x]: y` as the value of a second key, which is empty."""
    found = _find_only_bracketed_key(broken)
    if found is None:
        return None
    quote, [text] = quote_parts([found.value])
    message = f"This host reads the whole value of `{found.key}` as text."
    return _replace_value(broken, found, f"{quote}{text}{quote}", message)


def end_bracketed_keys(broken: BrokenHeader) -> RepairedLines | None:
    """`yaml` ends the value of `a` in `a: [x]: y` after the bracket; the rest has no key."""
    found = _find_only_bracketed_key(broken)
    if found is None:
        return None
    closed = found.value[: find_closed_end(found.value)]
    message = f"This host ends the value of `{found.key}` after `{closed[:40]}`."
    return _replace_value(broken, found, closed, message)


def nest_after_bracketed_key(broken: BrokenHeader) -> RepairedLines | None:
    """Bun takes `a: [x]: y` for a mapping in a mapping, to which all lines below belong."""
    first = next(_find_bracketed_keys(broken), None)
    if first is None:
        return None
    index, line, key, _ = first
    message = f"This host reads everything below `{key}` as a part of it."
    patch = Patch(index, len(broken.lines) - 1, [], _report(message, line, key))
    return apply_patches(broken.lines, [patch])


class _BracketedKey(NamedTuple):
    """A line such as `a: [x]: y`: its index, the key before the brackets, and all that follows."""

    line_index: int
    line: Line
    key: str
    value: str


def _find_only_bracketed_key(broken: BrokenHeader) -> _BracketedKey | None:
    """The only such line. Two are two equal keys, which `yaml` rejects."""
    found = list(_find_bracketed_keys(broken))
    return found[0] if len(found) == 1 else None


def _replace_value(
    broken: BrokenHeader, found: _BracketedKey, value: str, message: str
) -> RepairedLines | None:
    line = found.line._replace(text=f"{found.key}: {value}")
    finding = _report(message, found.line, found.key)
    patch = Patch(found.line_index, found.line_index, [line], finding)
    return apply_patches(broken.lines, [patch])


def _find_bracketed_keys(broken: BrokenHeader) -> Iterator[_BracketedKey]:
    for index, line, pair in match_lines(broken.lines, _PAIR):
        key, value = pair[1], pair[2]
        if value[0] not in _OPENING:
            continue
        end = find_closed_end(value)
        rest = value[end:].lstrip()
        is_key = rest == ":" or rest.startswith(": ")
        if is_key:
            yield _BracketedKey(index, line, key, value.strip())


def indent_brackets(broken: BrokenHeader) -> RepairedLines | None:
    """`yaml` lets brackets that are the value of a key begin at the margin of the next line."""
    return apply_patches(broken.lines, _indent_brackets(broken))


def _indent_brackets(broken: BrokenHeader) -> Iterator[Patch]:
    lines = broken.lines
    # Lines up to this one have a patch already.
    patched = -1
    for first in range(1, len(lines)):
        if first <= patched:
            continue
        is_below_key = _BARE_KEY.fullmatch(lines[first - 1].text) is not None
        is_bracketed = lines[first].text.startswith(tuple(_OPENING))
        if not is_below_key or not is_bracketed:
            continue
        patched = _find_last_bracketed(lines, first)
        indented = [line._replace(text=f"  {line.text}") for line in lines[first : patched + 1]]
        yield Patch(first, patched, indented)


def _find_last_bracketed(lines: Sequence[Line], first: int) -> int:
    """The line on which the brackets of a line are closed; the last one if they never are."""
    level = 0
    for index in range(first, len(lines)):
        level += _count_open(lines[index].text)
        if level <= 0:
            return index
    return len(lines) - 1


def _count_open(text: str) -> int:
    """How many more brackets a line opens than it closes."""
    levels = [level for _, level in _follow_brackets(text)]
    return levels[-1] if levels else 0


def find_closed_end(value: str) -> int:
    """Where the quote or bracket that begins a value is closed; 0 if it is not, or begins with
    neither.
    """
    if value.startswith(tuple(_OPENING)):
        ends = (end for end, level in _follow_brackets(value) if level == 0)
        return next(ends, 0)
    closed = _QUOTED.match(value)
    return closed.end() if closed else 0


def _follow_brackets(text: str) -> Iterator[tuple[int, int]]:
    """The end of every bracket outside quotes, and how many brackets are open there."""
    level, quote, is_escaped = 0, "", False
    for end, character in enumerate(text, start=1):
        if is_escaped:
            is_escaped = False
        elif quote:
            # In single quotes a backslash is text.
            is_escaped = character == "\\" and quote == '"'
            if character == quote:
                quote = ""
        elif character in _QUOTES:
            quote = character
        elif character in _BRACKETS:
            level += _BRACKETS[character]
            yield end, level


def _report(message: str, line: Line, key: str) -> Diagnostic:
    return report("yaml-invalid-value", message, line, key)
