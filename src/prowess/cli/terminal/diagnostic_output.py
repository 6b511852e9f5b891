"""Diagnostics for people: under the file they are about, with line, severity, code and hint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from prowess.cli.terminal.out import console, shorten_path
from prowess.cli.terminal.tables import Cell, print_columns
from prowess.diagnostics import Diagnostic, Severity
from prowess.text.display import count_words, escape_line

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def print_diagnostics(diagnostics: Sequence[Diagnostic], cwd: str, *, of_hosts: int = 0) -> None:
    """Print diagnostics, sorted by file already, each group below the name of its file.

    With `of_hosts`, the number of hosts that were asked, each says which of them it concerns.
    """
    screen = console()
    for file, group in groupby(diagnostics, lambda one: one.file):
        screen.print(shorten_path(file, cwd) if file else "(no file)", style="bold")
        print_diagnostic_rows(group, cwd, of_hosts=of_hosts)
        screen.print()


def print_diagnostic_rows(
    diagnostics: Iterable[Diagnostic], cwd: str, *, of_hosts: int = 0
) -> None:
    """Print the diagnostics of one file, without its name."""
    rows: list[Sequence[Cell]] = []
    for one in diagnostics:
        rows += _list_rows(one, cwd)
        if of_hosts:
            rows.append(("", "", _render_hosts(one, of_hosts)))
    print_columns(rows, wrap=True)


def _render_hosts(diagnostic: Diagnostic, of_hosts: int) -> Text:
    from rich.text import Text

    if len(diagnostic.hosts) == of_hosts:
        return Text("in every host", "cyan")
    return Text(f"in {escape_line(', '.join(diagnostic.hosts))}", "cyan")


def _list_rows(diagnostic: Diagnostic, cwd: str) -> list[Sequence[Cell]]:
    from rich.text import Text

    line = "" if diagnostic.line is None else str(diagnostic.line)
    severity = Text(diagnostic.severity.value, _STYLES[diagnostic.severity])
    message = Text.assemble(f"{render_message(diagnostic, cwd)}  ", (diagnostic.code, "dim"))
    rows: list[Sequence[Cell]] = [(f"{line:>5}", severity, message)]
    if diagnostic.hint:
        rows.append(("", "", Text(escape_line(diagnostic.hint), "dim")))
    for file in diagnostic.related:
        # Most messages name the other file themselves.
        if file not in diagnostic.message:
            rows.append(("", "", Text(f"see {shorten_path(file, cwd)}", "dim")))
    return rows


def render_message(diagnostic: Diagnostic, cwd: str) -> str:
    """The message, with the paths in it as people write them."""
    message = diagnostic.message
    for path in (*diagnostic.related, diagnostic.file):
        if path:
            message = message.replace(path, shorten_path(path, cwd))
    return escape_line(message)


def render_severity_counts(counts: Counter[Severity]) -> str:
    """`1 error, 2 warnings`; empty where there is none."""
    occurring = [severity for severity in Severity if counts[severity]]
    return ", ".join(count_words(counts[severity], _NOUNS[severity]) for severity in occurring)


def print_github(diagnostics: Sequence[Diagnostic], base: str) -> None:
    """Print findings as commands for GitHub Actions, with paths relative to `base`."""
    from prowess.reports.github import render_github

    click.echo(render_github(diagnostics, base=base), nl=False)
