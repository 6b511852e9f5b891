"""What local commands show: tables and lines, with text of others made safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from prowess.text.display import escape_line

Cell = Text | str


def make_table(
    rows: Iterable[Sequence[Cell]], *, heading: Sequence[str] = (), right: Sequence[int] = ()
) -> Table:
    """Aligned columns without lines; `right` are the columns that end at the same place."""
    rows = [list(row) for row in rows]
    width = len(heading) or max(map(len, rows), default=1)
    table = Table(
        box=None, show_header=bool(heading), padding=(0, 2, 0, 0), header_style="dim", expand=False
    )
    for column in range(width):
        # Only the last column wraps; names and numbers stay whole.
        is_last = column == width - 1
        table.add_column(
            heading[column] if heading else "",
            justify="right" if column in right else "left",
            no_wrap=not is_last,
            overflow="fold" if is_last else "ellipsis",
        )
    for row in rows:
        table.add_row(*(as_text(cell) for cell in row))
    return table


def as_text(cell: Cell) -> Text:
    """Text without markup; a string is escaped."""
    return cell if isinstance(cell, Text) else Text(escape_line(cell))


def stack(*parts: RenderableType) -> Group:
    """Parts below each other."""
    return Group(*parts)


def dim(line: str) -> Text:
    """A line that explains."""
    return Text(line, "dim")
