"""`prowess check`: every problem with the skills here."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from prowess.cli.options import ALL_HOSTS, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json
from prowess.diagnostics import Severity
from prowess.machine.facts import current_facts
from prowess.reports.check_report import CheckReport, HostsReport, check_hosts, check_skills
from prowess.reports.hosts import list_agents
from prowess.reports.requirements import Requirement, RequirementsReport
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line


@click.command("check")
@click.option(
    "--severity",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.INFO.value,
    show_default=True,
    help="Show problems of at least this severity.",
)
@scan_options
def command(severity: str, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Show every problem with the skills here.

    Skills that cannot be used on this machine are listed with a command that fixes that. Exits with
    1 if there is an error, even if --severity hides it; counts include what is hidden.

    With --host all, checks the skills as every agent sees them, and each problem names the hosts
    that have it.
    """
    if host == ALL_HOSTS:
        return _check_all(Severity(severity), add_dirs, bare=bare, as_json=as_json)
    skills = open_skills(host, add_dirs, bare=bare, warn=False, thorough=True)
    report = check_skills(skills, Severity(severity))
    if as_json:
        print_json(report.shape())
    else:
        _print_report(report)
    return 1 if report.counts[Severity.ERROR] else 0


def _check_all(severity: Severity, add_dirs: tuple[str, ...], *, bare: bool, as_json: bool) -> int:
    from prowess.cli.terminal.progress import Progress

    with Progress() as progress:

        def open_host(host: str) -> Skills:
            progress.begin(f"asking {escape_line(host)}")
            return open_skills(
                host, add_dirs, bare=bare, progress=progress, warn=False, thorough=True
            )

        agents = list_agents(current_facts())
        report = check_hosts(agents, open_host, cwd=os.getcwd(), severity=severity)
    if as_json:
        print_json(report.shape())
    else:
        _print_hosts_report(report)
    # An answer that is not complete must not pass for a good one in CI.
    if report.silent:
        return 2
    return 1 if report.counts[Severity.ERROR] else 0


def _print_hosts_report(report: HostsReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics, render_severity_counts

    print_diagnostics(report.diagnostics, report.cwd, of_hosts=len(report.hosts))
    screen = console()
    for host, problem in report.silent:
        screen.print(f"No answer from {escape_line(host)}: {escape_line(problem)}", style="red")
    checked = f"{count_words(len(report.hosts) - len(report.silent), 'host')} asked"
    found = render_severity_counts(report.counts)
    left_out = f" {report.left_out:,} not shown." if report.left_out else ""
    screen.print(f"{checked}: {found}.{left_out}" if found else f"{checked}, no problems found.")


def _print_report(report: CheckReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics

    print_diagnostics(report.diagnostics, report.snapshot.cwd)
    if report.ineligible:
        _print_ineligible(report.ineligible)
    console().print(_summarize(report))


def _print_ineligible(reports: Sequence[RequirementsReport]) -> None:
    """Print the skills that cannot be used here, each with the first way to get what is missing."""
    from rich.text import Text

    from prowess.cli.terminal.tables import Cell, print_columns

    screen = console()
    number = count_words(len(reports), "skill")
    screen.print(f"{number} cannot be used on this machine:", style="bold")
    rows: list[Sequence[Cell]] = []
    for report in reports:
        outcome = report.outcome
        name = Text(escape_line(outcome.name), "yellow")
        rows.append(("", name, escape_line(outcome.reason or "")))
        rows += [("", "", Text(_render_missing(one), "dim")) for one in report.missing]
    print_columns(rows, wrap=True)
    screen.print(Text("Run `prowess doctor NAME` for details.", "dim"))
    screen.print()


def _render_missing(requirement: Requirement) -> str:
    names = " or ".join(requirement.names)
    commands = [way.command for way in requirement.ways if way.command is not None]
    # A command says more than a sentence about it.
    first = commands[0] if commands else requirement.ways[0].says
    return escape_line(f"{names}: {first}")


def _summarize(report: CheckReport) -> str:
    from prowess.cli.terminal.diagnostic_output import render_severity_counts

    checked = f"{count_words(len(report.snapshot.outcomes), 'file')} checked"
    found = render_severity_counts(report.counts)
    if not found:
        return f"{checked}, no {'other ' if report.ineligible else ''}problems found."
    left_out = f" {report.left_out:,} not shown." if report.left_out else ""
    return f"{checked}: {found}.{left_out}"
