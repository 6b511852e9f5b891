"""`prowess doctor NAME`: everything that a skill misses on this machine, and how to mend it."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from prowess.cli.options import name_argument, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import UnknownSkill
from prowess.model.outcome import Outcome, State
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.reports.requirements import Diagnosis, Requirement, diagnose_skill
from prowess.runtime import Skills
from prowess.text.display import escape_line

_KINDS = {
    "os": "system",
    "program": "program",
    "one-of-programs": "one program of",
    "variable": "variable",
    "setting": "setting",
}


@click.command("doctor")
@name_argument
@scan_options
def command(name: str, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Tell what a skill misses on this machine and how to mend it.

    Shows every requirement, and for what is missing the command or the setting that would mend it.
    Nothing is run. Exits with 1 if the skill cannot be offered on this machine.
    """
    skills = open_skills(host, add_dirs, bare=bare)
    outcome = skills.snapshot.find(name)
    if outcome is None:
        raise UnknownSkill(name, [one.name for one in skills.snapshot.outcomes])
    diagnosis = diagnose_skill(outcome.skill, skills) if outcome.skill is not None else None
    eligible = diagnosis is not None and diagnosis.verdict.eligible
    verdict = _tell_verdict(outcome, diagnosis, skills)
    if as_json:
        print_json(
            {
                **shape_scan(skills.snapshot),
                "name": outcome.name,
                "eligible": eligible,
                "verdict": verdict,
                "requirements": (
                    [msgspec.to_builtins(one) for one in diagnosis.requirements]
                    if diagnosis
                    else []
                ),
                "skill": shape_outcome(outcome),
                "diagnostics": [shape_diagnostic(finding) for finding in outcome.diagnostics],
            }
        )
    else:
        _print_diagnosis(skills, outcome, diagnosis, verdict)
    return 0 if eligible else 1


def _tell_verdict(outcome: Outcome, diagnosis: Diagnosis | None, skills: Skills) -> str:
    name = f"“{outcome.name}”"
    if diagnosis is None:
        return f"{name} could not be read, so nobody knows what it requires: {outcome.reason}."
    if not diagnosis.verdict.eligible:
        return f"{name} cannot be offered on this machine: {diagnosis.verdict.explain()}."
    said = f"{name} can be offered on this machine."
    if not skills.profile.gate.checks:
        said = (
            f"{name} can be offered on this machine: {skills.profile.name} does not look at what"
            " skills require."
        )
    if outcome.state not in (State.READY, State.INELIGIBLE):
        said += f" It is {outcome.state.value} all the same: {outcome.reason}."
    return said


def _print_diagnosis(
    skills: Skills, outcome: Outcome, diagnosis: Diagnosis | None, verdict: str
) -> None:
    from rich.text import Text

    from prowess.cli.commands.check import print_findings
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print(Text(shorten_path(outcome.candidate.location, skills.cwd), "bold"))
    requirements = diagnosis.requirements if diagnosis is not None else ()
    rows: list[tuple[str | Text, str | Text, str | Text]] = []
    for one in requirements:
        rows += _render_requirement(one)
    print_columns(rows, wrap=True)
    if diagnosis is None:
        print_findings(outcome.diagnostics, skills.cwd)
    elif not requirements:
        screen.print("It requires nothing of the machine.")
    screen.print()
    good = diagnosis is not None and diagnosis.verdict.eligible
    screen.print(Text(escape_line(verdict), "green" if good else "yellow"))
    if any(way.command is not None for one in requirements for way in one.ways):
        screen.print(Text("Nothing was run: the commands are for you to judge and to type.", "dim"))


def _render_requirement(requirement: Requirement) -> list[tuple[Any, Any, Any]]:
    from rich.text import Text

    mark = Text("✓", "green") if requirement.met else Text("✗", "yellow")
    names = " or ".join(escape_line(name) for name in requirement.names)
    kind = Text(_KINDS[requirement.kind], "dim")
    if requirement.met:
        return [(mark, kind, names)]
    said = f"{names} only" if requirement.kind == "os" else f"{names} is missing"
    rows: list[tuple[Any, Any, Any]] = [(mark, kind, said)]
    for way in requirement.ways:
        rows.append(("", "", Text(escape_line(way.says), "dim")))
        if way.command is not None:
            rows.append(("", "", Text(f"$ {escape_line(way.command)}", "bold")))
    return rows
