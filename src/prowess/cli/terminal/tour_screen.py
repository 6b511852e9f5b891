"""The tour as people read it: a section for each stage, wrapped to the terminal, whole lines when
piped.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from prowess.cli.options import render_host_option
from prowess.cli.terminal.out import console, shorten_path
from prowess.cli.terminal.tables import mark_state
from prowess.model.outcome import Outcome, State
from prowess.present.tokens import estimate_tokens
from prowess.reports.explanation import tell_reason
from prowess.reports.tour_workspace import (
    DECIDED_BY_GATING,
    DECIDED_BY_RESOLVING,
    HostAnswer,
    Tour,
    list_decided,
    list_inside,
    list_repairs,
)
from prowess.text.display import count_words, escape_line, escape_text, first_line

_INDENT = 3
_GAP = 2
_LEAST_LAST = 28
_WIDEST = 110

Row = Sequence[Text | str]


def print_tour(tour: Tour) -> None:
    """Print every stage with what happened in it, the states at the end, and what to try next."""
    screen = console()
    _print_opening(screen, tour)
    _print_discover(screen, tour)
    _print_parse(screen, tour)
    _print_resolve(screen, tour)
    _print_gate(screen, tour)
    _print_present(screen, tour)
    _print_activate(screen, tour)
    _print_states(screen, tour)
    _print_hosts(screen, tour)
    _print_next(screen, tour)


def _print_opening(screen: Console, tour: Tour) -> None:
    _say(
        screen,
        Text.assemble(
            ("Prowess", "bold"), " finds the skills of a project, whichever agent they are for."
        ),
    )
    where = shorten_path(tour.workspace, os.getcwd())
    if tour.snapshot.host == "prowess":
        folders = count_words(len(tour.existing), "folder")
        _say(
            screen,
            f"This is what it does with {where}, a small project that keeps skills in {folders}.",
        )
    else:
        made = (
            f"This is what {_name_host(tour)} makes of {where}, a small project with skills for"
            " several agents."
        )
        _say(screen, made)


def _name_host(tour: Tour) -> str:
    edition = "" if tour.snapshot.edition == "current" else f", {tour.snapshot.edition} edition,"
    return escape_line(tour.title) + edition


def _print_discover(screen: Console, tour: Tour) -> None:
    snapshot = tour.snapshot
    _print_heading(screen, 1, "Discover", "Where are skills?")
    found = count_words(len(snapshot.outcomes), "file")
    verb = "does" if len(tour.existing) == 1 else "do"
    searched = (
        f"{len(snapshot.roots)} folders may hold skills here. {len(tour.existing)} {verb}, with"
        f" {found}:"
    )
    _say(screen, searched, indent=_INDENT)
    rows = []
    for root in tour.existing:
        inside = list_inside(snapshot, root)
        names = ", ".join(escape_line(outcome.name) for outcome in inside)
        rows.append((Text(escape_line(tour.relative(root.path)), "bold"), str(len(inside)), names))
    _print_rows(screen, rows)


def _print_parse(screen: Console, tour: Tour) -> None:
    outcomes = tour.snapshot.outcomes
    read = sum(outcome.skill is not None for outcome in outcomes)
    _print_heading(screen, 2, "Parse", "What does each say?")
    repaired = [outcome for outcome in outcomes if list_repairs(outcome)]
    invalid = list_decided(tour.snapshot, (State.INVALID, State.SKIPPED))
    after = f", {len(repaired)} of them after a repair" if repaired else ""
    _say(
        screen,
        f"{read} of {len(outcomes)} were read{after}{':' if repaired or invalid else '.'}",
        indent=_INDENT,
    )
    rows: list[Row] = []
    for outcome in repaired:
        for number, finding in enumerate(list_repairs(outcome)):
            name = _name(outcome) if number == 0 else ""
            where = f"line {finding.line}: " if finding.line else ""
            rows.append((name, Text("+ repaired", "yellow"), where + escape_line(finding.message)))
    rows += [_reason_row(outcome, tour) for outcome in invalid]
    _print_rows(screen, rows)


def _print_resolve(screen: Console, tour: Tour) -> None:
    _print_heading(screen, 3, "Resolve", "Who gets the name?")
    decided = list_decided(tour.snapshot, DECIDED_BY_RESOLVING)
    claims = [outcome.name for outcome in tour.snapshot.outcomes if outcome.skill is not None]
    rule = (
        "A setting may switch one off; of equals one wins:"
        if decided
        else "Each has its name to itself."
    )
    _say(screen, f"{len(claims)} files claim {len(set(claims))} names. {rule}", indent=_INDENT)
    _print_rows(screen, [_reason_row(outcome, tour) for outcome in decided])


def _print_gate(screen: Console, tour: Tour) -> None:
    _print_heading(screen, 4, "Gate", "Can it be offered here and now?")
    decided = list_decided(tour.snapshot, DECIDED_BY_GATING)
    asked = "What a skill asks of the machine and its readers is held against what is there"
    _say(screen, f"{asked}:" if decided else f"{asked}; nothing stands in the way.", indent=_INDENT)
    _print_rows(screen, [_reason_row(outcome, tour) for outcome in decided])


def _print_present(screen: Console, tour: Tour) -> None:
    catalog = tour.catalog
    _print_heading(screen, 5, "Present", "What would the model see?")
    if not catalog.prompt:
        _say(screen, "Nothing: no skill is ready.", indent=_INDENT)
        return
    room = (
        f"of the {catalog.budget:,} characters that there are"
        if catalog.budget is not None
        else "characters"
    )
    size = (
        f"{catalog.characters:,} {room}, about {count_words(catalog.tokens, 'token')} in every"
        " request"
    )
    _say(screen, f"This text, word for word. It takes {size}:", indent=_INDENT)
    _print_quoted(screen, tour, catalog.prompt)
    _say(
        screen,
        "The instructions themselves are read only when a task calls for one.",
        indent=_INDENT,
    )


def _print_activate(screen: Console, tour: Tour) -> None:
    if tour.loaded is None:
        return
    made = tour.loaded.activation
    typed = escape_line(f"{made.name} {tour.loaded.arguments}".strip())
    size = count_words(estimate_tokens(tour.relative(made.text)), "token")
    _print_heading(screen, 6, "Activate", "What does it get when a task calls for one?")
    _say(screen, f"Loading “{typed}” gives it this, about {size}:", indent=_INDENT)
    _print_quoted(screen, tour, made.text)
    _say(screen, "A command inside it would run only in a project that you trust.", indent=_INDENT)


def _print_quoted(screen: Console, tour: Tour, text: str) -> None:
    """A text that a model is given, line by line."""
    for line in text.splitlines():
        _print_rows(screen, [(Text("│", "dim"), Text(escape_text(tour.relative(line))))])


def _print_states(screen: Console, tour: Tour) -> None:
    snapshot = tour.snapshot
    counts = snapshot.counts()
    _print_heading(
        screen, None, "Nothing is lost", "Every file ends in one state, and the states add up."
    )
    rows = []
    for state in reversed(State):
        if state in counts:
            names = ", ".join(
                escape_line(outcome.name) for outcome in list_decided(snapshot, (state,))
            )
            rows.append((mark_state(state, word=True), str(counts[state]), names))
    _print_rows(screen, rows)
    total = " + ".join(str(counts[state]) for state in reversed(State) if state in counts)
    _say(screen, f"{total} = {count_words(len(snapshot.outcomes), 'file')}", indent=_INDENT)


def _print_hosts(screen: Console, tour: Tour) -> None:
    if not tour.answers:
        return
    name = escape_line(tour.contested)
    titles = " and ".join(answer.title for answer in tour.answers)
    _print_heading(screen, None, "One name, two agents", f"Ask {titles} for “{name}”.")
    locations = {
        answer.outcome.candidate.location if answer.outcome else None for answer in tour.answers
    }
    rows: list[Row] = []
    for answer in tour.answers:
        rows += _answer_rows(answer, tour)
    _print_rows(screen, rows)
    verdict = "They load two different files." if len(locations) > 1 else "They load the same file."
    _say(screen, f"{verdict} Their rules were measured on the releases named here.", indent=_INDENT)


def _answer_rows(answer: HostAnswer, tour: Tour) -> Iterator[Row]:
    title = Text.assemble((answer.title, "bold"), f" {answer.release}")
    outcome = answer.outcome
    if outcome is None:
        yield title, "sees no such skill"
        return
    yield title, Text(escape_line(tour.relative(outcome.candidate.location)))
    yield f"sees {count_words(answer.files, 'file')}", Text(f"“{_describe(outcome)}”", "italic")


def _describe(outcome: Outcome) -> str:
    return (
        first_line(outcome.skill.description)
        if outcome.skill
        else escape_line(outcome.reason or "")
    )


def _print_next(screen: Console, tour: Tour) -> None:
    screen.print()
    screen.print(Text("Try it yourself", "bold cyan"))
    option = render_host_option(tour.snapshot)
    loaded = escape_line(tour.loaded.activation.name) if tour.loaded is not None else "NAME"
    tries = (
        (f"cd {_quote(shorten_path(tour.workspace, os.getcwd()))}", ""),
        (
            f"prowess explain {escape_line(tour.contested) or 'NAME'}{option}",
            "the journey of one name, file by file",
        ),
        (f"prowess activate {loaded}{option}", "what the model receives when it uses a skill"),
        (f"prowess cost{option}", "what each skill costs, in the catalog and when it is used"),
        ("prowess compare", "which agent sees which skill, side by side"),
        ("prowess validate", "the strict check for authors; --fix mends what can be mended"),
    )
    _print_rows(screen, [(Text(command, "green"), what) for command, what in tries])
    screen.print()
    screen.print(Text(f"The tour took {tour.seconds:.2f} s and leaves nothing behind.", "dim"))


def _quote(path: str) -> str:
    """A path for a shell; a leading `~/` must stay outside the quotes."""
    home, rest = ("~/", path[2:]) if path.startswith("~/") else ("", path)
    return home + shlex.quote(rest)


# Lines


def _print_heading(screen: Console, number: int | None, title: str, question: str) -> None:
    screen.print()
    mark = "" if number is None else f"{number}  "
    _say(screen, Text.assemble((f"{mark}{title}", "bold cyan"), f"  {question}"))


def _name(outcome: Outcome) -> Text:
    return Text(escape_line(outcome.name), "bold")


def _reason_row(outcome: Outcome, tour: Tour) -> Row:
    reason = Text(escape_line(tour.relative(tell_reason(outcome))))
    if outcome.state is State.SHADOWED and outcome.by is not None:
        lost, won = (
            escape_line(tour.relative(path)) for path in (outcome.candidate.location, outcome.by)
        )
        reason = Text(f"{lost} loses to {won}")
    return _name(outcome), mark_state(outcome.state, word=True), reason


def _say(screen: Console, text: Text | str, *, indent: int = 0) -> None:
    _print_rows(screen, [(text,)], indent=indent)


def _print_rows(screen: Console, rows: Sequence[Row], *, indent: int = _INDENT) -> None:
    """Aligned rows. On a terminal the last column is wrapped, below the row where there is little
    room beside it.
    """
    texts = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [
        max(cell_len(cell.plain) for cell in column)
        for column in zip(*(row[:-1] for row in texts), strict=True)
    ]
    for row in texts:
        lead = Text(" " * indent)
        for cell, width in zip(row, widths, strict=False):
            lead.append_text(cell)
            lead.append(" " * (width - cell_len(cell.plain) + _GAP))
        for line in _wrap(screen, lead, row[-1]):
            line.rstrip()
            screen.print(line, soft_wrap=True)


def _wrap(screen: Console, lead: Text, last: Text) -> list[Text]:
    if not screen.is_terminal:
        return [lead + last]
    width = min(screen.width, _WIDEST)
    start = cell_len(lead.plain)
    if start + cell_len(last.plain) <= width:
        return [lead + last]
    if width - start >= _LEAST_LAST or not lead.plain.strip():
        first, *others = last.wrap(screen, max(width - start, 1))
        return [lead + first, *(Text(" " * start) + line for line in others)]
    margin = min(_INDENT + 4, width // 4)
    return [lead, *(Text(" " * margin) + line for line in last.wrap(screen, width - margin))]
