"""From bytes to text, and from text to lines that remember where they stood and how they ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, diagnose

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"-\0-\0", b"\0-\0-")
_BOM = "\ufeff"

# Whoever reads only the beginning of a file reads so many bytes, or a multiple, and may have cut a
# character in two.
_CUT_AT = 1 << 18


class Line(NamedTuple):
    """A line, its number in the file, and the line end that followed it."""

    number: int
    text: str
    end: str


def decode(data: bytes) -> tuple[str, Diagnostic | None]:
    """The text of a file without its byte order mark; bytes that are not UTF-8 become U+FFFD and
    are reported.
    """
    if data.startswith(_UTF16):
        return "", diagnose("utf16", "The file is UTF-16; every host reads UTF-8.")
    finding = None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        if not is_cut(data, error):
            place = data.count(b"\n", 0, error.start) + 1
            message = f"Line {place} holds bytes that are not UTF-8; they were replaced by U+FFFD."
            finding = diagnose("not-utf8", message, line=place)
    return text.removeprefix(_BOM), finding


def is_cut(data: bytes, error: UnicodeDecodeError) -> bool:
    """Whether the bytes are wrong only because the last character was cut in two."""
    return error.reason == "unexpected end of data" and len(data) % _CUT_AT == 0


def split_lines(text: str, *, first: int = 1) -> list[Line]:
    """The lines of a text; CR, LF and CRLF end a line, and text after the last one is a line too."""
    if "\r" not in text:
        *whole, rest = text.split("\n")
        lines = [Line(number, line, "\n") for number, line in enumerate(whole, start=first)]
        return [*lines, Line(first + len(lines), rest, "")] if rest else lines
    lines = []
    for number, match in enumerate(_LINE.finditer(text), start=first):
        if match.end() == match.start():
            break
        lines.append(Line(number, match[1], match[2]))
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    """The text again, with the line ends it had."""
    pieces: list[str] = []
    for line in lines:
        # A line that has become empty must not make one line end out of two.
        melts = line.end == "\n" and not line.text and pieces and pieces[-1].endswith("\r")
        pieces.append("\r" if melts else line.text + line.end)
    return "".join(pieces)


def plain_text(lines: Iterable[Line]) -> str:
    """The text with every line ended by LF, as the YAML reader is given it."""
    return "".join([line.text + "\n" for line in lines])


def measure_indent(text: str) -> int:
    """How many spaces and tabs a line begins with."""
    return len(text) - len(text.lstrip(" \t"))
