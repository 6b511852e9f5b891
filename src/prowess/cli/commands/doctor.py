"""`prowess doctor [NAME]`: what keeps skills in bounds here, or what one of them is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from prowess.cli.options import complete_names, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.reports.json_output import shape_scan
from prowess.reports.machine_report import MachineReport, report_machine
from prowess.reports.requirements import Requirement, RequirementsReport, report_requirements
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from prowess.cli.terminal.tables import Cell

_KINDS = {
    "os": "system",
    "program": "program",
    "one-of-programs": "one program of",
    "variable": "variable",
    "setting": "setting",
}


@click.command("doctor")
@click.argument("name", required=False, shell_complete=complete_names)
@scan_options
def command(
    name: str | None, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool
) -> int:
    """Check this machine, or show what a skill is missing and how to fix it.

    Without NAME, shows whether programs of skills run in a sandbox, what they can touch, and
    whether the project is trusted. With NAME, lists every requirement of the skill, and for each
    one that is missing the command or setting that fixes it. Nothing is run. Exits with 1 if the
    skill cannot be used on this machine.
    """
    skills = open_skills(host, add_dirs, bare=bare)
    if name is None:
        machine = report_machine(skills)
        if as_json:
            print_json({"host": skills.host, "cwd": skills.cwd, **machine.shape()})
        else:
            _print_machine(machine, skills.cwd)
        return 0
    report = report_requirements(skills, name)
    if as_json:
        print_json({**shape_scan(skills.snapshot), **report.shape()})
    else:
        _print_report(report, skills.cwd)
    return 0 if report.is_eligible else 1


def _print_machine(report: MachineReport, cwd: str) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostic_rows
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    style = "green" if report.is_confined else "yellow"
    screen.print(Text(report.render_sandbox(), style))
    if report.policy is not None and report.is_confined:
        policy = report.policy
        hidden = [shorten_path(path, cwd) for path in policy.hidden]
        rows: list[Sequence[Cell]] = [
            ("  can write", ", ".join(shorten_path(path, cwd) for path in policy.writable)),
            ("  cannot read", ", ".join(hidden) or "nothing is hidden"),
            ("  network", "yes" if policy.network else "no"),
            ("  memory", f"{policy.memory_bytes >> 20:,} MB"),
            ("  processes", f"{policy.processes:,}"),
        ]
        print_columns(rows, wrap=True)
    screen.print()
    project = shorten_path(report.project)
    if report.trusted is None:
        screen.print(
            Text(f"{project} is not trusted: commands in its skills do not run.", "yellow")
        )
        screen.print(Text("  `prowess trust` shows what would run, and asks.", "dim"))
    else:
        screen.print(Text(f"{project} has been trusted since {report.trusted.since}.", "green"))
    print_diagnostic_rows(report.diagnostics, cwd)


def _print_report(report: RequirementsReport, cwd: str) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostic_rows
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print(Text(shorten_path(report.outcome.candidate.location, cwd), "bold"))
    rows: list[Sequence[Cell]] = []
    for one in report.requirements:
        rows += _list_rows(one)
    print_columns(rows, wrap=True)
    if report.verdict is None:
        print_diagnostic_rows(report.outcome.diagnostics, cwd)
    elif not report.requirements:
        screen.print("It has no requirements.")
    screen.print()
    style = "green" if report.is_eligible else "yellow"
    screen.print(Text(escape_line(report.render_summary()), style))
    if any(way.command is not None for one in report.requirements for way in one.ways):
        screen.print(Text("Nothing was run. Review these commands before you run them.", "dim"))


def _list_rows(requirement: Requirement) -> list[Sequence[Cell]]:
    from rich.text import Text

    names = " or ".join(escape_line(name) for name in requirement.names)
    kind = Text(_KINDS[requirement.kind], "dim")
    if requirement.met:
        return [(Text("✓", "green"), kind, names)]
    problem = f"{names} only" if requirement.kind == "os" else f"{names} is missing"
    rows: list[Sequence[Cell]] = [(Text("✗", "yellow"), kind, problem)]
    for way in requirement.ways:
        rows.append(("", "", Text(escape_line(way.says), "dim")))
        if way.command is not None:
            rows.append(("", "", Text(f"$ {escape_line(way.command)}", "bold")))
    return rows
