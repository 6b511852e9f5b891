"""What commands of the stage activate share: text to the letter, and findings beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from prowess.diagnostics import Diagnostic
from prowess.text.display import escape_text


def print_exact(text: str) -> None:
    """Print a text to the letter, in UTF-8 and without a line end of ours.

    On a terminal, what could steer it is spelled out, and the last line is ended.
    """
    if sys.stdout.isatty():
        sys.stdout.write(escape_text(text))
        sys.stdout.write("" if text.endswith("\n") or not text else "\n")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(_encode(text))
    # What is said beside it must not overtake it where both go to one place.
    sys.stdout.flush()


def _encode(text: str) -> bytes:
    try:
        # An argument need not be text; its bytes come out as they went in.
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def echo_findings(findings: Iterable[Diagnostic]) -> None:
    """Findings as sentences on the error output, and what to do about them once at the end."""
    hints: dict[str, None] = {}
    for finding in findings:
        click.echo(
            escape_text(f"{finding.severity.value}: {finding.message} ({finding.code})"), err=True
        )
        if finding.hint:
            hints[finding.hint] = None
    for hint in hints:
        click.echo(escape_text(f"  {hint}"), err=True)
