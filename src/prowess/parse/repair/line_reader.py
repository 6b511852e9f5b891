"""A header that is not YAML, taken apart by its lines: entries, and the values inside them.

Repairs need to know which lines belong to which key where no YAML reader can tell. An entry is a
key at the start of a line with everything up to the next one; a value is what stands after a key or
a dash, with the deeper lines below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prowess.parse.header.lines import Line

_TOP_KEY = re.compile(r"""(?:[^\W\d][\w.$-]*|"[^"]*"|'[^']*')[ \t]*:(?=[ \t]|$)""")
_INNER = re.compile(
    r"""(?P<dashes>[ \t]*(?:-[ \t]+)*)"""
    r"""(?:(?P<key>"[^"]*"|'[^']*'|[^\s"'\[\]{},&*!|>%@`#:-][^:#]{0,80}?)[ \t]{0,8}:(?=[ \t]|$)[ \t]*)?"""
)
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#(?=[ \t]|$)")
_HASH_IN_TEXT = re.compile(r"(?<![ \t])[ \t]+#(?=[^\s#])")
_OPEN, _CLOSE = "[{", "]}"
_BRACKET_OR_QUOTE = re.compile(r"""["'\[\]{}\\]""")

# Closing brackets are looked for in at most so many times an entry's length. A value that closes
# costs its own length; without a bound, brackets that are never closed would be looked for from
# each of their lines to the end.
_MOST_LOOKS = 4


class Entry(NamedTuple):
    """Lines `first` to `last` of a header: a key and what belongs to it. Lines before the first key
    have key "".
    """

    first: int
    last: int
    key: str


class Value(NamedTuple):
    """A value: it begins at `column` of line `first` and goes on to line `last`; its key stands at
    `indent`.

    The key is "" for an item of a list. `text` is what stands on the first line, `parts` the text
    of every line, without the blanks around it.
    """

    first: int
    last: int
    indent: int
    column: int
    key: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """What stands on the first line."""
        return self.parts[0]


def find_key(text: str) -> str | None:
    """The key at the very start of a line, without quotes; None where there is none."""
    match = _TOP_KEY.match(text)
    return match[0].rstrip(": \t").strip("\"'") if match else None


def split_entries(lines: Sequence[Line]) -> list[Entry]:
    """The header's entries, which together hold every line."""
    starts = [
        (index, key) for index, line in enumerate(lines) if (key := find_key(line.text)) is not None
    ]
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, ""))
    ends = [*(index - 1 for index, _ in starts[1:]), len(lines) - 1]
    return [
        Entry(first, last, key)
        for (first, key), last in zip(starts, ends, strict=True)
        if last >= first
    ]


def find_values(lines: Sequence[Line], entry: Entry) -> Iterator[Value]:
    """The values inside an entry: its own, or those of the keys and dashes below it."""
    index = entry.first
    looks = _Looks(
        _MOST_LOOKS * sum(len(line.text) for line in lines[entry.first : entry.last + 1])
    )
    while index <= entry.last:
        value = _find_value(lines, index, entry.last, looks)
        if value is not None:
            yield value
            index = value.last
        index += 1


class _Looks:
    """How many characters may still be searched for a closing bracket."""

    def __init__(self, left: int) -> None:
        self.left = left


def _find_value(lines: Sequence[Line], index: int, last: int, looks: _Looks) -> Value | None:
    text = lines[index].text
    match = _INNER.match(text)
    key = match["key"] if match else None
    if match is None or (key is None and not match["dashes"].strip()):
        return None
    column = match.end()
    rest = text[column:].strip()
    if not rest or rest.startswith("#"):
        return None
    indent = match.end("dashes") if key is not None else match["dashes"].rindex("-")
    end = _find_end(lines, index, last, indent, rest, looks)
    parts = (rest, *(line.text.strip() for line in lines[index + 1 : end + 1]))
    return Value(index, end, indent, column, (key or "").strip("\"'"), parts)


def _find_end(
    lines: Sequence[Line], first: int, last: int, indent: int, rest: str, looks: _Looks
) -> int:
    if rest[0] in _OPEN:
        end = _find_closing(lines, first, last, lines[first].text.index(rest[0], indent), looks)
        if end is not None:
            return end
    end = first
    for index in range(first + 1, last + 1):
        text = lines[index].text
        if not text.strip():
            continue
        if len(text) - len(text.lstrip(" \t")) <= indent:
            break
        end = index
    return end


def _find_closing(
    lines: Sequence[Line], first: int, last: int, column: int, looks: _Looks
) -> int | None:
    brackets = Brackets()
    for index in range(first, last + 1):
        looks.left -= len(lines[index].text)
        if looks.left < 0:
            return None
        if brackets.close_in(lines[index].text[column:] if index == first else lines[index].text):
            return index
    return None


class Brackets:
    """Counts brackets over pieces of text; what stands in quotes does not count."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.quote = ""
        self.matched = True

    def close_in(self, text: str) -> bool:
        """Go over more text; True as soon as the outermost bracket is closed."""
        escaped = -1
        for match in _BRACKET_OR_QUOTE.finditer(text):
            character = match[0]
            if self.quote:
                if match.start() == escaped:
                    continue
                if character == "\\" and self.quote == '"':
                    escaped = match.end()
                elif character == self.quote:
                    self.quote = ""
            elif character in "\"'":
                self.quote = character
            elif character in _OPEN:
                self.opened.append(_CLOSE[_OPEN.index(character)])
            elif character in _CLOSE and self.opened:
                self.matched = self.opened.pop() == character and self.matched
                if not self.opened:
                    return True
        return False

    @property
    def missing(self) -> str:
        """The quote and the brackets that would close what is open."""
        return self.quote + "".join(reversed(self.opened))


def isolate(lines: Sequence[Line], value: Value) -> str:
    """A value as a header of its own, to see whether it can be read alone."""
    deeper = [
        "  " + line.text[value.indent :].lstrip("\t") + "\n"
        for line in lines[value.first + 1 : value.last + 1]
    ]
    return "k: " + lines[value.first].text[value.column :] + "\n" + "".join(deeper)


def quote_value(lines: Sequence[Line], value: Value) -> list[Line]:
    """The lines of a value with the whole of it in quotes; a comment after its last word stays one."""
    return write_quoted(lines, value, value.parts)


def write_quoted(lines: Sequence[Line], value: Value, parts: Sequence[str]) -> list[Line]:
    """The lines of a value with other text, quoted; line breaks inside fold as they do without
    quotes.
    """
    parts = list(parts)
    parts[-1], comment = split_comment(parts[-1])
    quote, texts = quote_parts(parts)
    written = []
    for offset, text in enumerate(texts):
        line = lines[value.first + offset]
        before = (
            line.text[: value.column]
            if offset == 0
            else line.text[: len(line.text) - len(line.text.lstrip())]
        )
        text = (
            (quote if offset == 0 else "")
            + text
            + (quote + comment if offset == len(texts) - 1 else "")
        )
        written.append(Line(line.number, before + text if text else "", line.end))
    return written


def quote_parts(parts: Sequence[str]) -> tuple[str, list[str]]:
    """The quote to put around the lines of a text, and the lines with what it means inside it
    escaped.
    """
    if any('"' in part or "\\" in part for part in parts):
        return "'", [part.replace("'", "''") for part in parts]
    return '"', list(parts)


def find_cut(line: str) -> str | None:
    """What ` #` cuts off a plain value in the middle of a sentence; None where it does not."""
    value = line.partition(":")[2].strip()
    match = _HASH_IN_TEXT.search(value) if value[:1] not in ('"', "'", "|", ">", "#", "") else None
    return value[match.end() - 1 :] if match else None


BLOCK_MARK = re.compile(r"[|>][-+\d]{0,2}[ \t]*(?:#.*)?$")
"""A block mark alone on its line: what follows is text, line by line."""


def write_block(lines: Sequence[Line], value: Value) -> list[Line]:
    """The lines of a value as a block of text, line by line, below its key."""
    first = lines[value.first]
    blanks = " " * (value.indent + 2)
    below = [
        blanks + line.text if line.text.strip() else ""
        for line in lines[value.first + 1 : value.last + 1]
    ]
    texts = [blanks + first.text[value.column :].rstrip(), *below]
    numbered = zip(lines[value.first : value.last + 1], texts, strict=True)
    return [
        first._replace(text=first.text[: value.column] + "|-"),
        *(line._replace(text=text) for line, text in numbered),
    ]


def split_comment(text: str) -> tuple[str, str]:
    """A value and the comment after it: ` # ` begins one, ` #12` is text."""
    match = _COMMENT.search(text)
    return (text[: match.start()], text[match.start() :]) if match and match.start() else (text, "")
