"""Bare `prowess`: what is here, what is wrong with it, what it costs, and what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from prowess.cli.options import open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.diagnostics import Severity
from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.reports.phrases import name_host, render_counts
from prowess.reports.summary import Summary, load_summary
from prowess.text.display import count_words, escape_line, join_some

_MOST_FINDINGS = 3
_MOST_ROOTS = 4


def show_summary(host: str = "prowess", *, as_json: bool = False) -> int:
    """Print the summary of the working folder."""
    summary = load_summary(open_skills(host))
    if as_json:
        print_json(summary.shape())
        return 0
    if summary.snapshot.outcomes:
        _print_here(summary)
        _print_cost(summary)
    else:
        _print_nothing_found(summary.snapshot)
    _print_findings(summary)
    _print_next(summary)
    return 0


def _print_here(summary: Summary) -> None:
    from prowess.cli.terminal.tables import print_columns

    snapshot = summary.snapshot
    host = name_host(snapshot.host, snapshot.edition)
    ready = count_words(summary.ready, "skill")
    screen = console()
    screen.print(f"{ready} ready in {shorten_path(snapshot.cwd)}, by the rules of {host}.")
    screen.print()
    rows = []
    for scope, counts in summary.scopes.items():
        roots = [root for root in summary.roots if root.scope is scope]
        folders = [shorten_path(root.path, snapshot.cwd) for root in roots]
        rows.append(("", scope.value, render_counts(counts)))
        rows.append(("", "", f"in {join_some(folders, _MOST_ROOTS)}"))
    print_columns(rows, wrap=True)
    screen.print()


def _print_nothing_found(snapshot: Snapshot) -> None:
    host = name_host(snapshot.host, snapshot.edition)
    screen = console()
    screen.print(f"{host} finds no skills in {shorten_path(snapshot.cwd)}.")
    screen.print()
    screen.print("It searched:")
    here = [root for root in snapshot.roots if root.distance == 0]
    for path in dict.fromkeys(shorten_path(root.path, snapshot.cwd) for root in here):
        screen.print(f"  {path}")
    if len(here) < len(snapshot.roots):
        screen.print("  and the same folders in the folders above this one")
    screen.print()


def _print_cost(summary: Summary) -> None:
    if not summary.ready:
        return
    screen = console()
    if summary.cost.problem is None:
        tokens = count_words(summary.cost.estimated_tokens, "token")
        screen.print(
            f"They cost about {tokens} in every request (an estimate);"
            " `prowess cost` shows what each costs."
        )
    else:
        screen.print(f"Their cost is unknown: {escape_line(summary.cost.problem)}")
    screen.print()


def _print_findings(summary: Summary) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import render_message
    from prowess.cli.terminal.tables import print_columns

    if not summary.serious:
        return
    cwd = summary.snapshot.cwd
    counts = summary.severities
    serious = [one for one in (Severity.ERROR, Severity.WARNING) if counts[one]]
    found = [count_words(counts[severity], severity.value) for severity in serious]
    screen = console()
    style = "bold red" if counts[Severity.ERROR] else "bold yellow"
    screen.print(Text(f"{' and '.join(found)}:", style))
    rows: list[tuple[str, str | Text, str]] = []
    for finding in summary.serious[:_MOST_FINDINGS]:
        style = "red" if finding.severity is Severity.ERROR else "yellow"
        line = f":{finding.line}" if finding.line else ""
        place = f"{shorten_path(finding.file or '', cwd)}{line}"
        rows.append(("", Text(finding.severity.value, style), place))
        rows.append(("", "", render_message(finding, cwd)))
    print_columns(rows, wrap=True)
    if len(summary.serious) > _MOST_FINDINGS:
        screen.print(f"  and {len(summary.serious) - _MOST_FINDINGS:,} more")
    screen.print()


def _print_next(summary: Summary) -> None:
    from prowess.cli.terminal.tables import print_columns

    console().print("Try next:")
    print_columns([("", command, what) for command, what in _list_next(summary)])


def _list_next(summary: Summary) -> Iterator[tuple[str, str]]:
    outcomes = summary.snapshot.outcomes
    option = render_host_option(summary.snapshot)
    if outcomes:
        # A skill that is not ready is the one people ask about.
        asked_about = next((one for one in outcomes if one.state is not State.READY), outcomes[0])
        example = shlex.quote(asked_about.name)
        yield f"prowess list{option}", "every skill, with its state"
        yield f"prowess explain {escape_line(example)}{option}", "why a skill loads or does not"
        yield f"prowess catalog{option}", "what the model sees of them"
        yield "prowess compare", "which agent sees which skill"
    if summary.serious:
        yield f"prowess check{option}", "all errors and warnings"
    if not outcomes:
        yield "prowess new NAME", "make your first skill"
        yield "prowess tour", "see every stage on a sample workspace"
