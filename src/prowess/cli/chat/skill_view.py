"""The list of skills in the terminal: a filter, the list, the chosen one, and its switch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import BeforeInput
from rich.cells import cell_len, set_cell_size

from prowess.cli.chat.usage import cut_line
from prowess.cli.terminal.out import shorten_path
from prowess.cli.terminal.tables import MARKS
from prowess.reports.skill_rows import SkillRow, filter_rows
from prowess.reports.switch_plan import VISIBILITIES, Visibility
from prowess.text.display import escape_line, first_line

_FOOTER = "↑ ↓ choose · ← → switch · Enter save · Esc leave · type to filter"
# Rows besides the list: a rule, the filter, the heading, blank lines, details, the footer.
_OTHER_ROWS = 10
# From this width on, rows have the state and the source in words, too.
_WIDE = 110
_MOST_NAME = 28
_DETAIL_ROWS = 4


class SkillView:
    """Every skill in a row. `changes` are the switches that were moved, once Enter was pressed."""

    def __init__(self, rows: Sequence[SkillRow], words: str, *, cwd: str) -> None:
        self.changes: dict[str, Visibility] = {}
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rows = rows
        self._cwd = cwd
        self._moved: dict[str, Visibility] = {}
        self._chosen = 0
        self._filter = Buffer(multiline=False, on_text_changed=lambda buffer: self._choose(0))
        self._filter.insert_text(words)
        prompt = BeforeInput("Filter: ", "class:dim")
        self.focus = Window(
            BufferControl(self._filter, input_processors=[prompt], key_bindings=self._bind_keys()),
            height=1,
        )
        self.container = HSplit(
            [
                Window(height=1, char="─", style="class:rule"),
                self.focus,
                Window(FormattedTextControl(self._render_heading), height=1),
                Window(FormattedTextControl(self._render_list), height=self._measure_list),
                Window(height=1),
                Window(FormattedTextControl(self._render_details), height=_DETAIL_ROWS),
                Window(height=1),
                Window(FormattedTextControl(self._render_footer), height=1),
            ]
        )

    @property
    def _found(self) -> tuple[SkillRow, ...]:
        return filter_rows(self._rows, self._filter.text)

    def _bind_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        for keys, step in (("up", -1), ("down", 1), ("pageup", -10), ("pagedown", 10)):

            @bindings.add(keys, eager=True)
            def _move(event: KeyPressEvent, step: int = step) -> None:
                self._choose(self._chosen + step)

        for keys, step in (("left", -1), ("right", 1), (" ", 1)):

            @bindings.add(keys, eager=True)
            def _switch(event: KeyPressEvent, step: int = step) -> None:
                self._turn(step)

        @bindings.add("enter", eager=True)
        def _save(event: KeyPressEvent) -> None:
            self.changes = self._moved
            self.leave()

        for keys in ("escape", "c-c", "c-d"):

            @bindings.add(keys)
            def _leave(event: KeyPressEvent) -> None:
                self.leave()

        return bindings

    def leave(self) -> None:
        """Close the view."""
        if not self.done.done():
            self.done.set_result(None)

    def _choose(self, number: int) -> None:
        self._chosen = max(0, min(number, len(self._found) - 1))

    def _turn(self, step: int) -> None:
        """Move the switch of the chosen skill."""
        if not self._found:
            return
        row = self._found[self._chosen]
        at = VISIBILITIES.index(self._find_switch(row))
        wanted = VISIBILITIES[(at + step) % len(VISIBILITIES)]
        if wanted == row.visibility:
            self._moved.pop(row.name, None)
        else:
            self._moved[row.name] = wanted

    def _find_switch(self, row: SkillRow) -> Visibility:
        return self._moved.get(row.name, row.visibility)

    def _measure_list(self) -> Dimension:
        most = max(get_app().output.get_size().rows - _OTHER_ROWS, 3)
        return Dimension.exact(max(min(most, len(self._rows)), 1))

    @property
    def _name_width(self) -> int:
        return min(max((cell_len(row.name) for row in self._rows), default=4), _MOST_NAME)

    def _render_heading(self) -> StyleAndTextTuples:
        words = self._join_columns("NAME", "SWITCH", "TOKENS", ("STATE", "SOURCE"), moved=" ")
        return [("class:dim", f"   {words}DESCRIPTION")]

    def _render_list(self) -> StyleAndTextTuples:
        found = self._found
        if not found:
            return [("class:dim", "No skill matches.")]
        height = self._measure_list().preferred
        # The chosen row is in the middle, except at the ends.
        top = max(0, min(self._chosen - height // 2, len(found) - height))
        lines: StyleAndTextTuples = []
        for number, row in enumerate(found[top : top + height], top):
            lines += self._render_row(row, is_chosen=number == self._chosen)
        return lines

    def _render_row(self, row: SkillRow, *, is_chosen: bool) -> StyleAndTextTuples:
        mark, colour = MARKS[row.state]
        middle = self._join_columns(
            escape_line(row.name),
            self._find_switch(row),
            "" if row.tokens is None else f"{row.tokens:,}",
            (row.state.value, escape_line(row.source)),
            moved="*" if row.name in self._moved else " ",
        )
        room = get_app().output.get_size().columns - cell_len(middle) - 3
        described = cut_line(first_line(row.description or row.reason), max(room, 0))
        style = "class:chosen" if is_chosen else ""
        return [
            (style, "› " if is_chosen else "  "),
            (f"{style} {_COLOURS.get(colour, '')}", mark),
            (style, middle),
            (style or "class:dim", f"{described}\n"),
        ]

    def _join_columns(
        self, name: str, switch: str, tokens: str, wide: tuple[str, str], *, moved: str
    ) -> str:
        """The cells of a row before its description."""
        width = self._name_width
        cells = [set_cell_size(cut_line(name, width), width), f"{moved}{switch:<9}", f"{tokens:>7}"]
        if get_app().output.get_size().columns >= _WIDE:
            state, source = wide
            cells += [f"{state:<10}", set_cell_size(cut_line(source, 18), 18)]
        return f" {'  '.join(cells)}  "

    def _render_details(self) -> StyleAndTextTuples:
        if not self._found:
            return []
        row = self._found[self._chosen]
        width = get_app().output.get_size().columns
        why = f": {escape_line(row.reason)}" if row.reason else ""
        where = f"{row.scope} · {escape_line(row.source)} · {shorten_path(row.location, self._cwd)}"
        lines = [
            f"{row.state.value}{why}",
            where,
            *_wrap(escape_line(row.description), width, _DETAIL_ROWS - 2),
        ]
        return [("", "\n".join(cut_line(line, width) for line in lines))]

    def _render_footer(self) -> StyleAndTextTuples:
        width = get_app().output.get_size().columns
        count = len(self._moved)
        changed = f"{count} changed · " if count else ""
        return [("class:dim", cut_line(changed + _FOOTER, width))]


# The colours of states in the names that prompt_toolkit has for them.
_COLOURS = {
    "green": "fg:ansigreen",
    "cyan": "fg:ansicyan",
    "red": "fg:ansired",
    "yellow": "fg:ansiyellow",
    "dim": "class:dim",
}


def _wrap(text: str, width: int, most: int) -> list[str]:
    """Text in at most that many lines; the last one is cut."""
    lines: list[str] = []
    rest = text
    while rest and len(lines) < most - 1 and cell_len(rest) > width:
        piece = set_cell_size(rest, width)
        at = piece.rfind(" ")
        at = at if at > 0 else len(piece.rstrip())
        lines.append(rest[:at])
        rest = rest[at:].lstrip()
    return [*lines, rest] if rest else lines
