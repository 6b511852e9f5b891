"""`prowess list`: the skills a host sees here."""

from __future__ import annotations

import os

import click

from prowess.cli.options import AgentOptions, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import print_json
from prowess.errors import UsageError
from prowess.model.outcome import Outcome
from prowess.model.skill import Scope
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_list
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line


@click.command("list")
@click.option("--all", "show_all", is_flag=True, help="Show every candidate, whatever its state.")
@click.option("--unused", is_flag=True, help="Show the skills that are ready but were never used.")
@click.option(
    "--source",
    metavar="NAME",
    help="Show only the skills of one source or scope, such as user; bundled has those of"
    " Prowess's own agent.",
)
@click.option(
    "--touched",
    multiple=True,
    metavar="FILE",
    help="List as if an agent had read or changed FILE, which wakes dormant skills.",
)
@agent_options
@scan_options
def command(
    show_all: bool,
    unused: bool,
    source: str | None,
    touched: tuple[str, ...],
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """List the skills a host sees here.

    Shows what the host's own list shows, and marks skills that cannot be offered. --all shows every
    candidate that was found, with its state.
    """
    if unused:
        _refuse_together("--unused", {"--all": show_all, "--touched": bool(touched)})
    skills = open_skills(
        host,
        add_dirs,
        bare=bare,
        agent=agent,
        warn=False,
        thorough=show_all,
        shipped=source == Scope.BUNDLED.value,
    )
    snapshot = _touch(skills, touched) if touched else skills.snapshot
    outcomes = _choose_outcomes(skills, snapshot, source, show_all=show_all, unused=unused)
    if as_json:
        print_json(shape_list(snapshot, outcomes))
        return 0
    from prowess.cli.terminal.skill_table import print_outcomes, print_unused
    from prowess.reports.outcomes_by_name import load_other_editions

    if unused:
        print_unused(snapshot, outcomes)
        return 0

    def open_host(other: str) -> Skills:
        return open_skills(other, add_dirs, bare=bare, agent=agent, warn=False, thorough=show_all)

    # Nothing was touched for the other editions, and a part is not compared. All are scanned before
    # the first line is printed, because progress shows where the answer will be.
    is_compared = not touched and source is None
    others = tuple(load_other_editions(skills, host, open_host)) if is_compared else ()
    print_outcomes(snapshot, outcomes, show_all=show_all, others=others)
    _warn_of_sources(snapshot)
    return 0


def _refuse_together(option: str, others: dict[str, bool]) -> None:
    given = [other for other, is_given in others.items() if is_given]
    if given:
        raise UsageError(f"{given[0]} and {option} cannot be used together.")


def _warn_of_sources(snapshot: Snapshot) -> None:
    """Say on stderr that skills may be missing or old, because of their source."""
    troubled = [one.name for one in snapshot.sources if one.state not in ("ready", "off")]
    if troubled:
        names = escape_line(", ".join(troubled))
        click.echo(f"prowess: not up to date: {names}. Run `prowess sources` to see why.", err=True)
    # Those that are not up to date were named as a whole.
    for source in (one for one in snapshot.sources if one.state == "ready"):
        # A file that is missing does not cost its skill.
        lost = sum(finding.code != "source-file-missing" for finding in source.diagnostics)
        if not lost:
            continue
        skills = f"{count_words(lost, 'skill')} of “{escape_line(source.name)}”"
        verb = "is" if lost == 1 else "are"
        warning = f"{skills} {verb} missing or old. Run `prowess sources` to see why."
        click.echo(f"prowess: {warning}", err=True)


def _choose_outcomes(
    skills: Skills, snapshot: Snapshot, source: str | None, *, show_all: bool, unused: bool
) -> tuple[Outcome, ...]:
    outcomes = snapshot.outcomes if show_all else snapshot.shown
    if unused:
        from prowess.reports.usage_report import find_unused

        outcomes = find_unused(skills)
    if source is None:
        return outcomes
    return _select_source(outcomes, source)


def _select_source(outcomes: tuple[Outcome, ...], wanted: str) -> tuple[Outcome, ...]:
    """The outcomes of one source or scope. Raises `UsageError`, which names those there are."""

    def list_names(outcome: Outcome) -> set[str]:
        root = outcome.candidate.root
        return {root.scope.value, root.source.label, root.source.provider} - {""}

    selected = tuple(one for one in outcomes if wanted in list_names(one))
    if not selected:
        known = sorted({name for one in outcomes for name in list_names(one)})
        if not known:
            raise UsageError(f"No skill here is from “{wanted}”: there are no skills here.")
        raise UsageError(f"No skill here is from “{wanted}”; the sources are {', '.join(known)}.")
    return selected


def _touch(skills: Skills, files: tuple[str, ...]) -> Snapshot:
    """The scan as it is after these files were touched."""
    conversation = skills.conversation(count=False)
    for file in files:
        conversation.touched(os.path.abspath(file))
    return conversation.snapshot
