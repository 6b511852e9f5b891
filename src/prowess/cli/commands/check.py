"""`prowess check`: everything that was noticed about the skills here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click
import msgspec

from prowess.cli.options import open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.diagnostics import Diagnostic, Severity
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line

if TYPE_CHECKING:
    from prowess.reports.requirements import Requirement

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

    What cannot be offered on this machine is shown with the command that would mend it. Exits with
    1 if there is an error, whatever is shown. Counts are those of all findings.
    """
    skills = open_skills(host, add_dirs, bare=bare, tell=False)
    snapshot = skills.snapshot
    ineligible = [
        one for one in snapshot.outcomes if one.state is State.INELIGIBLE and one.skill is not None
    ]
    everything = sort_diagnostics(snapshot.all_diagnostics())
    counts = Counter(diagnostic.severity for diagnostic in everything)
    shown = [one for one in everything if _RANK[one.severity] <= _RANK[Severity(severity)]]
    if as_json:
        print_json(
            {
                **shape_scan(snapshot),
                "counts": {one.value: counts[one] for one in Severity},
                "diagnostics": [shape_diagnostic(diagnostic) for diagnostic in shown],
                "ineligible": [_shape_ineligible(outcome, skills) for outcome in ineligible],
            }
        )
    else:
        print_diagnostics(shown, snapshot.cwd)
        _print_ineligible(ineligible, skills)
        _print_footer(
            snapshot, counts, hidden=len(everything) - len(shown), else_said=bool(ineligible)
        )
    return 1 if counts[Severity.ERROR] else 0


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings file by file, the gravest first within a file."""
    return sorted(
        diagnostics, key=lambda one: (one.file or "", _RANK[one.severity], one.line or 0, one.code)
    )


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

    from prowess.cli.terminal.tables import print_columns

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


def _shape_ineligible(outcome: Outcome, skills: Skills) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "location": outcome.candidate.location,
        "reason": outcome.reason,
        "missing": [msgspec.to_builtins(one) for one in _list_missing(outcome, skills)],
    }


def _list_missing(outcome: Outcome, skills: Skills) -> tuple[Requirement, ...]:
    from prowess.reports.requirements import diagnose_skill

    return diagnose_skill(outcome.skill, skills).missing if outcome.skill is not None else ()


def _print_ineligible(outcomes: Sequence[Outcome], skills: Skills) -> None:
    """The skills that miss something on this machine, each with what it misses and the first way to
    mend it.
    """
    if not outcomes:
        return
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print(
        f"{count_words(len(outcomes), 'skill')} cannot be offered on this machine:", style="bold"
    )
    rows: list[tuple[str, str | Text, str | Text]] = []
    for outcome in outcomes:
        rows.append(
            ("", Text(escape_line(outcome.name), "yellow"), escape_line(outcome.reason or ""))
        )
        for missing in _list_missing(outcome, skills):
            way = next((way for way in missing.ways if way.command is not None), missing.ways[0])
            names = " or ".join(missing.names)
            rows.append(("", "", Text(escape_line(f"{names}: {way.command or way.says}"), "dim")))
    print_columns(rows, wrap=True)
    screen.print(Text("`prowess doctor NAME` tells all about one.", "dim"))
    screen.print()


def _print_footer(
    snapshot: Snapshot, counts: Counter[Severity], *, hidden: int, else_said: bool
) -> None:
    found = [
        count_words(counts[severity], _NOUNS[severity]) for severity in Severity if counts[severity]
    ]
    about = count_words(len(snapshot.outcomes), "file")
    nothing = "Nothing else to say" if else_said else "Nothing to say"
    summary = f"{', '.join(found)} about {about}." if found else f"{nothing} about {about}."
    if hidden:
        summary += f" {hidden:,} not shown."
    console().print(summary)
