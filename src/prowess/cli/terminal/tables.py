"""Aligned columns for people, and the marks of the states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.cells import cell_len
from rich.text import Text

from prowess.cli.terminal.out import console
from prowess.model.outcome import State

# The mark and colour of each state. Tables show the word too, or a legend that explains the marks.
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
# Widths of columns, in cells of the terminal.
_NARROWEST = 12
_WIDEST = 64
# As much as the last column gets before the others are narrowed; it has the sentences.
_LAST_NEEDS = 24
_AT_ONCE = 200

Cell = Text | str


def mark_state(state: State, *, word: bool = False) -> Text:
    """The mark of a state in its colour, with its word if wanted."""
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

    If a width is given, wide columns are narrowed, and the last one is cut or wrapped to fit.
    """
    return list(_lay_out(rows, width=width, heading=heading, wrap=wrap))


def _lay_out(
    rows: Iterable[Sequence[Cell]], *, width: int | None, heading: Sequence[str], wrap: bool
) -> Iterator[Text]:
    table = [list(map(_as_text, row)) for row in rows]
    if heading:
        table.insert(0, [Text(word, "dim") for word in heading])
    if not table:
        return
    widths = [max(map(_cells, column)) for column in zip(*table, strict=True)]
    if width is None:
        # One very long name must not push every line apart; it sticks out of its column instead.
        widths[:-1] = [min(one, _WIDEST) for one in widths[:-1]]
        for row in table:
            yield _render_row(row, widths)
        return
    _fit(widths, width)
    for row in table:
        lines = _wrap_row(row, widths[-1]) if wrap else (row,)
        for line in lines:
            yield _render_row(list(map(_cut, line, widths)), widths)


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
    """Narrow the columns, the widest first, until the last one has room; it gets what is left."""
    gaps = len(_GAP) * (len(widths) - 1)
    need = min(widths[-1], _LAST_NEEDS)
    while (over := sum(widths[:-1]) + gaps + need - width) > 0:
        widest = max(range(len(widths) - 1), key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            break
        widths[widest] = max(_NARROWEST, widths[widest] - over)
    left = width - gaps - sum(widths[:-1])
    # On a very narrow terminal a line sticks out rather than to have one letter in each row.
    widths[-1] = min(widths[-1], max(_NARROWEST, left))


def _cut(cell: Text, width: int) -> Text:
    if _cells(cell) <= width:
        return cell
    cell = cell.copy()
    cell.truncate(width, overflow="ellipsis")
    return cell


def _render_row(row: Sequence[Text], widths: Sequence[int]) -> Text:
    *others, last = row
    line = Text()
    # Nothing comes after the last column, so its width does not matter here.
    for cell, width in zip(others, widths[:-1], strict=True):
        padding = " " * (width - _cells(cell))
        line.append_text(cell)
        line.append(padding + _GAP)
    line.append_text(last)
    line.rstrip()
    return line


def print_columns(
    rows: Iterable[Sequence[Cell]], *, heading: Sequence[str] = (), wrap: bool = False
) -> None:
    """Print aligned columns: cut or wrapped to fit a terminal, whole when piped."""
    screen = console()
    if not screen.is_terminal:
        whole = [heading, *rows] if heading else rows
        screen.file.write("".join(f"{line}\n" for line in render_plain(whole)))
        return
    lines = _lay_out(rows, width=screen.width, heading=heading, wrap=wrap)
    # A long table is laid out in pieces, so that its first lines appear at once.
    while piece := list(islice(lines, _AT_ONCE)):
        screen.print(Text("\n").join(piece), no_wrap=True, overflow="ignore", crop=False)


def render_plain(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Rows as aligned lines, whole and without colour, which is many times faster."""
    table = [list(map(_as_plain, row)) for row in rows]
    # Of the last column no width is needed: nothing comes after it.
    columns = zip(*(row[:-1] for row in table), strict=True)
    widths = [min(max(map(cell_len, column)), _WIDEST) for column in columns]
    for row in table:
        padded = map(_pad, row[:-1], widths)
        yield _GAP.join((*padded, row[-1])).rstrip()


def _as_plain(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.plain


def _pad(cell: str, width: int) -> str:
    # By cells: a Chinese character takes two of them.
    return cell + " " * (width - cell_len(cell))
