"""Output: JSON with a version, text for people, exact text, and diagnostics on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click
import msgspec

from prowess.diagnostics import Diagnostic
from prowess.text import display
from prowess.text.display import escape_json, escape_text

if TYPE_CHECKING:
    from rich.console import Console

JSON_VERSION = 1


def print_json(value: dict[str, Any]) -> None:
    """Print an object as JSON, with the version of its shape first."""
    whole = {"version": JSON_VERSION, **value}
    # Encoded first: looking for bad names in thousands of skills would cost more than the JSON.
    try:
        data = msgspec.json.encode(whole)
    except UnicodeEncodeError:
        # A file name that is not valid UTF-8: replacement characters rather than no answer at all.
        data = msgspec.json.encode(_replace_surrogates(whole))
    sys.stdout.buffer.write(escape_json(msgspec.json.format(data, indent=2)) + b"\n")


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_surrogates(one) for one in value]
    return value


def console() -> Console:
    """A console for people: colour on a terminal only, and lines are never cut when piped."""
    from rich.console import Console

    made = Console(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())
    # rich exits the process itself when the reader is gone; `app.run` is the place for that.
    made.on_broken_pipe = _raise_broken_pipe  # type: ignore[method-assign]
    return made


def _raise_broken_pipe() -> NoReturn:
    raise BrokenPipeError


def shorten_path(path: str, cwd: str | None = None) -> str:
    """A path as people write it, safe to print: relative inside `cwd`, with `~` inside home."""
    return display.shorten_path(path, cwd=cwd, home=os.path.expanduser("~"))


def print_exact(text: str) -> None:
    """Print exactly this text in UTF-8, without adding a newline.

    On a terminal, control characters are spelled out and the last line is ended.
    """
    if sys.stdout.isatty():
        is_line_open = bool(text) and not text.endswith("\n")
        end = "\n" if is_line_open else ""
        sys.stdout.write(escape_text(text) + end)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(_encode(text))
    # Diagnostics that follow on stderr must not come first where both streams are one file.
    sys.stdout.flush()


def _encode(text: str) -> bytes:
    try:
        # Command-line arguments may hold bytes that are not UTF-8; they come out as they went in.
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte, such as an escape in JSON may bring.
        return text.encode("utf-8", "backslashreplace")


def echo_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to stderr, one line each, then every different hint once."""
    hints: dict[str, None] = {}
    for one in diagnostics:
        click.echo(escape_text(f"{one.severity.value}: {one.message} ({one.code})"), err=True)
        if one.hint:
            hints[one.hint] = None
    for hint in hints:
        click.echo(escape_text(f"  {hint}"), err=True)
