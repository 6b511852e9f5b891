"""Output on terminals of any width, for tables of any size, and in a pipe."""

from __future__ import annotations

import io
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.tables import print_columns, render_columns
from tests.cli.terminal import Terminal

WORDS = st.text("ab日 😀\u0301\u200d\n", max_size=40)


class Screen(io.StringIO):
    """A terminal that remembers what was written to it."""

    def isatty(self) -> bool:
        return True


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=4),
    st.one_of(st.none(), st.integers(1, 300)),
    st.sampled_from(((), ("A", "B", "C"))),
    st.booleans(),
)
def test_every_table_can_be_printed_at_every_width(
    rows: list[tuple[str, str, str]], width: int | None, heading: tuple[str, ...], wrap: bool
) -> None:
    lines = render_columns(rows, width=width, heading=heading, wrap=wrap)
    assert len(lines) >= len(rows) + bool(heading)


@pytest.mark.parametrize("columns", [1, 20, 1000])
def test_a_table_without_rows_is_nothing_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    print_columns([])
    print_columns([], wrap=True)
    assert screen.getvalue() == ""


@pytest.mark.parametrize("columns", [1, 2, 12, 200])
def test_progress_stays_in_one_row(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("prowess.cli.terminal.progress._QUIET_SECONDS", 0.01)
    monkeypatch.setattr("prowess.cli.terminal.progress._EVERY_SECONDS", 0.01)
    with Progress("技能を探しています") as slow:
        slow.begin("a-part-with-a-long-name")
        deadline = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    drawn = screen.getvalue().split("\r\x1b[K")
    assert max(map(cell_len, drawn)) < max(columns, 2)


def test_the_plan_of_an_install_is_whole_in_a_pipe(terminal: Terminal) -> None:
    described = " ".join(f"word{number}" for number in range(40))
    terminal.skill("source/one", description=described)
    answer = terminal.run("install", str(terminal.root / "source"), "--dry-run")
    assert answer.out.splitlines()[0] == f"one  {described}"
