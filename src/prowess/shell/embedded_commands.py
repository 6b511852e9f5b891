"""Where commands stand in a body: `` !`command` `` within a line, and blocks that open with ````
```! ````.

They are found in the body as its author wrote it, before anything is put in, so nothing that is put
in can become a command. What stands in an ordinary code block or a code span is an example and no
command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prowess.activate.body.substitution import may_hold_commands

# What may stand before a fence on its line: blanks, and the marks of quotes and lists.
_FENCE = re.compile(
    r"(?P<lead>(?:[ \t]|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)(?P<run>`{3,}|~{3,})(?P<info>.*)"
)
_CLOSE = re.compile(r"(?P<blank>[ \t]*)(?P<run>`{3,}|~{3,})[ \t]*")
_ITEM = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+)(?=\S)")
_QUOTE = re.compile(r"[ \t]*>")
# How far a fence may be moved in, counted from where the text around it begins.
_MOST_BLANKS = 3
_RUN = re.compile(r"`+")


class Spot(NamedTuple):
    """A command in a body: where its mark begins and ends, and its text."""

    start: int
    end: int
    command: str


class Found(NamedTuple):
    """The commands of a body in their order, and the line of a block that is never closed, counted
    from 1.
    """

    spots: tuple[Spot, ...]
    unclosed: int | None = None


def find_commands(body: str) -> Found:
    """The commands that stand in a body."""
    if not may_hold_commands(body):
        return Found(())
    spots: list[Spot] = []
    lines = list(_list_lines(body))
    items: list[int] = []
    at = 0
    while at < len(lines):
        start, line = lines[at]
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence is None or (fence["run"][0] == "`" and "`" in fence["info"]):
            _note_item(items, line)
            if "!`" in line:
                spots += _find_inline(line, start)
            at += 1
            continue
        ends, close = _find_close(lines, at, fence, _find_inside(items, fence["lead"]))
        is_command = (
            fence["run"] == "```" and fence["info"].startswith("!") and ">" not in fence["lead"]
        )
        if is_command and close is None:
            return Found(tuple(spots), at + 1)
        if is_command and close is not None:
            spots.append(_as_block(body, lines, at, close, fence))
        at = ends
    return Found(tuple(spot for spot in spots if spot.command.strip()))


def _list_lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines with their places, without their ends; only `\\n` ends a line, as in a shell."""
    start = 0
    for line in body.split("\n"):
        yield start, line.removesuffix("\r")
        start += len(line) + 1


def _find_close(
    lines: list[tuple[int, str]], opening: int, fence: re.Match[str], inside: int
) -> tuple[int, int | None]:
    """The line after a block, and the line that closes it: a run of the same character, as long,
    and nothing else.

    A block also ends where the quote or the item of a list ends that it stands in; then no line
    closes it. `inside` is the column at which the text of that item begins.
    """
    run, quotes = fence["run"], fence["lead"].count(">")
    for at in range(opening + 1, len(lines)):
        line = lines[at][1]
        text, is_outside = _strip_quotes(line, quotes) if quotes else (line, False)
        if is_outside or (inside and text.strip() and _width(text) < inside):
            return at, None
        close = _CLOSE.fullmatch(text) if run[0] in text else None
        if (
            close is not None
            and close["run"].startswith(run)
            and (quotes or _width(text) <= inside + _MOST_BLANKS)
        ):
            return at + 1, at
    return len(lines), None


def _strip_quotes(line: str, quotes: int) -> tuple[str, bool]:
    """A line without the marks of the quotes it stands in, and whether it stands outside of them."""
    for _ in range(quotes):
        mark = _QUOTE.match(line)
        if mark is None:
            return line, True
        line = line[mark.end() :]
    return line, False


def _width(line: str) -> int:
    """How many columns of blanks a line begins with."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4))


def _note_item(items: list[int], line: str) -> None:
    """Keep the columns at which the text of the open items of lists begins, from the outermost on."""
    if not line or line.isspace():
        return
    item = _ITEM.match(line)
    width = _width(line)
    while items and items[-1] > width:
        items.pop()
    if item is not None:
        items.append(len(item["lead"].expandtabs(4)))


def _find_inside(items: list[int], lead: str) -> int:
    """The column at which the text begins that a block stands in: 0, or that of an item of a list."""
    if ">" in lead:
        return 0
    width = len(lead.expandtabs(4))
    if lead.strip():
        items[:] = [column for column in items if column < width] + [width]
        return width
    column = max((column for column in items if column <= width), default=0)
    return column if width - column <= _MOST_BLANKS else width


def _as_block(
    body: str, lines: list[tuple[int, str]], at: int, close: int, fence: re.Match[str]
) -> Spot:
    """A block as a command; what stands behind the `!` on its first line belongs to it."""
    start = lines[at][0] + fence.start("run")
    closing = lines[close]
    end = closing[0] + len(closing[1].rstrip(" \t"))
    text = body[start + len(fence["run"]) + 1 : closing[0]]
    return Spot(start, end, text.replace("\r\n", "\n").strip("\n"))


def _find_inline(line: str, start: int) -> Iterator[Spot]:
    """The commands of one line, from left to right; what a code span holds is passed over."""
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
        stands_free = mark >= 0 and line[mark] == "!" and (mark == 0 or line[mark - 1].isspace())
        if end - begin == 1 and stands_free:
            yield Spot(start + mark, start + runs[close][1], line[end : runs[close][0]])
        at = close + 1


def _pair_runs(runs: list[tuple[int, int]]) -> list[int | None]:
    """For every run of back-quotes the next one of its length, found in one pass from the right."""
    following: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closing[at] = following.get(length)
        following[length] = at
    return closing
