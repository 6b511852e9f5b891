"""Where commands stand in a body: `` !`command` `` within a line, and blocks that open with ```` ```! ````.

They are found in the body as its author wrote it, before anything is put in, so nothing that is put in can become
a command. What stands in an ordinary code block or a code span is an example and no command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# What may stand before a fence on its line: blanks, and the marks of quotes and lists.
_FENCE = re.compile(r"(?P<lead>(?:[ \t]|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)(?P<run>`{3,}|~{3,})(?P<info>.*)")
_CLOSE = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_RUN = re.compile(r"`+")


class Spot(NamedTuple):
    """A command in a body: where its mark begins and ends, and its text."""

    start: int
    end: int
    command: str


class Found(NamedTuple):
    """The commands of a body in their order, and the line of a block that is never closed, counted from 1."""

    spots: tuple[Spot, ...]
    unclosed: int | None = None


def may_hold_commands(body: str) -> bool:
    """Whether a body is worth being searched for commands."""
    # One character is found fast, and most bodies do not even have that.
    return "!" in body and ("!`" in body or "```!" in body)


def find_commands(body: str) -> Found:
    """The commands that stand in a body."""
    if not may_hold_commands(body):
        return Found(())
    spots: list[Spot] = []
    lines = list(_list_lines(body))
    at = 0
    while at < len(lines):
        start, line = lines[at]
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence is None or (fence["run"][0] == "`" and "`" in fence["info"]):
            if "!`" in line:
                spots += _find_inline(line, start)
            at += 1
            continue
        close = _find_close(lines, at + 1, fence["run"])
        is_command = fence["run"] == "```" and fence["info"].startswith("!") and ">" not in fence["lead"]
        if is_command and close is None:
            return Found(tuple(spots), at + 1)
        if is_command and close is not None:
            spots.append(_as_block(body, lines, at, close, fence))
        at = len(lines) if close is None else close + 1
    return Found(tuple(spot for spot in spots if spot.command.strip()))


def _list_lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines with their places, without their ends; only `\\n` ends a line, as in a shell."""
    start = 0
    for line in body.split("\n"):
        yield start, line.removesuffix("\r")
        start += len(line) + 1


def _find_close(lines: list[tuple[int, str]], start: int, run: str) -> int | None:
    """The line that closes a block: a run of the same character that is at least as long, and nothing else."""
    for at in range(start, len(lines)):
        line = lines[at][1]
        close = _CLOSE.fullmatch(line) if run[0] in line else None
        if close is not None and close["run"].startswith(run):
            return at
    return None


def _as_block(body: str, lines: list[tuple[int, str]], at: int, close: int, fence: re.Match[str]) -> Spot:
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
