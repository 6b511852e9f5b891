"""Output: JSON with a version, and text that is safe for a terminal and plain where there is none."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

JSON_VERSION = 1
# Characters without a shape of their own that scripts and emoji cannot do without.
_JOINERS = "\u200c\u200d"
# What can steer a terminal or the order of a line: controls, formats, surrogates, line and
# paragraph separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def print_json(value: dict[str, Any]) -> None:
    """Print an object as JSON, with the version of its shape first."""
    whole = {"version": JSON_VERSION, **value}
    try:
        data = msgspec.json.encode(whole)
    except UnicodeEncodeError:
        # A file name that is not text: shown with replacement characters instead of losing the
        # whole answer.
        data = msgspec.json.encode(_printable(whole))
    sys.stdout.buffer.write(msgspec.json.format(data, indent=2) + b"\n")


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_printable(key): _printable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(one) for one in value]
    return value


def console() -> Console:
    """Where people read: colour only on a terminal, wide enough not to cut paths when piped."""
    from rich.console import Console

    made = Console(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())
    # rich ends the program itself when the reader has gone; the command line has one place for
    # that.
    made.on_broken_pipe = _pass_on  # type: ignore[method-assign]
    return made


def _pass_on() -> NoReturn:
    raise BrokenPipeError


def escape_text(text: str) -> str:
    """Text of unknown origin, for people: lines and tabs stay, whatever could steer a terminal is
    spelled out.
    """
    text = text.replace("\r\n", "\n")
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else _spell(one) for one in text)


def escape_line(text: str) -> str:
    """Text of unknown origin as one line: blanks are folded, whatever could steer a terminal is
    spelled out.
    """
    return escape_text(" ".join(text.split()))


def first_line(text: str | None) -> str:
    """The first line of a text of unknown origin that has anything on it."""
    return escape_line((text or "").strip().partition("\n")[0])


def _spell(character: str) -> str:
    import unicodedata

    if character in _JOINERS or unicodedata.category(character) not in _STEERING:
        return character
    return character.encode("unicode_escape").decode("ascii")


def shorten_path(path: str, cwd: str | None = None) -> str:
    """A path as people write it: below the working folder relative, below home with `~`; safe to
    print.
    """
    for folder, short in ((cwd, ""), (os.path.expanduser("~"), "~/")):
        if folder and folder != "/" and path == folder:
            return short.rstrip("/") or "."
        if folder and folder != "/" and path.startswith(f"{folder}/"):
            return escape_line(short + path[len(folder) + 1 :])
    return escape_line(path)


def count_words(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `1,200 skills`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
