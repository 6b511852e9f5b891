"""`prowess list`: the skills that a host sees here."""

from __future__ import annotations

import os

import click

from prowess.cli.options import Who, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import print_json
from prowess.errors import MachineError, UsageError
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.runtime import Skills


@click.command("list")
@click.option(
    "--all", "show_all", is_flag=True, help="Show every candidate, whatever became of it."
)
@click.option("--unused", is_flag=True, help="Show the skills that are ready and were never used.")
@click.option(
    "--touched",
    multiple=True,
    metavar="FILE",
    help="List as after an agent read or changed FILE, which wakes the skills that wait for it.",
)
@agent_options
@scan_options
def command(
    show_all: bool,
    unused: bool,
    touched: tuple[str, ...],
    who: Who,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """List the skills that a host sees here.

    Shows what the host's own list shows; skills that cannot be offered are marked. --all shows
    every candidate that was found and what became of it.
    """
    if show_all and unused:
        raise UsageError("--all shows every candidate and --unused only some; give one of them.")
    if touched and unused:
        raise UsageError("--touched tells what would be and --unused what was; give one of them.")
    skills = open_skills(host, add_dirs, bare=bare, who=who, tell=False)
    snapshot = _touch(skills, touched) if touched else skills.snapshot
    outcomes = _find_unused(skills) if unused else snapshot.outcomes if show_all else snapshot.shown
    if as_json:
        counts = {state.value: number for state, number in snapshot.counts().items()}
        shaped = [shape_outcome(outcome) for outcome in outcomes]
        found = [shape_diagnostic(one) for one in snapshot.diagnostics]
        print_json(
            {**shape_scan(snapshot), "counts": counts, "skills": shaped, "diagnostics": found}
        )
        return 0
    from prowess.cli.terminal.tables import print_outcomes, print_unused
    from prowess.reports.outcomes_by_name import load_other_editions

    if unused:
        print_unused(snapshot, outcomes)
        return 0
    # The other editions were touched by nothing, so their answers cannot be compared. All are asked
    # before the first line is printed: a scan shows its progress where the answer will stand.
    others = (
        () if touched else tuple(load_other_editions(skills, host, add_dirs, bare=bare, who=who))
    )
    print_outcomes(snapshot, outcomes, show_all=show_all, others=others)
    return 0


def _touch(skills: Skills, files: tuple[str, ...]) -> Snapshot:
    """What there is once these files were touched."""
    talk = skills.conversation(count=False)
    for file in files:
        talk.touched(os.path.abspath(file))
    return talk.snapshot


def _find_unused(skills: Skills) -> tuple[Outcome, ...]:
    """The skills that are ready and were never activated; raises where nobody counted."""
    from prowess.cli.commands.usage import explain_off

    off = explain_off(skills.facts)
    if off is not None:
        raise UsageError(
            f"Uses are not counted, since {off}; so nobody knows which skills are unused."
        )
    store = skills.usage()
    used = {key for key, usage in store.load_counts().items() if usage.activated}
    for finding in store.diagnostics:
        raise MachineError("read the counts in", finding.file or "", finding.message.rstrip("."))
    ready = (outcome for outcome in skills.snapshot.outcomes if outcome.state is State.READY)
    return tuple(
        outcome for outcome in ready if (outcome.name, outcome.candidate.location) not in used
    )
