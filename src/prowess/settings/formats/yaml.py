"""YAML: parsing, and where its keys are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_spans import (
    KeySpan,
    Path,
    find_repeated,
    read_tokens,
    scan_brackets,
)
from prowess.settings.formats.syntax import (
    check_shape,
    last_line,
    line_at,
    prepare_text,
    split_message,
)

# Aliases multiply text: only a few are allowed, and only in small files.
_MOST_ALIASES = 16
_MOST_CHARACTERS_WITH_ALIASES = 1 << 16
# Nested brackets cost the parser quadratic time.
_MOST_BRACKETS = 10_000

# Used once per file, or for errors only, so not compiled on import.
_ALIAS = r"(?m)(?:^|[\s\[{,])\*[^\s,\[\]{}*]"
_POSITION = r" at (?:line (\d+) column \d+|position (\d+))"
_DOCUMENT = r"(?m)^---(?=\s)"


def parse_yaml(text: str, file: str) -> dict[str, Any]:
    """YAML 1.2, where `yes` and `on` are words. All keys become strings.

    Raises a `SettingError`.
    """
    import ryaml

    text = prepare_text(text, file)
    _check_cost(text, file)
    try:
        data = ryaml.loads(text)  # type: ignore[attr-defined]
    except ValueError as error:
        reason, line = _explain(text, str(error))
        raise SettingError(file, line, None, f"not valid YAML ({reason})") from None
    table = check_shape({} if data is None else data, text, scan_yaml, file)
    return {_name_key(key): _with_string_keys(value) for key, value in table.items()}


def _check_cost(text: str, file: str) -> None:
    """Refuse text that would grow or keep the parser busy for minutes."""
    aliases = len(re.findall(_ALIAS, text))
    if aliases > _MOST_ALIASES:
        problem = f"the file has {aliases} YAML aliases; at most {_MOST_ALIASES} are allowed"
        raise SettingError(file, None, None, problem)
    if aliases and len(text) > _MOST_CHARACTERS_WITH_ALIASES:
        most = f"{_MOST_CHARACTERS_WITH_ALIASES:,}"
        problem = f"a file with YAML aliases can have at most {most} characters"
        raise SettingError(file, None, None, problem)
    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        problem = f"the file has too many brackets; at most {_MOST_BRACKETS:,} are allowed"
        raise SettingError(file, None, None, problem)


def _explain(text: str, message: str) -> tuple[str, int | None]:
    """A parser's message in plain words, and its line."""
    if "duplicate entry" in message:
        return _explain_repeated_key(text)
    if "more than one document" in message:
        starts = [line_at(text, match.start()) for match in re.finditer(_DOCUMENT, text)]
        return "a second document starts here", max(starts, default=None)
    if "unhashable" in message:
        return "expected a key, found a list or a mapping", None
    return _explain_position(text, message)


def _explain_repeated_key(text: str) -> tuple[str, int | None]:
    repeated = find_repeated(text, scan_yaml)
    if repeated is None:
        return "a key appears twice", None
    path, line = repeated
    return f"`{path[-1]}` appears twice", line


def _explain_position(text: str, message: str) -> tuple[str, int | None]:
    reason, position, rest = split_message(message, _POSITION)
    if position is None:
        return reason, None
    if "invalid type: integer" in reason:
        reason = "a number has too many digits"
    if position[2] is not None:
        # The parser counts bytes.
        before = text.encode("utf-8", "replace")[: int(position[2])]
        return reason, before.count(b"\n") + 1
    # What is never closed is noticed at the end of the file; where it starts is more helpful.
    line = int(position[1])
    start = re.search(_POSITION, rest)
    is_unclosed = "end of stream" in reason
    if is_unclosed and start is not None and start[1] is not None:
        line = int(start[1])
    return reason, min(line, last_line(text))


def _with_string_keys(data: Any) -> Any:
    # A skill may be called `1` or `true`, which YAML does not read as text.
    if isinstance(data, dict):
        return {_name_key(key): _with_string_keys(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_string_keys(item) for item in data]
    return data


def _name_key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


# Where keys are: blocks by their indentation, flow collections by their brackets.

# A plain word in brackets may have blanks and colons in it, as long as no blank follows the colon.
_FLOW = re.compile(
    r"""(?P<skip>\s++|(?<=[\s\[\]{},])\#[^\n]*+)
    |(?P<text>"(?:[^"\\]|\\.)*+"?|'(?:[^']|'')*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)
    |(?P<colon>:(?=[\s,\[\]{}]|\Z)|(?<=["']):)
    |(?P<word>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}]|\Z)|[ \t]++(?=[^\s,\[\]{}:\#]))++|.)""",
    re.VERBOSE | re.DOTALL,
)
# A key in a block: in quotes, or plain up to the first colon that a blank follows.
_KEY = re.compile(
    r"""("(?:[^"\\\n]|\\.)*+"|'(?:[^'\n]|'')*+'|[^\s\#"'\[\]{},|>%@`]
    (?:[^\s:]|:(?=\S)|[ \t]++(?=[^\s:\#]|:\S))*+)[ \t]*+:(?=\s|\Z)""",
    re.VERBOSE,
)
# `-x` is a word, not an item.
_DASH = re.compile(r"-(?=\s|\Z)")
# Anchors (`&x`) and tags (`!x`).
_PROPERTIES = re.compile(r"[ \t]*(?:[&!]\S*[ \t]*)*")
_QUOTED = {'"': re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL), "'": re.compile(r"'(?:[^']|'')*+'?")}
_LINE = re.compile(r"([ \t]*)([^\n]*)\n?")
_MARKER = re.compile(r"(?:---|\.\.\.)(?=\s|\Z)|%")


def scan_yaml(text: str) -> Iterator[KeySpan]:
    """Every key and list item, in the order of the text."""
    yield from _YamlCursor(text).read_spans()


class _YamlBlock:
    """An open block: its column, what it belongs to, and its last key or item."""

    __slots__ = ("base", "column", "count", "is_list", "last")

    def __init__(self, column: int, base: Path, *, is_list: bool) -> None:
        self.column = column
        self.base = base
        self.is_list = is_list
        self.last = base
        self.count = 0

    @property
    def order(self) -> tuple[int, bool]:
        """Sorts outer blocks before inner ones."""
        return self.column, self.is_list


class _YamlCursor:
    """A place in the text, and the blocks that are open there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line_start = 0
        self.blocks: list[_YamlBlock] = []

    def read_spans(self) -> Iterator[KeySpan]:
        while self.at < len(self.text):
            if self._start_line():
                yield from self._read_node()

    def _start_line(self) -> bool:
        """Go to the first character of a line, or past the line if it has no content."""
        self.line_start = self.at
        line = _LINE.match(self.text, self.at)
        if line is None:
            self.at = len(self.text)
            return False
        indent, content = line[1], line[2]
        has_content = content not in ("", "\r") and content[0] != "#"
        if not has_content:
            self.at = line.end()
            return False
        marker = None if indent else _MARKER.match(content)
        if marker is None:
            self.at = line.end(1)
            return True
        # Another document begins, or this one ends: no block goes on.
        self.blocks.clear()
        if marker[0] == "---":
            # Content may follow on the same line.
            self.at += 3
            return True
        self.at = line.end()
        return False

    def _read_node(self) -> Iterator[KeySpan]:
        """The dashes, the key and the value on one line."""
        owner = self.blocks[-1].column if self.blocks else -1
        # `- - key: value` opens a block for each dash.
        while _DASH.match(self.text, self.at):
            owner = self._column()
            block = self._open_block(owner, is_list=True)
            block.last = (*block.base, str(block.count))
            block.count += 1
            yield KeySpan(block.last, "item", self.at, self.at + 1, self.at)
            self._skip_blanks(self.at + 1)
        column = self._column()
        # An anchor or a tag can be in front of a key and in front of its value.
        start = _end(_PROPERTIES.match(self.text, self.at), self.at)
        key = _KEY.match(self.text, start)
        if key is not None:
            owner = column
            block = self._open_block(column, is_list=False)
            block.last = (*block.base, _read_key(key[1]))
            yield KeySpan(block.last, "key", key.start(1), key.end(1), key.start(1))
            start = _end(_PROPERTIES.match(self.text, key.end()), key.end())
        self.at = start
        yield from self._read_value(owner)

    def _column(self) -> int:
        return self.at - self.line_start

    def _skip_blanks(self, at: int) -> None:
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        self.at = at

    def _open_block(self, column: int, *, is_list: bool) -> _YamlBlock:
        """The block at a column: the one that is open there, or a new one."""
        # A list may have the column of the key it belongs to, so a key there also ends the list.
        wanted = (column, is_list)
        while self.blocks and self.blocks[-1].order > wanted:
            self.blocks.pop()
        innermost = self.blocks[-1] if self.blocks else None
        if innermost is not None and innermost.order == wanted:
            return innermost
        base = () if innermost is None else innermost.last
        block = _YamlBlock(column, base, is_list=is_list)
        self.blocks.append(block)
        return block

    def _read_value(self, owner: int) -> Iterator[KeySpan]:
        first = self.text[self.at : self.at + 1]
        if first in ("[", "{"):
            path = self.blocks[-1].last if self.blocks else ()
            tokens = read_tokens(_FLOW, self.text, self.at)
            end = yield from scan_brackets(tokens, path, _read_key)
            self._skip_line(len(self.text) if end is None else end)
        elif first in _QUOTED:
            self._skip_line(_end(_QUOTED[first].match(self.text, self.at), self.at))
        else:
            self._skip_line(self.at)
            # Unquoted text continues on deeper lines, which may look like keys.
            if first and first not in "\r\n#":
                self._skip_deeper(owner, is_block=first in "|>")

    def _skip_line(self, at: int) -> None:
        end = self.text.find("\n", at)
        self.at = len(self.text) if end < 0 else end + 1

    def _skip_deeper(self, owner: int, *, is_block: bool) -> None:
        """Go past the lines that continue an unquoted text or a block of text."""
        while self.at < len(self.text):
            line = _LINE.match(self.text, self.at)
            if line is None:
                return
            indent, content = line[1], line[2]
            is_empty = content in ("", "\r")
            # In a block of text a `#` is text.
            is_comment = content.startswith("#") and not is_block
            ends = len(indent) <= owner or is_comment
            if ends and not is_empty:
                return
            self.at = line.end()


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return otherwise if match is None else match.end()


def _read_key(text: str) -> str:
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
        # A scanner never raises: the parser reports what is wrong with the text.
        return text
