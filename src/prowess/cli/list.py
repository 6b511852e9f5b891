"""`prowess list`: the skills that a host sees here."""

from __future__ import annotations

import click

from prowess.cli.options import open_skills, scan_options
from prowess.cli.out import print_json
from prowess.cli.shapes import shape_outcome, shape_scan


@click.command("list")
@click.option("--all", "show_all", is_flag=True, help="Show every candidate, whatever became of it.")
@scan_options
def command(show_all: bool, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """List the skills that a host sees here.

    Shows what the host's own list shows; skills that cannot be offered are marked. --all shows every
    candidate that was found and what became of it.
    """
    skills = open_skills(host, add_dirs, bare=bare)
    snapshot = skills.snapshot
    outcomes = snapshot.outcomes if show_all else snapshot.shown
    if as_json:
        counts = {state.value: number for state, number in snapshot.counts().items()}
        shaped = [shape_outcome(outcome) for outcome in outcomes]
        print_json({**shape_scan(snapshot), "counts": counts, "skills": shaped})
        return 0
    from prowess.cli.answers import load_other_editions
    from prowess.cli.tables import print_outcomes

    others = load_other_editions(skills, host, add_dirs, bare=bare)
    print_outcomes(snapshot, outcomes, show_all=show_all, others=others)
    return 0
