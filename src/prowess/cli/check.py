"""`prowess check`: everything that was noticed about the skills here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

import click

from prowess.cli.options import open_skills, scan_options
from prowess.cli.out import console, count_words, escape_line, print_json, shorten_path
from prowess.cli.shapes import shape_diagnostic, shape_scan
from prowess.diagnostics import Diagnostic, Severity
from prowess.model.snapshot import Snapshot

_RANK = {severity: rank for rank, severity in enumerate(Severity)}
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


@click.command("check")
@click.option(
    "--severity",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.INFO.value,
    show_default=True,
    help="Show findings of at least this severity.",
)
@scan_options
def command(severity: str, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Show everything that was noticed about the skills here.

    Exits with 1 if there is an error, whatever is shown. Counts are those of all findings.
    """
    snapshot = open_skills(host, add_dirs, bare=bare).snapshot
    everything = sort_diagnostics(snapshot.all_diagnostics())
    counts = Counter(diagnostic.severity for diagnostic in everything)
    shown = [one for one in everything if _RANK[one.severity] <= _RANK[Severity(severity)]]
    if as_json:
        print_json(
            {
                **shape_scan(snapshot),
                "counts": {one.value: counts[one] for one in Severity},
                "diagnostics": [shape_diagnostic(diagnostic) for diagnostic in shown],
            }
        )
    else:
        print_diagnostics(shown, snapshot.cwd)
        _print_footer(snapshot, counts, hidden=len(everything) - len(shown))
    return 1 if counts[Severity.ERROR] else 0


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings file by file, the gravest first within a file."""
    return sorted(diagnostics, key=lambda one: (one.file or "", _RANK[one.severity], one.line or 0, one.code))


def print_diagnostics(diagnostics: Sequence[Diagnostic], cwd: str) -> None:
    """Findings under the file they belong to: line, severity, message and code, then what to do."""
    screen = console()
    for file, group in groupby(diagnostics, lambda one: one.file):
        screen.print(shorten_path(file, cwd) if file else "(no file)", style="bold")
        print_findings(group, cwd)
        screen.print()


def print_findings(diagnostics: Iterable[Diagnostic], cwd: str) -> None:
    """The findings about one file, without its name."""
    from rich.text import Text

    from prowess.cli.tables import print_columns

    rows: list[tuple[str, str | Text, str | Text]] = []
    for one in diagnostics:
        line = "" if one.line is None else str(one.line)
        message = Text.assemble(f"{render_message(one, cwd)}  ", (one.code, "dim"))
        rows.append((f"{line:>5}", Text(one.severity.value, _STYLES[one.severity]), message))
        if one.hint:
            rows.append(("", "", Text(escape_line(one.hint), "dim")))
        unnamed = [related for related in one.related if related not in one.message]
        rows += [("", "", Text(f"see {shorten_path(related, cwd)}", "dim")) for related in unnamed]
    print_columns(rows, wrap=True)


def render_message(diagnostic: Diagnostic, cwd: str) -> str:
    """What was found, with the paths in it as people write them."""
    message = diagnostic.message
    for path in (*diagnostic.related, diagnostic.file):
        if path:
            message = message.replace(path, shorten_path(path, cwd))
    return escape_line(message)


def _print_footer(snapshot: Snapshot, counts: Counter[Severity], *, hidden: int) -> None:
    found = [count_words(counts[severity], _NOUNS[severity]) for severity in Severity if counts[severity]]
    about = count_words(len(snapshot.outcomes), "file")
    summary = f"{', '.join(found)} about {about}." if found else f"Nothing to say about {about}."
    if hidden:
        summary += f" {hidden:,} not shown."
    console().print(summary)
