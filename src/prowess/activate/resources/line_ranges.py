"""Ranges of lines at the end of a path: `:50-52`, `:50+3`, `:50`, `:raw:5-6,90-91`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from prowess.errors.activation import AddressError

_RANGE = r"\d{1,9}(?:[-+]\d{1,9})?"
_SELECTOR = re.compile(rf":(?:(raw):)?({_RANGE}(?:,{_RANGE})*)\Z|:(raw)\Z")
_GAP = "…"


class Lines(msgspec.Struct, frozen=True):
    """The lines that are wanted, counted from 1, both ends included; an end of None is the last
    line.

    `raw` gives just these lines, without any around them and without a note on what follows. No
    ranges are all lines.
    """

    ranges: tuple[tuple[int, int | None], ...] = ()
    raw: bool = False


def split_lines(path: str, *, url: str) -> tuple[str, Lines | None]:
    """A path and the lines that stand at its end; None where there are none. Raises `AddressError`
    for none at all.
    """
    found = _SELECTOR.search(path)
    if found is None:
        return path, None
    ranges = tuple(_parse_range(one, url) for one in found[2].split(",")) if found[2] else ()
    return path[: found.start()], Lines(ranges, raw=bool(found[1] or found[3]))


def _parse_range(text: str, url: str) -> tuple[int, int | None]:
    first, sign, second = re.split(r"([-+])", text) if not text.isdigit() else (text, "", "")
    start = int(first)
    end = None if not sign else int(second) if sign == "-" else start + int(second) - 1
    if start < 1 or (end is not None and end < start):
        raise AddressError(
            url, "malformed", f"“{text}” names no lines; they are counted from 1, the smaller first"
        )
    return start, end


def select_lines(content: str, lines: Lines, *, url: str, before: int, after: int) -> str:
    """The wanted lines with some around them, a mark between pieces, and a note on how to go on."""
    every = content.split("\n")
    if every[-1] == "":
        every.pop()
    if not lines.ranges:
        return content
    total = len(every)
    for start, _ in lines.ranges:
        if start > total:
            count = "1 line" if total == 1 else f"{total:,} lines"
            raise AddressError(
                url, "no-such-line", f"there is no line {start:,}; the file has {count}"
            )
    around = (0, 0) if lines.raw else (before, after)
    pieces = list(_join(sorted(_widen(lines, total, *around))))
    text = f"\n{_GAP}\n".join("\n".join(every[first - 1 : last]) for first, last in pieces)
    left = total - pieces[-1][1]
    if lines.raw or not left:
        return text
    follow = "1 more line follows" if left == 1 else f"{left:,} more lines follow"
    return f"{text}\n\n[{follow}; read on with :{pieces[-1][1] + 1}]"


def _widen(lines: Lines, total: int, before: int, after: int) -> Iterator[tuple[int, int]]:
    for start, end in lines.ranges:
        if end is None:
            yield start, total
        else:
            yield max(1, start - before), min(total, end + after)


def _join(pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pieces that touch or overlap, as one."""
    first, last = pieces[0]
    for start, end in pieces[1:]:
        if start > last + 1:
            yield first, last
            first = start
        last = max(last, end) if start <= last + 1 else end
    yield first, last
