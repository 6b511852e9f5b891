"""Text made safe and short for people: whatever could steer a terminal is spelled out."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Invisible characters that scripts and emoji need.
_JOINERS = "\u200c\u200d"
# Categories that can steer a terminal or reorder a line: controls, formats, surrogates, and line
# and paragraph separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
# The same categories spelled out, for text too long to look up each character. JSON escapes the
# first 32 controls itself and has no surrogates. A search for so many ranges is slow, so it is made
# only where there is more than printable ASCII.
_STEERING_IN_JSON = (
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
_BEYOND_ASCII = "[^\x00-\x7e]+"


def escape_text(text: str) -> str:
    """Untrusted text for people: newlines and tabs stay, whatever steers a terminal is escaped."""
    text = text.replace("\r\n", "\n")
    # Nearly all text is printable, and asking for the whole of it at once is fast.
    if text.replace("\n", "").isprintable():
        return text
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    is_safe = character.isprintable() or character in "\n\t"
    return character if is_safe else _spell(character)


def escape_line(text: str) -> str:
    """Untrusted text as one line: runs of whitespace become one space, the rest is escaped."""
    return escape_text(" ".join(text.split()))


def escape_json(data: bytes) -> bytes:
    """Encoded JSON that is safe to print; a program that reads it gets the same values."""
    if data.isascii() and b"\x7f" not in data:
        return data
    text = data.decode("utf-8")
    return re.sub(_BEYOND_ASCII, _escape_in_json, text).encode("utf-8")


def _escape_in_json(beyond_ascii: re.Match[str]) -> str:
    return re.sub(_STEERING_IN_JSON, _spell_in_json, beyond_ascii[0])


def _spell_in_json(character: re.Match[str]) -> str:
    # JSON has escapes of four digits only: a character beyond U+FFFF is a pair of them.
    units = character[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def first_line(text: str | None) -> str:
    """The first line of untrusted text that is not blank, escaped."""
    return escape_line((text or "").strip().partition("\n")[0])


def _spell(character: str) -> str:
    # Imported late: most text has nothing to spell out, and the table of Unicode is large.
    import unicodedata

    if character in _JOINERS:
        return character
    if unicodedata.category(character) not in _STEERING:
        return character
    return character.encode("unicode_escape").decode("ascii")


def shorten_path(path: str, *, cwd: str | None = None, home: str | None = None) -> str:
    """A path as people write it: relative to the working folder, or with `~`; escaped."""
    for folder, name, prefix in ((cwd, ".", ""), (home, "~", "~/")):
        # Below `/` everything would be relative, and nobody would know to what.
        is_known = folder not in (None, "", "/")
        if is_known and path == folder:
            return name
        if is_known and path.startswith(f"{folder}/"):
            return escape_line(prefix + path.removeprefix(f"{folder}/"))
    return escape_line(path)


def join_some(words: Sequence[str], most: int) -> str:
    """The first words of a list with commas, and how many more there are."""
    shown = ", ".join(words[:most])
    left_out = len(words) - most
    return f"{shown} and {left_out:,} more" if left_out > 0 else shown


def count_words(number: float, noun: str) -> str:
    """`1 error`, `2 errors`, `1,200 skills`, `0.5 seconds`."""
    shown = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun}" if number == 1 else f"{shown} {noun}s"
