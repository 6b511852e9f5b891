"""From bytes to text, and from text to lines that know their number and their line end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.profiles.schema.header import HeaderRules

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
# The byte order marks of UTF-16, and the two first dashes of a fence without one.
_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"-\0-\0", b"\0-\0-")
_BYTE_ORDER_MARK = "\ufeff"
_STRICT = HeaderRules()

# A scan reads this many bytes of a file, or a multiple, and may cut a character in two.
_CUT_AT = 1 << 18


class Line(NamedTuple):
    """A line, its number in the file, and the line end after it."""

    number: int
    text: str
    end: str


def decode(data: bytes, rules: HeaderRules = _STRICT) -> tuple[str, Diagnostic | None]:
    """The text of a file, and a diagnostic if it is not UTF-8.

    A byte order mark stays: `split_header` knows whether the host takes one.
    """
    if data.startswith(_UTF16) and rules.utf16 != "bytes":
        return _decode_utf16(data, rules)
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        # Hosts replace such bytes; only Codex refuses the file for them.
        return data.decode(errors="replace"), _report_bytes(data, error, rules)


def _decode_utf16(data: bytes, rules: HeaderRules) -> tuple[str, Diagnostic]:
    if rules.utf16 == "refuse":
        return "", diagnose("utf16", "The file is UTF-16; hosts only read UTF-8.")
    is_little_endian = data.startswith((b"\xff\xfe", b"-\0"))
    encoding = "utf-16-le" if is_little_endian else "utf-16-be"
    message = "The file is UTF-16; this host reads it, but most hosts only read UTF-8."
    finding = diagnose("utf16", message, severity=Severity.WARNING)
    return data.decode(encoding, "replace"), finding


def _report_bytes(data: bytes, error: UnicodeDecodeError, rules: HeaderRules) -> Diagnostic | None:
    ends_in_character = error.reason == "unexpected end of data"
    was_cut = ends_in_character and len(data) % _CUT_AT == 0
    if was_cut:
        return None
    line = data.count(b"\n", 0, error.start) + 1
    if rules.only_utf8:
        message = f"Line {line} contains bytes that are not UTF-8; this host rejects the file."
        return diagnose("not-utf8", message, line=line, severity=Severity.ERROR)
    message = f"Line {line} contains bytes that are not UTF-8; they are replaced by U+FFFD."
    return diagnose("not-utf8", message, line=line)


def strip_mark(text: str, rules: HeaderRules) -> str:
    """The text without its byte order mark, if the host takes one."""
    return text.removeprefix(_BYTE_ORDER_MARK) if rules.byte_order_mark else text


def split_lines(text: str, *, first: int = 1) -> list[Line]:
    """The lines of a text, ended by CR, LF or CRLF; the last one may have no line end."""
    # Not `splitlines`: it also ends lines at form feeds and at U+2028, which are text to hosts.
    if "\r" not in text:
        *whole, rest = text.split("\n")
        lines = [Line(number, line, "\n") for number, line in enumerate(whole, start=first)]
        if rest:
            lines.append(Line(first + len(lines), rest, ""))
        return lines
    lines = []
    for number, match in enumerate(_LINE.finditer(text), start=first):
        if match.end() == match.start():
            # The pattern also matches the empty rest after the last line end.
            break
        lines.append(Line(number, match[1], match[2]))
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    """The text again, with the line ends it had."""
    pieces: list[str] = []
    for line in lines:
        after_cr = bool(pieces) and pieces[-1].endswith("\r")
        if after_cr and not line.text and line.end == "\n":
            # A line that has become empty must not make one line end, CRLF, out of two.
            pieces.append("\r")
        else:
            pieces.append(line.text + line.end)
    return "".join(pieces)


def plain_text(lines: Iterable[Line]) -> str:
    """The text with every line ended by LF, as the YAML parser gets it."""
    return "".join([line.text + "\n" for line in lines])


def measure_indent(text: str) -> int:
    """How many spaces and tabs a line begins with."""
    return len(text) - len(text.lstrip(" \t"))
