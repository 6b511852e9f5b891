"""`prowess compare`: what hosts make of the same skills, and where they disagree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
from prowess.model.outcome import State
from prowess.reports.comparison import (
    Agreement,
    ComparedSkill,
    HostAnswers,
    HostComparison,
    HostGroup,
    compare_hosts,
)
from prowess.reports.hosts import list_host_names
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line


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
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(),
    help="Write a table that sorts and filters to FILE instead.",
)
@add_dir_option
@bare_option
@json_option
def command(
    hosts: tuple[str, ...],
    only_different: bool,
    page: str | None,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Compare how hosts treat the same skills.

    Lists first the skills that hosts read but treat differently, with the reason of each host that
    drops one; then those that some hosts simply don't read. A skill that some hosts name by its
    header and others by its folder has both names.
    """
    with Progress() as progress:

        def open_host(host: str) -> Skills:
            progress.begin(f"asking {escape_line(host)}")
            return open_skills(
                host, add_dirs, bare=bare, progress=progress, warn=False, thorough=True
            )

        compared = compare_hosts(hosts or _list_default_hosts(), open_host)
    # Now that the line of the progress is gone.
    for one in compared.hosts:
        if one.snapshot is not None:
            warn_of_ignored_options(one.snapshot)
    if page is not None:
        _write_page(page, compared)
    if as_json:
        shape = compared.shape(only_different=only_different)
        print_json(shape if page is None else {**shape, "html": page})
    elif page is not None:
        path = shorten_path(os.path.abspath(page), os.getcwd())
        console().print(f"Wrote {path}. {_summarize(compared)}")
    else:
        _print_comparison(compared, only_different=only_different)
    return 2 if _list_silent(compared) else 0


def _list_default_hosts() -> list[str]:
    # The standard is not an agent: few people want to compare with it.
    return [name for name in list_host_names(current_facts()) if name != "spec"]


def _list_silent(compared: HostComparison) -> list[HostAnswers]:
    return [one for one in compared.hosts if one.problem is not None]


def _write_page(path: str, compared: HostComparison) -> None:
    from prowess.machine.atomic_write import rewrite_aside
    from prowess.reports.comparison_page import render_page

    page = render_page(compared, cwd=os.getcwd(), home=os.path.expanduser("~"))
    rewrite_aside(os.path.abspath(path), page.encode("utf-8", "replace"))


def _print_comparison(compared: HostComparison, *, only_different: bool) -> None:
    screen = console()
    rows = compared.different if only_different else compared.rows
    by_agreement = {one: [row for row in rows if row.agreement is one] for one in Agreement}
    for row in by_agreement[Agreement.DIFFERENT]:
        _print_row(row)
        screen.print()
    _print_places(by_agreement[Agreement.NOT_READ])
    _print_same(by_agreement[Agreement.SAME])
    for silent in _list_silent(compared):
        problem = escape_line(silent.problem or "")
        screen.print(f"No answer from {escape_line(silent.host)}: {problem}", style="red")
    screen.print(_summarize(compared))


def _print_same(rows: Sequence[ComparedSkill]) -> None:
    by_state: dict[State, list[str]] = {}
    for row in rows:
        state = next(iter(row.outcomes.values())).state
        by_state.setdefault(state, []).append(escape_line(row.names[0]))
    for state, names in by_state.items():
        console().print(f"{state.value.capitalize()} in every host: {', '.join(names)}.")
    if rows:
        console().print()


def _summarize(compared: HostComparison) -> str:
    if not compared.rows:
        return "None of these hosts finds a skill here."
    agreements = [row.agreement for row in compared.rows]
    different = agreements.count(Agreement.DIFFERENT)
    unread = agreements.count(Agreement.NOT_READ)
    total = count_words(len(agreements), "skill")
    are = "is" if unread == 1 else "are"
    if different:
        return f"{_summarize_different(different, total)}{_summarize_unread(unread, are)}."
    if not unread:
        return f"All hosts agree on {total}."
    count = f"{unread:,} of {len(agreements):,}"
    return f"Hosts that read a skill agree on it; {count} {are} simply not read by some."


def _summarize_different(number: int, total: str) -> str:
    are, them = ("is", "it") if number == 1 else ("are", "them")
    return f"{number:,} of {total} {are} treated differently by hosts that read {them}"


def _summarize_unread(number: int, are: str) -> str:
    return f"; {number:,} {are} simply not read by some" if number else ""


# Skills that hosts treat differently


def _print_row(row: ComparedSkill) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import Cell, mark_state, print_columns

    cwd = os.getcwd()
    files = {outcome.candidate.location for outcome in row.looking.values()}
    title = Text(escape_line(" / ".join(row.names)), "bold")
    if len(files) == 1:
        title.append(f"  {shorten_path(min(files), cwd)}", "dim")
    console().print(title)
    lines: list[Sequence[Cell]] = []
    not_reading: list[str] = []
    for group in row.group():
        # A host that is kept from looking has an outcome, too: what it would find.
        if group.why_off is not None:
            why = _explain_switch(group.why_off)
            not_reading += [f"{host} ({why})" for host in group.hosts]
            continue
        if group.outcome is None:
            not_reading += group.hosts
            continue
        hosts = escape_line(", ".join(group.hosts))
        lines.append(("", mark_state(group.outcome.state, word=True), hosts))
        for said in _list_particulars(row, group, cwd, has_files=len(files) > 1):
            lines.append(("", "", Text(escape_line(said), "dim")))
    if not_reading:
        hosts = escape_line(", ".join(not_reading))
        lines.append(("", Text("· not read", "dim"), Text(hosts, "dim")))
    print_columns(lines, wrap=True)


def _list_particulars(
    row: ComparedSkill, group: HostGroup, cwd: str, *, has_files: bool
) -> Iterator[str]:
    """What sets a group apart beside the state: its name, its file, and the reason."""
    outcome = group.outcome
    if outcome is None:
        return
    if len(row.names) > 1:
        yield f"as “{outcome.name}”"
    if has_files:
        yield shorten_path(outcome.candidate.location, cwd)
    if outcome.reason is not None:
        yield outcome.reason


# Skills that some hosts just don't look for


class _Place(NamedTuple):
    """A folder, the state of skills in it, the hosts that look there, and those that don't.

    `off` are hosts that know the folder, each with what keeps it from looking there.
    """

    folder: str
    state: State
    hosts: tuple[str, ...]
    others: tuple[str, ...]
    off: tuple[tuple[str, str], ...]


def _find_place(row: ComparedSkill) -> _Place:
    looking = row.looking
    # Those that look there agree, so any of them will do; perhaps all are kept from looking.
    first = next(iter(looking.values() or row.outcomes.values()))
    others: list[str] = []
    off: list[tuple[str, str]] = []
    for host in row.hosts:
        outcome = row.outcomes.get(host)
        if outcome is None:
            others.append(host)
        elif outcome.candidate.root.disabled_by is not None:
            off.append((host, outcome.candidate.root.disabled_by))
    root = first.candidate.root
    return _Place(root.path, first.state, tuple(looking), tuple(others), tuple(off))


def _print_places(rows: Sequence[ComparedSkill]) -> None:
    """Print the skills on which all hosts agree that look there, by folder and by those hosts."""
    from rich.text import Text

    from prowess.cli.terminal.tables import Cell, mark_state, print_columns

    places: dict[_Place, list[str]] = {}
    for row in rows:
        places.setdefault(_find_place(row), []).append(" / ".join(row.names))
    screen = console()
    for place, names in sorted(places.items(), key=lambda one: (one[0].folder, -len(one[1]))):
        screen.print(Text(shorten_path(place.folder, os.getcwd()), "bold"))
        mark = mark_state(place.state, word=True)
        lines: list[Sequence[Cell]] = [("", mark, escape_line(", ".join(names)))]
        hosts = escape_line(", ".join(place.hosts)) or "none of these hosts"
        lines.append(("", Text("read by", "dim"), hosts))
        if place.others:
            others = escape_line(", ".join(place.others))
            lines.append(("", Text("not read by", "dim"), Text(others, "dim")))
        for host, why in place.off:
            said = f"{host} ({_explain_switch(why)})"
            lines.append(("", Text("nor by", "dim"), Text(escape_line(said), "dim")))
        print_columns(lines, wrap=True)
        screen.print()


def _explain_switch(why: str) -> str:
    """What keeps a host from looking: a clause, or the name of a setting or variable."""
    return why if " " in why else f"switched off by {why}"
