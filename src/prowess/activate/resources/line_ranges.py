"""Ranges of lines at the end of a path: `:50-52`, `:50+3`, `:50`, `:raw:5-6,90-91`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from prowess.errors.activation import AddressError

_RANGE = r"\d{1,9}(?:[-+]\d{1,9})?"
_SELECTOR = re.compile(rf":(?:(raw):)?({_RANGE}(?:,{_RANGE})*)\Z|:(raw)\Z")
_SIGN = re.compile(r"([-+])")
_GAP = "…"


class Lines(msgspec.Struct, frozen=True):
    """The lines asked for, counted from 1, both ends included; an end of None is the last line.

    `raw` asks for exactly these lines, without context and without a note on what follows. No
    ranges mean all lines.
    """

    ranges: tuple[tuple[int, int | None], ...] = ()
    raw: bool = False


def split_lines(path: str, *, url: str) -> tuple[str, Lines | None]:
    """A path and the lines given at its end, None for none. Raises `AddressError`."""
    selector = _SELECTOR.search(path)
    if selector is None:
        return path, None
    raw_before, listed, raw_alone = selector.groups()
    ranges = [_parse_range(text, url) for text in (listed or "").split(",") if text]
    lines = Lines(tuple(ranges), raw=bool(raw_before or raw_alone))
    return path[: selector.start()], lines


def _parse_range(text: str, url: str) -> tuple[int, int | None]:
    first, *rest = _SIGN.split(text)
    start, end = int(first), None
    if rest:
        sign, number = rest[0], int(rest[1])
        # `50+3` are three lines.
        end = number if sign == "-" else start + number - 1
    if start < 1 or (end is not None and end < start):
        problem = f"“{text}” is not a range of lines; count from 1, the smaller number first"
        raise AddressError(url, "malformed", problem)
    return start, end


def select_lines(content: str, lines: Lines, *, url: str, before: int, after: int) -> str:
    """The wanted lines with context, a mark between pieces, and a note on how to read on."""
    if not lines.ranges:
        return content
    every = content.split("\n")
    # The line end of the last line begins no further one.
    if every[-1] == "":
        every.pop()
    total = len(every)
    _check_starts(lines, total, url)
    context = (0, 0) if lines.raw else (before, after)
    pieces = list(_join(sorted(_widen(lines, total, *context))))
    texts = ["\n".join(every[first - 1 : last]) for first, last in pieces]
    text = f"\n{_GAP}\n".join(texts)
    last = pieces[-1][1]
    left = total - last
    if lines.raw or not left:
        return text
    more = "1 more line" if left == 1 else f"{left:,} more lines"
    return f"{text}\n\n[{more}; read on with :{last + 1}]"


def _check_starts(lines: Lines, total: int, url: str) -> None:
    for start, _ in lines.ranges:
        if start > total:
            count = "1 line" if total == 1 else f"{total:,} lines"
            problem = f"there is no line {start:,}; the file has {count}"
            raise AddressError(url, "no-such-line", problem)


def _widen(lines: Lines, total: int, before: int, after: int) -> Iterator[tuple[int, int]]:
    """The ranges with context. One without an end runs to the last line and gets none."""
    for start, end in lines.ranges:
        if end is None:
            yield start, total
        else:
            yield max(1, start - before), min(total, end + after)


def _join(pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Sorted pieces, those that touch or overlap as one."""
    first, last = pieces[0]
    for start, end in pieces[1:]:
        if start > last + 1:
            yield first, last
            first, last = start, end
        else:
            last = max(last, end)
    yield first, last
