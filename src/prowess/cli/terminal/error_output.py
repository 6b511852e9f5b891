"""Trouble with a request or the machine, told: a sentence for people, and an object where JSON was
asked for.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

import click

from prowess.errors import ProwessError

INTERNAL = 70
MACHINE = 4
# What an error knows that would only repeat the whole of what is there.
_LEFT_OUT = ("known",)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the answer was to be JSON."""
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words)


def tell(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong; the exit code that stands for it."""
    from prowess.text.display import escape_text

    code, said, hint = _describe(error)
    with even_if_unheard():
        for line in (f"prowess: {said}", hint):
            if line:
                click.echo(escape_text(line), err=True)
    if as_json:
        print_error(error, code, said, hint)
    return code


@contextmanager
def even_if_unheard() -> Iterator[None]:
    """Say something of which nothing else depends: an error output that takes no more does not
    change the answer.
    """
    try:
        yield
        sys.stderr.flush()
    except OSError:
        # What is still held back would be tried again on the way out, and fail again.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def print_error(error: Exception, code: int, said: str, hint: str | None = None) -> None:
    """An error as JSON, where the answer would have stood: its kind, its sentence, and what it
    knows.
    """
    from prowess.cli.terminal.out import print_json

    shape: dict[str, Any] = {"kind": _name(error), "message": said, "exit_code": code}
    if hint:
        shape["hint"] = hint
    for key, value in vars(error).items() if isinstance(error, ProwessError) else ():
        if key not in _LEFT_OUT and not key.startswith("_"):
            shape.setdefault(
                key, value if isinstance(value, (str, int, float, tuple)) else str(value)
            )
    try:
        print_json({"error": shape})
    except OSError:
        # Whoever asked has gone.
        return


def _describe(error: Exception) -> tuple[int, str, str]:
    if isinstance(error, ProwessError):
        return error.exit_code, str(error), error.hint or ""
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        return (
            MACHINE,
            "The working folder no longer exists.",
            "Go to a folder that does (`cd`), then try again.",
        )
    if isinstance(error, OSError):
        place = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return MACHINE, f"The machine refused: {error.strerror or error}{place}.", ""
    said = f"an unexpected error: {type(error).__name__}: {error}"
    return INTERNAL, said, "This is a defect in Prowess. `--debug` shows where it came from."


def _has_working_folder() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _name(error: Exception) -> str:
    """`UnknownSkill` → unknown-skill; what the machine refuses is a machine-error, what nobody
    expected internal.
    """
    if isinstance(error, click.ClickException):
        return "usage-error"
    if isinstance(error, ProwessError):
        named = re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
        return str(getattr(error, "kind", named))
    return "machine-error" if isinstance(error, OSError) else "internal"
