"""`prowess compare`: which host sees which skill, and which file wins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from prowess.cli.options import (
    add_dir_option,
    bare_option,
    complete_hosts,
    json_option,
    open_skills,
    warn_of_ignored_options,
)
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.machine.facts import current_facts
from prowess.model.outcome import Outcome, State
from prowess.reports.comparison import (
    HostAnswers,
    HostComparison,
    SkillRow,
    compare_hosts,
)
from prowess.reports.hosts import list_host_names
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line

if TYPE_CHECKING:
    from rich.text import Text

_NOT_SEEN = "·"
_NO_ANSWER = "?"


@click.command("compare")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Compare this host; repeatable. Default: every host but spec, including your own.",
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

    A letter stands for the folder whose file wins, a mark for its state in that host. A skill that
    some hosts name by its header and others by its folder is one row with both names.
    """
    with Progress() as progress:

        def open_host(host: str) -> Skills:
            progress.begin(f"asking {escape_line(host)}")
            return open_skills(host, add_dirs, bare=bare, progress=progress, warn=False)

        compared = compare_hosts(hosts or _list_default_hosts(), open_host)
    for one in compared.hosts:
        if one.snapshot is not None:
            warn_of_ignored_options(one.snapshot)
    if as_json:
        print_json(compared.shape(only_different=only_different))
    else:
        _print_comparison(compared, only_different=only_different)
    return 2 if _list_silent(compared) else 0


def _list_default_hosts() -> list[str]:
    # The standard is not an agent: few people want a column for it.
    return [name for name in list_host_names(current_facts()) if name != "spec"]


def _list_silent(compared: HostComparison) -> list[HostAnswers]:
    return [one for one in compared.hosts if one.problem is not None]


def _print_comparison(compared: HostComparison, *, only_different: bool) -> None:
    screen = console()
    rows = compared.different if only_different else compared.rows
    silent = _list_silent(compared)
    if rows:
        legend = _print_table(rows, compared.hosts)
        screen.print()
        _print_legend(legend, has_silent=bool(silent))
    if any(len(row.names) > 1 for row in rows):
        note = "Where a row has two names, some hosts use the header's name, others the folder's."
        screen.print(note, style="dim")
    for one in silent:
        problem = escape_line(one.problem or "")
        screen.print(f"No answer from {escape_line(one.host)}: {problem}", style="red")
    if not compared.rows:
        screen.print("None of these hosts finds a skill here.")
        return
    number, total = len(compared.different), count_words(len(compared.rows), "skill")
    verb = "differs" if number == 1 else "differ"
    screen.print(f"{number:,} of {total} {verb} between these hosts.")


class _Legend(NamedTuple):
    """What a table needs explained: the letter of each folder, and the states in it."""

    letters: dict[str, str]
    states: set[State]


def _print_table(rows: Sequence[SkillRow], hosts: Sequence[HostAnswers]) -> _Legend:
    from prowess.cli.terminal.tables import print_columns

    legend = _Legend({}, set())
    lines: list[list[Text | str]] = []
    for row in rows:
        cells = [_render_cell(row.outcomes.get(one.host), one, legend) for one in hosts]
        lines.append([escape_line(" / ".join(row.names)), *cells])
    print_columns(lines, heading=("", *(escape_line(one.host) for one in hosts)))
    return legend


def _render_cell(outcome: Outcome | None, answers: HostAnswers, legend: _Legend) -> Text | str:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state

    if answers.problem is not None:
        return Text(_NO_ANSWER, "red")
    if outcome is None:
        return _NOT_SEEN
    legend.states.add(outcome.state)
    next_letter = _name_letter(len(legend.letters))
    letter = legend.letters.setdefault(outcome.candidate.root.path, next_letter)
    return mark_state(outcome.state).append(f" {letter}", "default")


def _name_letter(number: int) -> str:
    """a, b … z, aa, ab …"""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else _name_letter(number // 26 - 1) + letter


def _print_legend(legend: _Legend, *, has_silent: bool) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state, print_columns

    cwd = os.getcwd()
    folders = legend.letters.items()
    print_columns([("", letter, shorten_path(path, cwd)) for path, letter in folders])
    marks = [mark_state(state, word=True) for state in reversed(State) if state in legend.states]
    marks.append(Text(f"{_NOT_SEEN} not seen", "default"))
    screen = console()
    screen.print()
    screen.print(Text("  ").join(marks))
    if has_silent:
        screen.print(f"{_NO_ANSWER} no answer, for the reason below", style="red")
