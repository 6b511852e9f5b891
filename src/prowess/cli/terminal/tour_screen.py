"""The tour for people: a section per stage, wrapped on a terminal, whole lines when piped."""

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
from prowess.model.outcome import (
    DECIDED_BY_GATE,
    DECIDED_BY_PARSE,
    DECIDED_BY_RESOLVE,
    Outcome,
    State,
)
from prowess.reports.phrases import cite_reason
from prowess.reports.tour_workspace import (
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
    opening = " finds the skills of a project, whichever agent they are for."
    _say(screen, Text.assemble(("Prowess", "bold"), opening))
    where = shorten_path(tour.workspace, os.getcwd())
    if tour.snapshot.host == "prowess":
        folders = count_words(len(tour.existing), "folder")
        _say(
            screen, f"Here is what it does with {where}, a small project with skills in {folders}."
        )
    else:
        host = _name_host(tour)
        _say(
            screen,
            f"Here is what {host} does with {where}, a small project with skills for several"
            " agents.",
        )


def _name_host(tour: Tour) -> str:
    edition = "" if tour.snapshot.edition == "current" else f", {tour.snapshot.edition} edition,"
    return escape_line(tour.title) + edition


def _print_discover(screen: Console, tour: Tour) -> None:
    snapshot = tour.snapshot
    _print_heading(screen, 1, "Discover", "Where are the skills?")
    found = count_words(len(snapshot.outcomes), "file")
    verb = "does" if len(tour.existing) == 1 else "do"
    searched = f"{len(snapshot.roots)} folders can hold skills here"
    _say(screen, f"{searched}. {len(tour.existing)} {verb}, with {found}:", indent=_INDENT)
    rows = []
    for root in tour.existing:
        inside = list_inside(snapshot, root)
        names = ", ".join(escape_line(outcome.name) for outcome in inside)
        rows.append((Text(escape_line(tour.relative(root.path)), "bold"), str(len(inside)), names))
    _print_rows(screen, rows)


def _print_parse(screen: Console, tour: Tour) -> None:
    _print_heading(screen, 2, "Parse", "What does each one say?")
    outcomes = tour.snapshot.outcomes
    read = sum(outcome.skill is not None for outcome in outcomes)
    repaired = [outcome for outcome in outcomes if list_repairs(outcome)]
    rows: list[Row] = []
    for outcome in repaired:
        rows += _list_repair_rows(outcome)
    rows += [_reason_row(one, tour) for one in list_decided(tour.snapshot, DECIDED_BY_PARSE)]
    after = f", {len(repaired)} of them after a repair" if repaired else ""
    end = ":" if rows else "."
    _say(screen, f"{read} of {len(outcomes)} were read{after}{end}", indent=_INDENT)
    _print_rows(screen, rows)


def _list_repair_rows(outcome: Outcome) -> Iterator[Row]:
    # The name stands beside the first repair only.
    name: Text | str = _name(outcome)
    for finding in list_repairs(outcome):
        where = f"line {finding.line}: " if finding.line else ""
        yield name, Text("+ repaired", "yellow"), where + escape_line(finding.message)
        name = ""


def _print_resolve(screen: Console, tour: Tour) -> None:
    _print_heading(screen, 3, "Resolve", "Which file gets the name?")
    decided = list_decided(tour.snapshot, DECIDED_BY_RESOLVE)
    claims = [outcome.name for outcome in tour.snapshot.outcomes if outcome.skill is not None]
    rule = "Settings can disable a skill; if several claim a name, one wins:"
    if not decided:
        rule = "No two share a name."
    _say(screen, f"{len(claims)} files claim {len(set(claims))} names. {rule}", indent=_INDENT)
    _print_rows(screen, [_reason_row(outcome, tour) for outcome in decided])


def _print_gate(screen: Console, tour: Tour) -> None:
    _print_heading(screen, 4, "Gate", "Can it be offered here and now?")
    decided = list_decided(tour.snapshot, DECIDED_BY_GATE)
    checked = "What each skill requires is checked against this machine and its settings"
    _say(screen, f"{checked}:" if decided else f"{checked}; all can be offered.", indent=_INDENT)
    _print_rows(screen, [_reason_row(outcome, tour) for outcome in decided])


def _print_present(screen: Console, tour: Tour) -> None:
    catalog = tour.catalog
    _print_heading(screen, 5, "Present", "What does the model see?")
    if not catalog.prompt:
        _say(screen, "Nothing: no skill is ready.", indent=_INDENT)
        return
    of_budget = "" if catalog.budget is None else f" of {catalog.budget:,}"
    tokens = count_words(tour.estimate(catalog.prompt), "token")
    size = f"{catalog.characters:,}{of_budget} characters, about {tokens} in every request"
    _say(screen, f"Exactly this text, {size}:", indent=_INDENT)
    _print_quoted(screen, tour, catalog.prompt)
    _say(
        screen, "The instructions themselves are read only when a task needs them.", indent=_INDENT
    )


def _print_activate(screen: Console, tour: Tour) -> None:
    if tour.activated is None:
        return
    activation = tour.activated.activation
    typed = escape_line(f"{activation.name} {tour.activated.arguments}".strip())
    size = count_words(tour.estimate(activation.text), "token")
    _print_heading(screen, 6, "Activate", "What does it get when a task needs one?")
    _say(screen, f"Loading “{typed}” gives it this, about {size}:", indent=_INDENT)
    _print_quoted(screen, tour, activation.text)
    _say(screen, "Commands inside it would run only in a project you trust.", indent=_INDENT)


def _print_quoted(screen: Console, tour: Tour, text: str) -> None:
    """A text that a model gets, line by line."""
    for line in text.splitlines():
        _print_rows(screen, [(Text("│", "dim"), Text(escape_text(tour.relative(line))))])


def _print_states(screen: Console, tour: Tour) -> None:
    snapshot = tour.snapshot
    counts = snapshot.counts()
    _print_heading(
        screen, None, "Nothing is lost", "Every file ends in one state, and the states add up."
    )
    states = [state for state in reversed(State) if state in counts]
    rows = []
    for state in states:
        names = ", ".join(escape_line(one.name) for one in list_decided(snapshot, (state,)))
        rows.append((mark_state(state, word=True), str(counts[state]), names))
    _print_rows(screen, rows)
    total = " + ".join(str(counts[state]) for state in states)
    _say(screen, f"{total} = {count_words(len(snapshot.outcomes), 'file')}", indent=_INDENT)


def _print_hosts(screen: Console, tour: Tour) -> None:
    if not tour.answers:
        return
    name = escape_line(tour.contested)
    titles = " and ".join(answer.title for answer in tour.answers)
    _print_heading(screen, None, "One name, two agents", f"Ask {titles} for “{name}”.")
    rows: list[Row] = []
    locations = set()
    for answer in tour.answers:
        rows += _answer_rows(answer, tour)
        locations.add(answer.outcome.candidate.location if answer.outcome else None)
    _print_rows(screen, rows)
    files = "two different files" if len(locations) > 1 else "the same file"
    measured = "Their rules were measured on the releases shown."
    _say(screen, f"They load {files}. {measured}", indent=_INDENT)


def _answer_rows(answer: HostAnswer, tour: Tour) -> Iterator[Row]:
    title = Text.assemble((answer.title, "bold"), f" {answer.release}")
    outcome = answer.outcome
    if outcome is None:
        yield title, "finds no such skill"
        return
    yield title, Text(escape_line(tour.relative(outcome.candidate.location)))
    yield f"finds {count_words(answer.files, 'file')}", Text(f"“{_describe(outcome)}”", "italic")


def _describe(outcome: Outcome) -> str:
    if outcome.skill is None:
        return escape_line(outcome.reason or "")
    return first_line(outcome.skill.description)


def _print_next(screen: Console, tour: Tour) -> None:
    screen.print()
    screen.print(Text("Try it yourself", "bold cyan"))
    rows = [(Text(command, "green"), what) for command, what in _list_next(tour)]
    _print_rows(screen, rows)
    screen.print()
    screen.print(Text(f"The tour took {tour.seconds:.2f} s and leaves nothing behind.", "dim"))


def _list_next(tour: Tour) -> Iterator[tuple[str, str]]:
    option = render_host_option(tour.snapshot)
    contested = escape_line(tour.contested) or "NAME"
    activated = "NAME" if tour.activated is None else escape_line(tour.activated.activation.name)
    yield f"cd {_quote(shorten_path(tour.workspace, os.getcwd()))}", ""
    yield f"prowess explain {contested}{option}", "why a skill loads or does not, file by file"
    yield f"prowess activate {activated}{option}", "what the model receives when it uses a skill"
    yield f"prowess cost{option}", "what each skill costs, in the catalog and when used"
    yield "prowess compare", "which agent sees which skill, side by side"
    yield "prowess validate", "the strict check for authors; --fix fixes what it can"


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
    reason = tour.relative(cite_reason(outcome))
    if outcome.state is State.SHADOWED and outcome.by is not None:
        lost, won = tour.relative(outcome.candidate.location), tour.relative(outcome.by)
        reason = f"{lost} loses to {won}"
    return _name(outcome), mark_state(outcome.state, word=True), Text(escape_line(reason))


def _say(screen: Console, text: Text | str, *, indent: int = 0) -> None:
    _print_rows(screen, [(text,)], indent=indent)


def _print_rows(screen: Console, rows: Sequence[Row], *, indent: int = _INDENT) -> None:
    """Print aligned rows; on a terminal the last column is wrapped."""
    texts = [list(map(_as_text, row)) for row in rows]
    columns = zip(*(row[:-1] for row in texts), strict=True)
    widths = [max(map(_cells, column)) for column in columns]
    for row in texts:
        lead = Text(" " * indent)
        for cell, width in zip(row[:-1], widths, strict=True):
            lead.append_text(cell)
            lead.append(" " * (width - _cells(cell) + _GAP))
        for line in _wrap(screen, lead, row[-1]):
            line.rstrip()
            screen.print(line, soft_wrap=True)


def _as_text(cell: Text | str) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _cells(cell: Text) -> int:
    return cell_len(cell.plain)


def _wrap(screen: Console, lead: Text, last: Text) -> list[Text]:
    width = min(screen.width, _WIDEST)
    start = _cells(lead)
    fits = start + _cells(last) <= width
    # Lines are not wrapped in a pipe, where a program reads them.
    if fits or not screen.is_terminal:
        return [lead + last]
    has_columns = bool(lead.plain.strip())
    if width - start >= _LEAST_LAST or not has_columns:
        first, *others = last.wrap(screen, max(width - start, 1))
        return [lead + first, *(Text(" " * start) + line for line in others)]
    # Too little room beside the other columns: the last one goes below them.
    margin = min(_INDENT + 4, width // 4)
    return [lead, *(Text(" " * margin) + line for line in last.wrap(screen, width - margin))]
