"""Where keys stand in YAML: block mappings and sequences by their indentation, flow collections by
their brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.settings.formats.key_spans import Mark, Path, read_tokens, walk_flow

_FLOW = re.compile(
    r"""(?P<skip>\s++|(?<=[\s\[\]{},])\#[^\n]*+)
    |(?P<text>"(?:[^"\\]|\\.)*+"?|'(?:[^']|'')*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)
    |(?P<colon>:(?=[\s,\[\]{}]|\Z)|(?<=["']):)
    |(?P<word>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}]|\Z)|[ \t]++(?=[^\s,\[\]{}:\#]))++|.)""",
    re.VERBOSE | re.DOTALL,
)
_KEY = re.compile(
    r"""("(?:[^"\\\n]|\\.)*+"|'(?:[^'\n]|'')*+'|[^\s\#"'\[\]{},|>%@`]
    (?:[^\s:]|:(?=\S)|[ \t]++(?=[^\s:\#]|:\S))*+)[ \t]*+:(?=\s|\Z)""",
    re.VERBOSE,
)
_DASH = re.compile(r"-(?=\s|\Z)")
_PROPERTIES = re.compile(r"[ \t]*(?:[&!]\S*[ \t]*)*")
_QUOTED = {'"': re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL), "'": re.compile(r"'(?:[^']|'')*+'?")}
_LINE = re.compile(r"([ \t]*)([^\n]*)\n?")
_MARKER = re.compile(r"(?:---|\.\.\.)(?=\s|\Z)|%")


def scan_yaml(text: str) -> Iterator[Mark]:
    """Every key and list item of a YAML text, in the order of the text."""
    yield from _Scan(text).read_marks()


class _Frame:
    """An open block: its column, whether it is a sequence, what it belongs to, and its last key or
    item.
    """

    __slots__ = ("base", "column", "count", "is_list", "last")

    def __init__(self, column: int, base: Path, *, is_list: bool) -> None:
        self.column = column
        self.base = base
        self.is_list = is_list
        self.last = base
        self.count = 0


class _Scan:
    """A cursor over the text and the blocks that are open at it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line_start = 0
        self.frames: list[_Frame] = []

    def read_marks(self) -> Iterator[Mark]:
        while self.at < len(self.text):
            line = self._start_line()
            if line is not None:
                yield from self._read_node()

    def _start_line(self) -> re.Match[str] | None:
        """Go to the first character of a line; over it where it holds nothing."""
        self.line_start = self.at
        line = _LINE.match(self.text, self.at)
        if line is None or line[2] in ("", "\r") or line[2][0] == "#":
            self.at = line.end() if line else len(self.text)
            return None
        marker = _MARKER.match(line[2]) if not line[1] else None
        if marker is not None:
            self.frames.clear()
            self.at = line.end() if marker[0] != "---" else self.at + 3
            return line if marker[0] == "---" else None
        self.at = line.end(1)
        return line

    def _read_node(self) -> Iterator[Mark]:
        """The dashes, the key and the value that stand on one line."""
        owner = self.frames[-1].column if self.frames else -1
        while _DASH.match(self.text, self.at):
            owner = self._column()
            frame = self._open(owner, is_list=True)
            frame.last = (*frame.base, str(frame.count))
            frame.count += 1
            yield Mark(frame.last, "item", self.at, self.at + 1, self.at)
            self._skip_blanks(self.at + 1)
        column = self._column()
        start = _end(_PROPERTIES.match(self.text, self.at), self.at)
        key = _KEY.match(self.text, start)
        if key is not None:
            owner = column
            frame = self._open(column, is_list=False)
            frame.last = (*frame.base, _read_yaml_key(key[1]))
            yield Mark(frame.last, "key", key.start(1), key.end(1), key.start(1))
            start = _end(_PROPERTIES.match(self.text, key.end()), key.end())
        self.at = start
        yield from self._read_value(owner)

    def _column(self) -> int:
        return self.at - self.line_start

    def _skip_blanks(self, at: int) -> None:
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        self.at = at

    def _open(self, column: int, *, is_list: bool) -> _Frame:
        """The block at a column: the one that is open there, else a new one below the last key or
        item.
        """
        frames = self.frames
        while frames and (
            frames[-1].column > column
            or (frames[-1].column == column and frames[-1].is_list and not is_list)
        ):
            frames.pop()
        if not (frames and frames[-1].column == column and frames[-1].is_list == is_list):
            frames.append(_Frame(column, frames[-1].last if frames else (), is_list=is_list))
        return frames[-1]

    def _read_value(self, owner: int) -> Iterator[Mark]:
        first = self.text[self.at : self.at + 1]
        if first in ("[", "{"):
            path = self.frames[-1].last if self.frames else ()
            end = yield from walk_flow(read_tokens(_FLOW, self.text, self.at), path, _read_yaml_key)
            self._skip_line(len(self.text) if end is None else end)
        elif first in _QUOTED:
            self._skip_line(_end(_QUOTED[first].match(self.text, self.at), self.at))
        else:
            self._skip_line(self.at)
            if first and first not in "\r\n#":
                self._skip_deeper(owner, is_block=first in "|>")

    def _skip_line(self, at: int) -> None:
        end = self.text.find("\n", at)
        self.at = len(self.text) if end < 0 else end + 1

    def _skip_deeper(self, owner: int, *, is_block: bool) -> None:
        """Go over the lines that go on with a plain text, or over a block of text."""
        while self.at < len(self.text):
            line = _LINE.match(self.text, self.at)
            if line is None:
                return
            is_blank = line[2] in ("", "\r")
            if not is_blank and (len(line[1]) <= owner or (line[2][0] == "#" and not is_block)):
                return
            self.at = line.end()


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return otherwise if match is None else match.end()


def _read_yaml_key(text: str) -> str:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    if text[0] != '"':
        return text.rstrip()
    if "\\" not in text:
        return text[1:-1]
    import ryaml

    try:
        return str(ryaml.loads(text))  # type: ignore[attr-defined]
    except ValueError:
        return text
