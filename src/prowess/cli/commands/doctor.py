"""`prowess doctor [NAME]`: what keeps skills in bounds here, or what one of them is missing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from prowess.cli.options import complete_names, open_skills, render_host_option, scan_options
from prowess.cli.terminal.dependency_install import InstallChoice, install_for_skill
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.reports.json_output import shape_scan
from prowess.reports.machine_report import MachineReport, report_machine
from prowess.reports.requirements import (
    Requirement,
    RequirementsReport,
    report_ineligible,
    report_requirements,
)
from prowess.runtime import Skills
from prowess.supply.dependencies.install import list_options
from prowess.text.display import count_words, escape_line

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
@click.option("--install", is_flag=True, help="Install the programs that the skill is missing.")
@click.option("--yes", is_flag=True, help="With --install: don't ask before each step.")
@click.option("--dry-run", is_flag=True, help="With --install: show the steps and run nothing.")
@click.option(
    "--command",
    "agreed",
    multiple=True,
    metavar="TEXT",
    help="With --install: agree to this step, exactly as --dry-run shows it; may be repeated.",
)
@scan_options
def command(
    name: str | None,
    install: bool,
    yes: bool,
    dry_run: bool,
    agreed: tuple[str, ...],
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Check this machine, or show what a skill is missing and how to fix it.

    Without NAME, shows whether programs of skills run in a sandbox, what they can touch, whether
    the project is trusted, and every skill that cannot be used here. With NAME, lists every
    requirement of the skill, and for each one that is missing the command or setting that fixes
    it. Nothing is run without --install, which installs missing programs in the ways that the
    author names: each step is shown and asked about first, the best one comes first, and the skill
    is checked again. Exits with 1 if the skill cannot be used on this machine.
    """
    _check_usage(name, install=install, needs_install=yes or dry_run or bool(agreed))
    skills = open_skills(host, add_dirs, bare=bare)
    if name is None:
        return _show_all(skills, as_json=as_json)
    if install:
        choice = InstallChoice(yes=yes, dry_run=dry_run, agreed=agreed, as_json=as_json)
        return install_for_skill(skills, name, choice)
    report = report_requirements(skills, name)
    if as_json:
        print_json({**shape_scan(skills.snapshot), **report.shape()})
    else:
        _print_report(report, skills.cwd)
        if list_options(skills, report).steps:
            option = render_host_option(skills.snapshot)
            click.echo(f"`prowess doctor {name} --install{option}` installs it, after asking.")
    return 0 if report.is_eligible else 1


def _check_usage(name: str | None, *, install: bool, needs_install: bool) -> None:
    if needs_install and not install:
        raise click.UsageError("--yes, --dry-run and --command need --install.")
    if install and name is None:
        raise click.UsageError("--install needs the NAME of a skill.")


def _show_all(skills: Skills, *, as_json: bool) -> int:
    """Show the machine, and every skill that cannot be used on it."""
    machine = report_machine(skills)
    reports = report_ineligible(skills)
    if as_json:
        shaped = [_shape_ineligible(skills, one) for one in reports]
        where = {"host": skills.host, "cwd": skills.cwd}
        print_json({**where, **machine.shape(), "ineligible": shaped})
        return 0
    _print_machine(machine, skills.cwd)
    if reports:
        _print_ineligible(skills, reports)
    return 0


def _shape_ineligible(skills: Skills, report: RequirementsReport) -> dict[str, Any]:
    steps = list_options(skills, report).steps
    return {
        "name": report.outcome.name,
        "location": report.outcome.candidate.location,
        "verdict": report.render_summary(),
        "steps": [step.shape() for step in steps],
    }


def _print_ineligible(skills: Skills, reports: Sequence[RequirementsReport]) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print()
    count = count_words(len(reports), "skill")
    screen.print(Text(f"{count} cannot be used on this machine:", "yellow"))
    rows: list[Sequence[Cell]] = []
    can_install = False
    for report in reports:
        missing = report.verdict.explain() if report.verdict is not None else ""
        rows.append(("", Text(escape_line(report.outcome.name), "bold"), escape_line(missing)))
        for step in list_options(skills, report).steps:
            can_install = True
            rows.append(("", "", Text(f"$ {escape_line(step.text)}", "dim")))
    print_columns(rows, wrap=True)
    if can_install:
        option = render_host_option(skills.snapshot)
        hint = f"`prowess doctor NAME --install{option}` runs these, after asking."
        screen.print(Text(hint, "dim"))


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
    for requirement in report.requirements:
        rows += _list_rows(requirement)
    print_columns(rows, wrap=True)
    # A skill that could not be read has no requirements, but the reason for that.
    if report.verdict is None:
        print_diagnostic_rows(report.outcome.diagnostics, cwd)
    elif not report.requirements:
        screen.print("It has no requirements.")
    # A way to install that is ignored, such as one of an unknown kind.
    wrong = [one for one in report.outcome.diagnostics if "install[" in (one.field or "")]
    print_diagnostic_rows(wrong, cwd)
    screen.print()
    style = "green" if report.is_eligible else "yellow"
    screen.print(Text(escape_line(report.render_summary()), style))
    ways = chain.from_iterable(one.ways for one in report.requirements)
    has_command = any(way.command is not None for way in ways)
    if has_command:
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
