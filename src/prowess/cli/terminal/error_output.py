"""Errors for people as a sentence on stderr, and for programs as a JSON object on stdout."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise, takewhile
from typing import Any

import click

from prowess.errors import ProwessError, name_cause

INTERNAL = 70
MACHINE = 4
# Attributes of errors that are left out of JSON, because they list everything there is.
_LEFT_OUT = ("known",)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the output should have been JSON."""
    # Asked about a command line that may be wrong, so it is not parsed; after `--` all is text.
    words = list(takewhile(lambda word: word != "--", arguments))
    if "--json" in words or "--format=json" in words:
        return True
    return ("--format", "json") in pairwise(words)


def report_error(error: Exception, *, as_json: bool) -> int:
    """Print an error, and return its exit code."""
    from prowess.text.display import escape_text

    code, message, hint = _describe(error)
    with ignore_closed_stderr():
        # A message may quote a file that somebody else wrote.
        click.echo(escape_text(f"prowess: {message}"), err=True)
        if hint:
            click.echo(escape_text(hint), err=True)
    if as_json:
        print_json_error(error, code, message, hint)
    return code


@contextmanager
def ignore_closed_stderr() -> Iterator[None]:
    """Print something that may get lost: a stderr that cannot be written changes no exit code."""
    try:
        yield
        sys.stderr.flush()
    except OSError:
        # What is still buffered would be written again at exit, and fail again.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def print_json_error(error: Exception, code: int, message: str, hint: str | None = None) -> None:
    """Print an error as JSON in place of the answer: kind, message, and what the error knows."""
    from prowess.cli.terminal.out import print_json

    shape: dict[str, Any] = {"kind": _name_kind(error), "message": message, "exit_code": code}
    if hint:
        shape["hint"] = hint
    if isinstance(error, ProwessError):
        # What is there already is not replaced: an error may have a `message` of its own.
        for key, value in _shape_details(error).items():
            shape.setdefault(key, value)
    try:
        print_json({"error": shape})
    except OSError:
        # The reader of stdout is gone; the sentence on stderr has to do.
        return


def _shape_details(error: ProwessError) -> dict[str, Any]:
    """The public attributes of an error; what JSON does not have becomes text."""
    details = {}
    for key, value in vars(error).items():
        is_hidden = key in _LEFT_OUT or key.startswith("_")
        if is_hidden:
            continue
        is_plain = isinstance(value, (str, int, float, tuple))
        details[key] = value if is_plain else str(value)
    return details


def _describe(error: Exception) -> tuple[int, str, str]:
    """The exit code, the message and the hint of an error."""
    if isinstance(error, ProwessError):
        return error.exit_code, str(error), error.hint or ""
    # Everything that begins at the working folder fails then, with a name that misleads.
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        gone = "The working folder no longer exists."
        return MACHINE, gone, "Change to another folder and try again."
    if isinstance(error, OSError):
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return MACHINE, f"{name_cause(error)}{where}", ""
    message = f"unexpected error: {type(error).__name__}: {error}"
    return INTERNAL, message, "This is a bug in Prowess. Run with `--debug` to see the traceback."


def _has_working_folder() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        # The folder of the shell was deleted, such as by another terminal.
        return False


def _name_kind(error: Exception) -> str:
    """`UnknownSkill` → unknown-skill; `machine-error` and `internal` for errors not our own."""
    if isinstance(error, click.ClickException):
        return "usage-error"
    if isinstance(error, ProwessError):
        from_class = re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
        return str(getattr(error, "kind", from_class))
    if isinstance(error, OSError):
        return "machine-error"
    return "internal"
