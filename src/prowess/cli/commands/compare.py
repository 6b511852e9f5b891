"""`prowess compare`: which host sees which skill, and which file wins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from prowess.cli.options import (
    add_dir_option,
    bare_option,
    complete_hosts,
    find_ignored,
    json_option,
    open_skills,
    tell_ignored,
)
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.errors import ProwessError, UnknownHost
from prowess.model.outcome import Outcome, State
from prowess.reports.comparison import Row, gather_rows, is_different
from prowess.reports.outcomes_by_name import Answers, index_answers
from prowess.text.display import count_words, escape_line

if TYPE_CHECKING:
    from rich.text import Text

_NOT_SEEN = "·"
_NOT_ASKED = "?"


class Column(msgspec.Struct, frozen=True):
    """A host, what it answers here, or the sentence that says why it cannot."""

    host: str
    answers: Answers
    problem: str | None = None
    ignored: tuple[str, ...] = ()


@click.command("compare")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help=(
        "Compare this host; may be given several times. Without it: every host but spec, your own"
        " too."
    ),
)
@click.option("--only-different", is_flag=True, help="Leave out skills on which all hosts agree.")
@add_dir_option
@bare_option
@json_option
def command(
    hosts: tuple[str, ...],
    only_different: bool,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Show which host sees which skill, and which file wins.

    A letter stands for the folder whose file wins, a mark for the state in which it ends there. A
    skill that some hosts call by its header and others by its folder is one row with both names.
    """
    with Progress() as progress:
        named = dict.fromkeys(hosts or _default_hosts())
        columns = [_load_column(host, add_dirs, bare=bare, progress=progress) for host in named]
    for column in columns:
        tell_ignored(column.ignored)
    asked = {column.host: column.answers for column in columns if column.problem is None}
    rows = gather_rows(asked)
    different = [row for row in rows if is_different(row, asked)]
    shown = different if only_different else rows
    if as_json:
        hosts_shape = [_shape_column(column) for column in columns]
        print_json({"hosts": hosts_shape, "skills": [_shape_row(row, asked) for row in shown]})
    else:
        _print_table(shown, columns, total=len(rows), different=len(different))
    return 2 if any(column.problem is not None for column in columns) else 0


def _default_hosts() -> tuple[str, ...]:
    from prowess.machine.facts import current_facts
    from prowess.profiles.load import known_hosts
    from prowess.state.profile_cache import load_added_profiles

    _, added = load_added_profiles(current_facts(), "prowess")
    return tuple(name for name in known_hosts(added) if name != "spec")


def _load_column(host: str, add_dirs: tuple[str, ...], *, bare: bool, progress: Progress) -> Column:
    progress.begin(f"asking {escape_line(host)}")
    try:
        snapshot = open_skills(host, add_dirs, bare=bare, progress=progress, tell=False).snapshot
        return Column(host, index_answers(snapshot), ignored=find_ignored(snapshot))
    except UnknownHost:
        raise
    except ProwessError as error:
        # A host whose settings are wrong has no answer; that is no reason to keep those of the
        # others back.
        return Column(host, {}, str(error))


def _shape_column(column: Column) -> dict[str, Any]:
    return (
        {"name": column.host}
        if column.problem is None
        else {"name": column.host, "problem": column.problem}
    )


def _shape_row(row: Row, hosts: Iterable[str]) -> dict[str, Any]:
    """A row; where hosts call the skill by different names, each answer has its own."""
    answers: dict[str, Any] = {}
    for host in hosts:
        outcome = row.answers.get(host)
        if outcome is not None:
            answers[host] = {"name": outcome.name} if len(row.names) > 1 else {}
            answers[host] |= {"state": outcome.state.value, "location": outcome.candidate.location}
            if outcome.reason is not None:
                answers[host]["reason"] = outcome.reason
    return {"name": row.names[0], "hosts": answers}


def _print_table(
    rows: Sequence[Row], columns: Sequence[Column], *, total: int, different: int
) -> None:
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    legend = _Legend({}, set())
    lines: list[list[Text | str]] = []
    for row in rows:
        cells = [_render_cell(row.answers.get(column.host), column, legend) for column in columns]
        lines.append([escape_line(" / ".join(row.names)), *cells])
    if lines:
        print_columns(lines, heading=("", *(escape_line(column.host) for column in columns)))
        screen.print()
        _print_legend(legend, has_problem=any(column.problem is not None for column in columns))
    if any(len(row.names) > 1 for row in rows):
        screen.print(
            "Two names in a row: some hosts go by the header, others by the folder.", style="dim"
        )
    for column in columns:
        if column.problem is not None:
            screen.print(
                f"{escape_line(column.host)} cannot be asked: {escape_line(column.problem)}",
                style="red",
            )
    if total:
        verb = "differs" if different == 1 else "differ"
        screen.print(f"{different:,} of {count_words(total, 'skill')} {verb} between these hosts.")
    else:
        screen.print("None of these hosts finds a skill here.")


class _Legend(NamedTuple):
    """What a table needs explained: the letter of each folder, and the states whose marks stand in
    it.
    """

    letters: dict[str, str]
    states: set[State]


def _render_cell(outcome: Outcome | None, column: Column, legend: _Legend) -> Text | str:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state

    if column.problem is not None:
        return Text(_NOT_ASKED, "red")
    if outcome is None:
        return _NOT_SEEN
    legend.states.add(outcome.state)
    letter = legend.letters.setdefault(
        outcome.candidate.root.path, _name_letter(len(legend.letters))
    )
    cell = mark_state(outcome.state)
    return cell.append(f" {letter}", "default")


def _name_letter(number: int) -> str:
    """a, b … z, aa, ab …"""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else _name_letter(number // 26 - 1) + letter


def _print_legend(legend: _Legend, *, has_problem: bool) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state, print_columns

    cwd = os.getcwd()
    print_columns(
        [("", letter, shorten_path(path, cwd)) for path, letter in legend.letters.items()]
    )
    marks = [mark_state(state, word=True) for state in reversed(State) if state in legend.states]
    marks.append(Text(f"{_NOT_SEEN} not seen", "default"))
    screen = console()
    screen.print()
    screen.print(Text("  ").join(marks))
    if has_problem:
        screen.print(f"{_NOT_ASKED} cannot be asked, for the reason below", style="red")
