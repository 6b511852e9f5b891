"""Aligned columns, the marks of the states, and the table of skills that `list` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.cells import cell_len
from rich.text import Text

from prowess.cli.terminal.out import console, shorten_path
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.outcomes_by_name import (
    OtherEdition,
    OutcomesByName,
    index_outcomes,
    list_differing_names,
)
from prowess.reports.wording import cite_reason, render_counts
from prowess.text.display import count_words, escape_line, first_line

# Each state's mark and colour. The word always stands beside the mark, or a legend below the table
# explains it.
MARKS: dict[State, tuple[str, str]] = {
    State.READY: ("●", "green"),
    State.HIDDEN: ("○", "cyan"),
    State.DORMANT: ("◌", "cyan"),
    State.DENIED: ("⊘", "red"),
    State.INELIGIBLE: ("✗", "yellow"),
    State.SHADOWED: ("↓", "dim"),
    State.DISABLED: ("–", "dim"),
    State.DUPLICATE: ("=", "dim"),
    State.SKIPPED: ("»", "yellow"),
    State.INVALID: ("!", "red"),
}
_GAP = "  "
_NARROWEST = 12
_WIDEST = 64
_LAST_NEEDS = 24
_MOST_NAMES = 8
_AT_ONCE = 200
_HEADING = ("", "NAME", "STATE", "SCOPE", "SOURCE", "DESCRIPTION")

Cell = Text | str


def mark_state(state: State, *, word: bool = False) -> Text:
    """A state's mark in its colour, with its word where that is wanted."""
    mark, style = MARKS[state]
    return Text(f"{mark} {state.value}" if word else mark, style)


def render_columns(
    rows: Iterable[Sequence[Cell]],
    *,
    width: int | None,
    heading: Sequence[str] = (),
    wrap: bool = False,
) -> list[Text]:
    """Rows as aligned lines.

    Where a width is given, the last column is cut to it, or goes on below itself, and wide ones
    before it give way.
    """
    return list(_lay_out(rows, width=width, heading=heading, wrap=wrap))


def _lay_out(
    rows: Iterable[Sequence[Cell]], *, width: int | None, heading: Sequence[str], wrap: bool
) -> Iterator[Text]:
    table = [[_as_text(cell) for cell in row] for row in rows]
    if heading:
        table.insert(0, [Text(word, "dim") for word in heading])
    widths = [max(map(_cells, column)) for column in zip(*table, strict=True)]
    if width is None:
        # One very long name must not push every line apart; it stands out of its column instead.
        widths[:-1] = [min(one, _WIDEST) for one in widths[:-1]]
        yield from (_render_row(row, widths) for row in table)
        return
    _fit(widths, width)
    for row in table:
        for line in _wrap_row(row, widths[-1]) if wrap else (row,):
            yield _render_row(
                [_cut(cell, one) for cell, one in zip(line, widths, strict=True)], widths
            )


def _wrap_row(row: list[Text], width: int) -> Iterator[list[Text]]:
    if _cells(row[-1]) <= width:
        yield row
        return
    first, *others = row[-1].wrap(console(), width)
    yield [*row[:-1], first]
    for line in others:
        yield [*(Text() for _ in row[:-1]), line]


def _as_text(cell: Cell) -> Text:
    return Text(cell) if isinstance(cell, str) else cell


def _cells(cell: Text) -> int:
    return cell_len(cell.plain)


def _fit(widths: list[int], width: int) -> None:
    """Make columns narrower, the widest first, until the last one has room; then give it what is
    left.
    """
    gaps = len(_GAP) * (len(widths) - 1)
    need = min(widths[-1], _LAST_NEEDS)
    while (over := sum(widths[:-1]) + gaps + need - width) > 0:
        widest = max(range(len(widths) - 1), key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            break
        widths[widest] = max(_NARROWEST, widths[widest] - over)
    widths[-1] = min(widths[-1], max(_NARROWEST, width - gaps - sum(widths[:-1])))


def _cut(cell: Text, width: int) -> Text:
    if _cells(cell) <= width:
        return cell
    cell = cell.copy()
    cell.truncate(width, overflow="ellipsis")
    return cell


def _render_row(row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text()
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        line.append_text(cell)
        if place < len(row) - 1:
            line.append(" " * (width - _cells(cell)) + _GAP)
    line.rstrip()
    return line


def print_columns(
    rows: Iterable[Sequence[Cell]], *, heading: Sequence[str] = (), wrap: bool = False
) -> None:
    """Print rows as aligned columns: cut or wrapped to a terminal's width, whole when piped."""
    screen = console()
    if not screen.is_terminal:
        screen.file.write(
            "".join(f"{line}\n" for line in render_plain([heading, *rows] if heading else rows))
        )
        return
    lines = _lay_out(rows, width=screen.width, heading=heading, wrap=wrap)
    # A long table is laid out piece by piece, so that its beginning is there at once.
    while piece := list(islice(lines, _AT_ONCE)):
        screen.print(Text("\n").join(piece), no_wrap=True, overflow="ignore", crop=False)


def render_plain(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Rows as aligned lines without colour, whole; many times as fast as with it."""
    table = [[cell if isinstance(cell, str) else cell.plain for cell in row] for row in rows]
    widths = [
        min(max(map(cell_len, column)), _WIDEST)
        for column in zip(*(row[:-1] for row in table), strict=True)
    ]
    for row in table:
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)
        )
        yield _GAP.join((*padded, row[-1])).rstrip()


def print_outcomes(
    snapshot: Snapshot,
    outcomes: Sequence[Outcome],
    *,
    show_all: bool,
    others: Iterable[OtherEdition] = (),
) -> None:
    """The table of skills, what it leaves out, and where the host's other editions answer
    differently.
    """
    if outcomes:
        print_columns([_outcome_row(outcome, snapshot) for outcome in outcomes], heading=_HEADING)
    screen = console()
    if outcomes:
        screen.print()
    screen.print(_render_footer(snapshot, outcomes, show_all=show_all))
    for cut in _render_cuts(snapshot):
        screen.print(Text(cut, "yellow"))
    answers = index_outcomes(snapshot)
    for other in others:
        line = render_difference(other, answers)
        if line:
            screen.print(Text(line, "yellow"))
    if outcomes:
        screen.print(Text("`prowess explain NAME` tells how one came to its state.", "dim"))
    else:
        screen.print(
            Text(
                "`prowess` tells where skills are looked for; `prowess new NAME` makes one.", "dim"
            )
        )


def print_unused(snapshot: Snapshot, outcomes: Sequence[Outcome]) -> None:
    """The table of skills that were never used, and how many of the ready ones they are."""
    screen = console()
    ready = snapshot.counts().get(State.READY, 0)
    if outcomes:
        print_columns([_outcome_row(outcome, snapshot) for outcome in outcomes], heading=_HEADING)
        screen.print()
        were = "was" if len(outcomes) == 1 else "were"
        screen.print(
            f"{len(outcomes):,} of {count_words(ready, 'skill')} that are ready {were} never used."
        )
        screen.print(
            Text(
                "`prowess usage` has the counts; `prowess cost` tells what each skill costs.", "dim"
            )
        )
    else:
        screen.print(
            f"Every skill that is ready was used: {ready:,}."
            if ready
            else "No skill is ready here."
        )


def _outcome_row(outcome: Outcome, snapshot: Snapshot) -> list[Cell]:
    root = outcome.candidate.root
    described = outcome.skill.description if outcome.skill else outcome.reason
    if outcome.state is State.DENIED:
        # Which rule denies it, and where that stands, is what whoever misses a skill asks first.
        described = render_reason(outcome, snapshot)
    quiet = outcome.state in (State.SHADOWED, State.DISABLED, State.DUPLICATE)
    return [
        mark_state(outcome.state),
        Text(escape_line(outcome.name), "dim" if quiet else "bold"),
        Text(outcome.state.value, MARKS[outcome.state][1]),
        root.scope.value,
        escape_line(root.source.label),
        Text(first_line(described), "dim" if quiet else ""),
    ]


def render_reason(outcome: Outcome, snapshot: Snapshot) -> str:
    """Why a skill ended as it did and which setting says so, with the paths of settings files as
    people write them.
    """
    reason = cite_reason(outcome)
    for file in snapshot.settings.files:
        reason = reason.replace(file, shorten_path(file, snapshot.cwd))
    return reason


def _render_footer(snapshot: Snapshot, outcomes: Sequence[Outcome], *, show_all: bool) -> str:
    who = f"{snapshot.host}@{snapshot.edition}" if snapshot.edition != "current" else snapshot.host
    counts = snapshot.counts()
    if not counts:
        return f"{who} finds no skills in {shorten_path(snapshot.cwd)}."
    footer = f"{who} finds {count_words(len(snapshot.outcomes), 'file')}: {render_counts(counts)}."
    left_out = len(snapshot.outcomes) - len(outcomes)
    if left_out and not show_all:
        footer += f" --all shows {left_out:,} more."
    return footer


# Findings about a whole scan without which its table would mislead: something was not looked at.
_CUTS = ("limit-reached", "option-ignored")


def _render_cuts(snapshot: Snapshot) -> Iterator[str]:
    """One line for each kind of finding that says that the table does not hold all there is."""
    for code in _CUTS:
        found = [one for one in snapshot.diagnostics if one.code == code]
        if found:
            place = f"{shorten_path(found[0].file, snapshot.cwd)}: " if found[0].file else ""
            more = f" `prowess check` shows {len(found) - 1:,} more." if len(found) > 1 else ""
            yield f"{place}{escape_line(found[0].message)}{more}"


def render_difference(other: OtherEdition, answers: OutcomesByName) -> str | None:
    """One line that says which skills another edition answers differently; None where it agrees."""
    if other.problem is not None:
        return f"{other.host} cannot be asked: {escape_line(other.problem)}"
    names = list_differing_names(answers, other.outcomes)
    if not names:
        return None
    shown = ", ".join(escape_line(name) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    verb = "skill differs" if len(names) == 1 else "skills differ"
    return f"{len(names):,} {verb} in {other.host}: {shown}{more}."
