"""The table of skills that `list` prints, and the lines below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from prowess.cli.terminal.out import console, shorten_path
from prowess.cli.terminal.tables import MARKS, Cell, mark_state, print_columns
from prowess.diagnostics import Diagnostic
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.outcomes_by_name import (
    OtherEdition,
    OutcomesByName,
    index_outcomes,
    list_differing_names,
)
from prowess.reports.phrases import cite_reason, name_host, render_counts
from prowess.text.display import count_words, escape_line, first_line, join_some

_HEADING = ("", "NAME", "STATE", "SCOPE", "SOURCE", "DESCRIPTION")
_QUIET = (State.SHADOWED, State.DISABLED, State.DUPLICATE)
_MOST_NAMES = 8
# Diagnostics of a whole scan that mean that the table is not complete.
_CUTS = ("limit-reached", "option-ignored")


def print_outcomes(
    snapshot: Snapshot,
    outcomes: Sequence[Outcome],
    *,
    show_all: bool,
    others: Iterable[OtherEdition] = (),
) -> None:
    """Print the table, what it leaves out, and where other editions of the host differ."""
    screen = console()
    if outcomes:
        _print_table(snapshot, outcomes)
    screen.print(_render_footer(snapshot, outcomes, show_all=show_all))
    for cut in _render_cuts(snapshot):
        screen.print(Text(cut, "yellow"))
    here = index_outcomes(snapshot)
    for other in others:
        difference = render_difference(other, here)
        if difference is not None:
            screen.print(Text(difference, "yellow"))
    hint = "Run `prowess explain NAME` to see why a skill is in its state."
    if not outcomes:
        hint = "Run `prowess` to see which folders are searched, `prowess new NAME` to create one."
    screen.print(Text(hint, "dim"))


def print_unused(snapshot: Snapshot, outcomes: Sequence[Outcome]) -> None:
    """Print the table of skills that were never used, and how many of the ready ones they are."""
    screen = console()
    ready = snapshot.counts().get(State.READY, 0)
    if not outcomes:
        screen.print("Every ready skill has been used." if ready else "No skill is ready here.")
        return
    _print_table(snapshot, outcomes)
    verb = "was" if len(outcomes) == 1 else "were"
    screen.print(f"{len(outcomes):,} of {count_words(ready, 'ready skill')} {verb} never used.")
    hint = "`prowess usage` shows the counts, `prowess cost` what each skill costs."
    screen.print(Text(hint, "dim"))


def _print_table(snapshot: Snapshot, outcomes: Sequence[Outcome]) -> None:
    print_columns([_list_cells(outcome, snapshot) for outcome in outcomes], heading=_HEADING)
    console().print()


def _list_cells(outcome: Outcome, snapshot: Snapshot) -> list[Cell]:
    root = outcome.candidate.root
    # A file that could not be read has no description; the reason is shown instead.
    described = outcome.skill.description if outcome.skill else outcome.reason
    if outcome.state is State.DENIED:
        # The rule that denies a skill, and its file, is what users look for first.
        described = render_reason(outcome, snapshot)
    is_quiet = outcome.state in _QUIET
    return [
        mark_state(outcome.state),
        Text(escape_line(outcome.name), "dim" if is_quiet else "bold"),
        Text(outcome.state.value, MARKS[outcome.state][1]),
        root.scope.value,
        escape_line(root.source.label),
        Text(first_line(described), "dim" if is_quiet else ""),
    ]


def render_reason(outcome: Outcome, snapshot: Snapshot) -> str:
    """Why a skill is in its state, and the setting that says so, with short paths."""
    reason = cite_reason(outcome)
    # A reason is a sentence that may cite the line of a settings file.
    for file in snapshot.settings.files:
        reason = reason.replace(file, shorten_path(file, snapshot.cwd))
    return reason


def _render_footer(snapshot: Snapshot, outcomes: Sequence[Outcome], *, show_all: bool) -> str:
    host = name_host(snapshot.host, snapshot.edition)
    total = len(snapshot.outcomes)
    if not total:
        return f"{host} finds no skills in {shorten_path(snapshot.cwd)}."
    left_out = 0 if show_all else total - len(outcomes)
    more = f" --all shows {left_out:,} more." if left_out else ""
    counts = render_counts(snapshot.counts())
    return f"{host} finds {count_words(total, 'file')}: {counts}.{more}"


def _render_cuts(snapshot: Snapshot) -> Iterator[str]:
    """One line for each reason why the table is not complete."""
    for code in _CUTS:
        found = [one for one in snapshot.diagnostics if one.code == code]
        if found:
            yield _render_cut(found, snapshot.cwd)


def _render_cut(found: Sequence[Diagnostic], cwd: str) -> str:
    """The first of several findings, and how many more there are."""
    first, others = found[0], len(found) - 1
    where = f"{shorten_path(first.file, cwd)}: " if first.file else ""
    more = f" `prowess check` shows {others:,} more." if others else ""
    return f"{where}{escape_line(first.message)}{more}"


def render_difference(other: OtherEdition, here: OutcomesByName) -> str | None:
    """The skills that are different in another edition of the host; None if there are none."""
    if other.problem is not None:
        return f"{other.host} cannot be used: {escape_line(other.problem)}"
    names = list_differing_names(here, other.outcomes)
    if not names:
        return None
    shown = join_some([escape_line(name) for name in names], _MOST_NAMES)
    verb = "skill differs" if len(names) == 1 else "skills differ"
    return f"{len(names):,} {verb} in {other.host}: {shown}."
