"""What scanners of the three formats share: tokens, marks, and the walk through bracketed text.

Brackets hold all of JSON5, the flow collections of YAML, and the arrays and inline tables of TOML.
A scanner is no parser: it runs beside one, on text that may be anything, and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from typing import Literal, NamedTuple

Path = tuple[str, ...]
ReadKey = Callable[[str], str]


class Token(NamedTuple):
    """A piece of text: `open`, `close`, `comma`, `colon`, `dot`, `newline`, `text` (quoted) or
    `word`.
    """

    kind: str
    text: str
    start: int
    end: int


class Mark(NamedTuple):
    """A key or list item and the offsets where it stands.

    `kind` is `table` for the last part of a TOML header, `prefix` for the parts before it, else
    `key` or `item`. `group` is where the dotted key that it is a part of begins.
    """

    path: Path
    kind: Literal["key", "item", "table", "prefix"]
    start: int
    end: int
    group: int


def read_tokens(pattern: re.Pattern[str], text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text; what the pattern calls `skip` is left out."""
    for match in pattern.finditer(text, start):
        kind = match.lastgroup
        if kind is not None and kind != "skip":
            yield Token(kind, match[0], match.start(), match.end())


class _Frame:
    """An open bracket: what it belongs to, and the key or item that is being read in it."""

    __slots__ = ("group", "index", "path", "slot", "valued")

    def __init__(self, path: Path, bracket: str) -> None:
        self.path = path
        self.index = 0 if bracket == "[" else -1
        self.clear()

    def clear(self) -> None:
        self.slot: Path = ()
        self.valued = False
        self.group = -1

    def take_comma(self) -> None:
        if self.index >= 0:
            self.index += 1
        self.clear()

    def take(self, token: Token, read_key: ReadKey) -> Mark | None:
        """The key or item that a token begins, if it begins one. A word after a dot goes on with
        its key.
        """
        if self.index >= 0:
            if self.slot:
                return None
            self.slot = (*self.path, str(self.index))
            return Mark(self.slot, "item", token.start, token.end, token.start)
        if self.valued or token.kind == "open":
            return None
        self.slot = (*(self.slot or self.path), read_key(token.text))
        self.group = token.start if self.group < 0 else self.group
        return Mark(self.slot, "key", token.start, token.end, self.group)


def walk_flow(
    tokens: Iterator[Token], path: Path, read_key: ReadKey
) -> Generator[Mark, None, int | None]:
    """The keys and items of the collection that begins with the next token.

    Stops behind its closing bracket and returns that offset; None where the text ends before.
    """
    frames: list[_Frame] = []
    for token in tokens:
        if token.kind == "close":
            if frames:
                frames.pop()
            if not frames:
                return token.end
        elif not frames:
            if token.kind != "open":
                return token.end
            frames.append(_Frame(path, token.text))
        elif token.kind == "comma":
            frames[-1].take_comma()
        elif token.kind == "colon":
            frames[-1].valued = True
        elif token.kind in ("word", "text", "open"):
            mark = frames[-1].take(token, read_key)
            if mark is not None:
                yield mark
            if token.kind == "open":
                frames.append(_Frame(frames[-1].slot or frames[-1].path, token.text))
    return None
