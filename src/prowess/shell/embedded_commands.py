"""The commands in a body: `` !`command` `` within a line, and blocks that open with ```` ```! ````.

They are found in the body as its author wrote it, before anything is filled in, so a value can
never become a command. What is in an ordinary code block or code span is an example, not a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prowess.activate.body.substitution import may_hold_commands

# What may be before a fence on its line: blanks, and the marks of quotes and lists.
_FENCE = re.compile(
    r"(?P<lead>(?:[ \t]|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)(?P<run>`{3,}|~{3,})(?P<info>.*)"
)
_CLOSE = re.compile(r"[ \t]*(?P<run>`{3,}|~{3,})[ \t]*")
_ITEM = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+)(?=\S)")
_QUOTE = re.compile(r"[ \t]*>")
_RUN = re.compile(r"`+")
# How far a fence may be indented, counted from where the text around it begins.
_MOST_INDENT = 3

Line = tuple[int, str]
"""A line of a body and where it begins."""


class EmbeddedCommand(NamedTuple):
    """A command: where its mark begins and ends in the body, its text, and the text's line."""

    start: int
    end: int
    text: str
    line: int


class EmbeddedCommands(NamedTuple):
    """The commands of a body in order, and the line of a block that is never closed, from 1."""

    commands: tuple[EmbeddedCommand, ...]
    unclosed: int | None = None


def find_commands(body: str) -> EmbeddedCommands:
    """The commands in a body."""
    if not may_hold_commands(body):
        return EmbeddedCommands(())
    commands: list[EmbeddedCommand] = []
    lines = list(_list_lines(body))
    # The columns of the open list items, by which a block inside one of them is recognised.
    items: list[int] = []
    at = 0
    while at < len(lines):
        start, line = lines[at]
        fence = _find_fence(line)
        if fence is None:
            _note_item(items, line)
            commands += _find_inline(line, start, at + 1)
            at += 1
            continue
        after, close = _find_close(lines, at, fence, _find_indent(items, fence["lead"]))
        is_quoted = ">" in fence["lead"]
        is_marked = fence["run"] == "```" and fence["info"].startswith("!")
        if is_marked and not is_quoted:
            if close is None:
                # Nobody knows where it ends, so nothing after it is read as a command, either.
                return EmbeddedCommands(tuple(commands), at + 1)
            commands.append(_read_block(body, lines, at, close, fence))
        at = after
    return EmbeddedCommands(tuple(command for command in commands if command.text.strip()))


def _list_lines(body: str) -> Iterator[Line]:
    """The lines without their ends; only `\\n` ends a line, as in a shell."""
    start = 0
    for line in body.split("\n"):
        yield start, line.removesuffix("\r")
        start += len(line) + 1


def _find_fence(line: str) -> re.Match[str] | None:
    if "```" not in line and "~~~" not in line:
        return None
    fence = _FENCE.match(line)
    if fence is None:
        return None
    # Three back-quotes that are closed on their line are a code span.
    is_span = fence["run"][0] == "`" and "`" in fence["info"]
    return None if is_span else fence


def _find_close(
    lines: list[Line], opening: int, fence: re.Match[str], indent: int
) -> tuple[int, int | None]:
    """The line after a block, and the line that closes it: a run of the same character, as long.

    A block also ends with the quote or list item around it; then no line closes it. `indent` is the
    column where the text of that item begins.
    """
    run, quotes = fence["run"], fence["lead"].count(">")
    for at in range(opening + 1, len(lines)):
        text = _strip_quotes(lines[at][1], quotes)
        if text is None:
            return at, None
        column = _measure_indent(text)
        leaves_item = column < indent and text.strip() != ""
        if leaves_item:
            return at, None
        close = _CLOSE.fullmatch(text)
        if close is None or not close["run"].startswith(run):
            continue
        # A deeper fence is text of the block; in a quote columns are not counted.
        is_near = column <= indent + _MOST_INDENT
        if is_near or quotes:
            return at + 1, at
    return len(lines), None


def _strip_quotes(line: str, quotes: int) -> str | None:
    """A line without the marks of the quotes around it; None where it is outside of them."""
    for _ in range(quotes):
        mark = _QUOTE.match(line)
        if mark is None:
            return None
        line = line[mark.end() :]
    return line


def _measure_indent(line: str) -> int:
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4))


def _note_item(items: list[int], line: str) -> None:
    """Keep the columns where the text of the open list items begins, the outermost first."""
    if not line or line.isspace():
        return
    indent = _measure_indent(line)
    while items and items[-1] > indent:
        items.pop()
    item = _ITEM.match(line)
    if item is not None:
        items.append(len(item["lead"].expandtabs(4)))


def _find_indent(items: list[int], lead: str) -> int:
    """The column where the text around a block begins: 0, or that of a list item."""
    if ">" in lead:
        return 0
    width = len(lead.expandtabs(4))
    if lead.strip():
        # The fence is on the line of a new item.
        items[:] = [column for column in items if column < width] + [width]
        return width
    around = [column for column in items if column <= width]
    column = max(around, default=0)
    return column if width - column <= _MOST_INDENT else width


def _read_block(
    body: str, lines: list[Line], at: int, close: int, fence: re.Match[str]
) -> EmbeddedCommand:
    """A block as a command; what follows the `!` on its first line belongs to it."""
    start = lines[at][0] + fence.start("run")
    closing_start, closing = lines[close]
    text = body[start + len(fence["run"]) + 1 : closing_start].replace("\r\n", "\n")
    blank_lines = len(text) - len(text.lstrip("\n"))
    end = closing_start + len(closing.rstrip(" \t"))
    return EmbeddedCommand(start, end, text.strip("\n"), at + 1 + blank_lines)


def _find_inline(line: str, start: int, number: int) -> Iterator[EmbeddedCommand]:
    """The commands of one line; what is in a code span is left out."""
    if "!`" not in line:
        return
    runs = [run.span() for run in _RUN.finditer(line)]
    closing = _pair_runs(runs)
    at = 0
    while at < len(runs):
        close = closing[at]
        if close is None:
            at += 1
            continue
        begin, end = runs[at]
        mark = begin - 1
        is_marked = end - begin == 1 and line[max(mark, 0) : begin] == "!"
        # `Wow!` before a code span is the end of a word, and no mark.
        begins_word = mark <= 0 or line[mark - 1].isspace()
        if is_marked and begins_word:
            text = line[end : runs[close][0]]
            yield EmbeddedCommand(start + mark, start + runs[close][1], text, number)
        # What is inside a span opens no other one.
        at = close + 1


def _pair_runs(runs: list[tuple[int, int]]) -> list[int | None]:
    """For every run of back-quotes the next one of its length, in one pass from the right."""
    following: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closing[at] = following.get(length)
        following[length] = at
    return closing
