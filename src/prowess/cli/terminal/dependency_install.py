"""`prowess doctor NAME --install`: each step is shown, asked about, run and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from prowess.cli.app import Exit
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.prompts import can_ask, confirm, describe_not_asked
from prowess.machine.http_client import measure_progress
from prowess.machine.processes import ProcessRunner
from prowess.reports.json_output import shape_scan
from prowess.reports.requirements import RequirementsReport, report_requirements
from prowess.runtime import Skills
from prowess.supply.dependencies.install import (
    DependencyInstall,
    InstallOptions,
    StepResult,
    StepRunner,
    explain_unusable,
    list_options,
)
from prowess.supply.dependencies.steps import Step
from prowess.text.display import count_words, escape_line, escape_text

_MOST_LINES = 20


class InstallChoice(NamedTuple):
    """What the user said on the command line; `agreed` are steps that they wrote out."""

    yes: bool
    dry_run: bool
    agreed: tuple[str, ...]
    as_json: bool


def install_for_skill(skills: Skills, name: str, choice: InstallChoice) -> int:
    """Install what a skill is missing, as far as the user agrees; the exit code."""
    report = report_requirements(skills, name)
    options = list_options(skills, report)
    refusal = None if choice.dry_run else _find_refusal(skills, report, options, choice)
    is_only_shown = choice.dry_run or not options.steps
    if is_only_shown or refusal is not None:
        planned = [StepResult(step, "planned") for step in options.steps]
        return _show_plan(skills, report, options, planned, choice, refusal)
    if not choice.as_json:
        _print_unusable(options)
    work = _TerminalInstall(skills, choice)
    results = DependencyInstall(skills, name, approve=work.approve, carry_out=work.carry_out).run()
    after = report_requirements(skills, name)
    if choice.as_json:
        print_json(_shape(skills, after, options, results))
    else:
        _print_result(after, results, work.runner.bin_folder)
    return Exit.OK if after.is_eligible else Exit.FOUND_ERRORS


def _find_refusal(
    skills: Skills, report: RequirementsReport, options: InstallOptions, choice: InstallChoice
) -> str | None:
    """Why nothing may be run without asking further; None if it may, or if the user is asked."""
    open_steps = [step.text for step in options.steps if step.text not in choice.agreed]
    if not open_steps:
        return None
    if choice.agreed:
        return f"Not one of the steps you agreed to: {escape_line(open_steps[0])}"
    if not choice.yes:
        is_nobody_there = choice.as_json or not can_ask()
        return describe_not_asked("installed") if is_nobody_there else None
    skill = report.outcome.skill
    is_trusted = skill is not None and skills.project.open_trust().is_trusted(skill)
    if is_trusted:
        return None
    # What an unknown author wrote is agreed to word by word, or not at all.
    return (
        "The skill is not trusted, so `--yes` does not cover what its author wrote. Run it in a"
        " terminal, or repeat each step with `--command`."
    )


class _TerminalInstall:
    """Asks about each step at the terminal, and carries it out with its progress shown."""

    def __init__(self, skills: Skills, choice: InstallChoice) -> None:
        self._skills = skills
        self._choice = choice
        self._progress: Progress | None = None
        self.runner = StepRunner(ProcessRunner(skills.facts), skills.facts, watch=self._watch)

    def approve(self, step: Step) -> bool:
        """Whether the user agrees to exactly this step."""
        if not self._choice.as_json:
            _print_step(step, self._skills.facts.home)
        if step.text in self._choice.agreed:
            return True
        if self._choice.agreed:
            # The next best way after a failure is one that nobody agreed to.
            return False
        return self._choice.yes or confirm("Run it?")

    def carry_out(self, step: Step) -> StepResult:
        """Run a step."""
        doing = "downloading" if step.remedy.download else f"running {step.remedy.command[0]}"
        with Progress(doing, quiet=self._choice.as_json) as self._progress:
            result = self.runner.carry_out(step)
        if not self._choice.as_json:
            _print_step_result(result)
        return result

    def _watch(self, received: int, expected: int | None) -> None:
        if self._progress is not None:
            unit, done = measure_progress(received, expected)
            self._progress.progress(f"downloading {unit}", done)


def _show_plan(
    skills: Skills,
    report: RequirementsReport,
    options: InstallOptions,
    planned: Sequence[StepResult],
    choice: InstallChoice,
    refusal: str | None,
) -> int:
    """Show what would be done, where nothing is."""
    if choice.as_json:
        shape = _shape(skills, report, options, planned)
        if refusal is not None:
            error = {"kind": "not-asked", "message": refusal, "exit_code": int(Exit.REFUSED)}
            shape["error"] = error
        print_json(shape)
    else:
        _print_unusable(options)
        for step in options.steps:
            _print_step(step, skills.facts.home)
        _print_summary(report)
    if refusal is not None:
        click.echo(refusal, err=True)
        return Exit.REFUSED
    if options.steps or report.is_eligible:
        return Exit.OK
    return Exit.FOUND_ERRORS


def _shape(
    skills: Skills,
    report: RequirementsReport,
    options: InstallOptions,
    results: Sequence[StepResult],
) -> dict[str, Any]:
    unusable = [
        {"kind": one.kind, "label": one.label, "reason": explain_unusable(one)}
        for one in options.refused
    ]
    return {
        **shape_scan(skills.snapshot),
        **report.shape(),
        "steps": [one.shape() for one in results],
        "not_used": unusable,
    }


def _print_unusable(options: InstallOptions) -> None:
    from rich.text import Text

    for one in options.refused:
        line = f"Not used: {escape_line(one.label)}, because {escape_line(explain_unusable(one))}"
        console().print(Text(line, "dim"))


def _print_step(step: Step, home: str) -> None:
    from rich.text import Text

    screen = console()
    screen.print(escape_line(step.remedy.label))
    screen.print(Text(f"  $ {escape_line(step.text)}", "bold"))
    for note in step.list_notes(home):
        screen.print(Text(f"  {escape_line(note)}", "dim"))


def _print_step_result(result: StepResult) -> None:
    from rich.text import Text

    screen = console()
    if result.problem is None:
        screen.print(Text("  done", "green"))
        return
    screen.print(Text(f"  failed: {escape_line(result.problem)}", "red"))
    for line in result.output.strip().splitlines()[-_MOST_LINES:]:
        screen.print(Text(f"  │ {escape_text(line)}", "dim"))


def _print_result(
    report: RequirementsReport, results: Sequence[StepResult], bin_folder: str
) -> None:
    from rich.text import Text

    screen = console()
    done = [one for one in results if one.state == "done"]
    screen.print()
    screen.print(f"{count_words(len(done), 'step')} done, {len(results) - len(done)} not.")
    _print_summary(report)
    # Package managers have folders of their own in PATH; ours may not be there.
    is_off_path = not report.is_eligible and any(one.step.remedy.download for one in done)
    if is_off_path:
        folder = shorten_path(bin_folder)
        screen.print(Text(f"Downloaded programs are in {folder}; add it to your PATH.", "yellow"))


def _print_summary(report: RequirementsReport) -> None:
    from rich.text import Text

    style = "green" if report.is_eligible else "yellow"
    console().print(Text(escape_line(report.render_summary()), style))
