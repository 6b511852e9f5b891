"""Where the keys of a settings file are: the offsets and the line of each.

The scanners of the three formats share what is here. A scanner is not a parser: it runs next to
one, on text that may be anything, and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice
from typing import Literal, NamedTuple

# No settings file has more. Text that was made to be endless is not followed further.
MOST_LEVELS = 64
_MOST_SPANS = 50_000

Path = tuple[str, ...]
ReadKey = Callable[[str], str]


class Token(NamedTuple):
    """A piece of text.

    `kind` is `open`, `close`, `comma`, `colon`, `dot`, `newline`, `text` (quoted) or `word`.
    """

    kind: str
    text: str
    start: int
    end: int


class KeySpan(NamedTuple):
    """A key or list item and where it is in the text.

    `kind` is `table` for the last part of a TOML header, `prefix` for the parts before it, `key` or
    `item`. `group` is the start of the dotted key that it is part of.
    """

    path: Path
    kind: Literal["key", "item", "table", "prefix"]
    start: int
    end: int
    group: int


Scan = Callable[[str], Iterator[KeySpan]]


# Lines


def index_lines(text: str, scan: Scan, *, is_last_counted: bool) -> dict[Path, int]:
    """The line of every key and list item.

    A TOML table has the line of its header, or else of its first key. Of a key that appears twice,
    the last counts in JSON and the first elsewhere.
    """
    lines: dict[Path, int] = {}
    for span, line in _scan_with_lines(text, scan):
        is_first = span.path not in lines
        # The header of a TOML table may come after that of a table inside it.
        is_header = span.kind == "table"
        if is_first or is_last_counted or is_header:
            lines[span.path] = line
    return lines


def find_nearest(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of a key, or of the nearest key above it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def find_too_deep(text: str, scan: Scan) -> int | None:
    """The line of the first key that is more than `MOST_LEVELS` deep."""
    for span, line in _scan_with_lines(text, scan):
        if len(span.path) > MOST_LEVELS:
            return line
    return None


def find_repeated(text: str, scan: Scan) -> tuple[Path, int] | None:
    """The first key that appears twice, and the line where it does."""
    seen: set[Path] = set()
    for span, line in _scan_with_lines(text, scan):
        if span.path in seen:
            return span.path, line
        seen.add(span.path)
    return None


def _scan_with_lines(text: str, scan: Scan) -> Iterator[tuple[KeySpan, int]]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    line, counted = 1, 0
    for span in islice(scan(text), _MOST_SPANS):
        # Spans come in the order of the text, so each part of it is counted once.
        line += text.count("\n", counted, span.start)
        counted = span.start
        yield span, line
        if len(span.path) > MOST_LEVELS:
            return


# Tokens and brackets


def read_tokens(pattern: re.Pattern[str], text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text, named by the groups of a pattern; `skip` is left out."""
    for match in pattern.finditer(text, start):
        kind = match.lastgroup
        if kind is not None and kind != "skip":
            yield Token(kind, match[0], match.start(), match.end())


class _Bracket:
    """An open bracket and the key or item that is being read in it."""

    __slots__ = ("group", "index", "is_list", "path", "slot", "valued")

    def __init__(self, path: Path, opening: str) -> None:
        self.path = path
        self.is_list = opening == "["
        self.index = 0
        self.clear()

    def clear(self) -> None:
        self.slot: Path = ()
        self.valued = False
        self.group = -1

    def take_comma(self) -> None:
        self.index += 1
        self.clear()

    def take(self, token: Token, read_key: ReadKey) -> KeySpan | None:
        """The key or item that starts with a token, if one does.

        A word after a dot continues the key.
        """
        if self.is_list:
            # The rest of an item that has several tokens.
            if self.slot:
                return None
            self.slot = (*self.path, str(self.index))
            return KeySpan(self.slot, "item", token.start, token.end, token.start)
        is_value = self.valued or token.kind == "open"
        if is_value:
            return None
        above = self.slot or self.path
        self.slot = (*above, read_key(token.text))
        if self.group < 0:
            self.group = token.start
        return KeySpan(self.slot, "key", token.start, token.end, self.group)


def scan_brackets(
    tokens: Iterator[Token], path: Path, read_key: ReadKey
) -> Generator[KeySpan, None, int | None]:
    """The keys and items of the bracketed value that starts with the next token.

    That is all of JSON5, the flow collections of YAML, and the arrays and inline tables of TOML.
    Returns the offset after the closing bracket, or None if the text ends before it.
    """
    opening = next(tokens, None)
    if opening is None:
        return None
    # A single value instead of a collection has no keys; the parser reports it.
    if opening.kind != "open":
        return opening.end
    brackets = [_Bracket(path, opening.text)]
    for token in tokens:
        if token.kind == "close":
            brackets.pop()
            if not brackets:
                return token.end
        elif token.kind == "comma":
            brackets[-1].take_comma()
        elif token.kind == "colon":
            brackets[-1].valued = True
        elif token.kind in ("word", "text", "open"):
            inner = brackets[-1]
            span = inner.take(token, read_key)
            if span is not None:
                yield span
            if token.kind == "open":
                brackets.append(_Bracket(inner.slot or inner.path, token.text))
    return None
