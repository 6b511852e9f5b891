"""`prowess compare`: which host sees which skill, and which file wins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from prowess.cli.answers import Answers, index_answers, same_answer
from prowess.cli.options import add_dir_option, bare_option, complete_hosts, json_option, open_skills
from prowess.cli.out import console, count_words, escape_line, print_json, shorten_path
from prowess.errors import ProwessError, UnknownHost
from prowess.model.outcome import Outcome, State

if TYPE_CHECKING:
    from rich.text import Text

_NOT_SEEN = "·"


class Column(msgspec.Struct, frozen=True):
    """A host, what it answers here, or the sentence that says why it cannot."""

    host: str
    answers: Answers
    problem: str | None = None


@click.command("compare")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Compare this host; may be given several times. Without it: every host but spec.",
)
@click.option("--only-different", is_flag=True, help="Leave out skills on which all hosts agree.")
@add_dir_option
@bare_option
@json_option
def command(hosts: tuple[str, ...], only_different: bool, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Show which host sees which skill, and which file wins.

    A letter stands for the folder whose file wins, a mark for the state in which it ends there.
    """
    columns = [_load_column(host, add_dirs, bare=bare) for host in dict.fromkeys(hosts or _default_hosts())]
    names = sorted({name for column in columns for name in column.answers}, key=lambda name: (name.casefold(), name))
    different = [name for name in names if _is_different(name, columns)]
    shown = different if only_different else names
    if as_json:
        print_json(
            {
                "hosts": [_shape_column(column) for column in columns],
                "skills": [{"name": name, "hosts": _shape_row(name, columns)} for name in shown],
            }
        )
    else:
        _print_table(shown, columns, total=len(names), different=len(different))
    return 2 if any(column.problem is not None for column in columns) else 0


def _default_hosts() -> tuple[str, ...]:
    from prowess.profiles.load import BUILT_IN

    return tuple(name for name in BUILT_IN if name != "spec")


def _load_column(host: str, add_dirs: tuple[str, ...], *, bare: bool) -> Column:
    try:
        return Column(host, index_answers(open_skills(host, add_dirs, bare=bare).snapshot))
    except UnknownHost:
        raise
    except ProwessError as error:
        # A host whose settings are wrong has no answer; that is no reason to keep those of the others back.
        return Column(host, {}, str(error))


def _is_different(name: str, columns: Sequence[Column]) -> bool:
    asked = [column for column in columns if column.problem is None]
    return not all(same_answer(column.answers.get(name), asked[0].answers.get(name)) for column in asked)


def _shape_column(column: Column) -> dict[str, Any]:
    return {"name": column.host} if column.problem is None else {"name": column.host, "problem": column.problem}


def _shape_row(name: str, columns: Sequence[Column]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in columns:
        outcome = column.answers.get(name)
        if outcome is not None:
            row[column.host] = {"state": outcome.state.value, "location": outcome.candidate.location}
            if outcome.reason is not None:
                row[column.host]["reason"] = outcome.reason
    return row


def _print_table(names: Sequence[str], columns: Sequence[Column], *, total: int, different: int) -> None:
    from prowess.cli.tables import print_columns

    screen = console()
    letters: dict[str, str] = {}
    states: set[State] = set()
    rows: list[list[Text | str]] = []
    for name in names:
        cells = [_render_cell(column.answers.get(name), letters, states) for column in columns]
        rows.append([escape_line(name), *cells])
    if rows:
        print_columns(rows, heading=("", *(escape_line(column.host) for column in columns)))
        screen.print()
        _print_legend(letters, states)
    for column in columns:
        if column.problem is not None:
            screen.print(f"{escape_line(column.host)} cannot be asked: {escape_line(column.problem)}", style="red")
    if total:
        verb = "differs" if different == 1 else "differ"
        screen.print(f"{different:,} of {count_words(total, 'skill')} {verb} between these hosts.")
    else:
        screen.print("None of these hosts finds a skill here.")


def _render_cell(outcome: Outcome | None, letters: dict[str, str], states: set[State]) -> Text | str:
    from prowess.cli.tables import mark_state

    if outcome is None:
        return _NOT_SEEN
    states.add(outcome.state)
    letter = letters.setdefault(outcome.candidate.root.path, _name_letter(len(letters)))
    cell = mark_state(outcome.state)
    return cell.append(f" {letter}", "default")


def _name_letter(number: int) -> str:
    """a, b … z, aa, ab …"""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else _name_letter(number // 26 - 1) + letter


def _print_legend(letters: dict[str, str], states: set[State]) -> None:
    from prowess.cli.tables import mark_state, print_columns

    cwd = os.getcwd()
    print_columns([("", letter, shorten_path(path, cwd)) for path, letter in letters.items()])
    marks = [mark_state(state, word=True) for state in reversed(State) if state in states]
    line = marks[0].copy()
    for mark in marks[1:]:
        line.append("  ").append_text(mark)
    line.append(f"  {_NOT_SEEN} not seen", "default")
    screen = console()
    screen.print()
    screen.print(line)
