"""Output: JSON with a version, and text that is safe for a terminal and plain where there is none."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from prowess.text import display

if TYPE_CHECKING:
    from rich.console import Console

JSON_VERSION = 1


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


def shorten_path(path: str, cwd: str | None = None) -> str:
    """A path as people write it: relative to the working folder, or with `~`; safe to print."""
    return display.shorten_path(path, cwd=cwd, home=os.path.expanduser("~"))
