"""Bare `prowess`: what is here, what is wrong with it, what it costs, and what to try next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

from prowess.cli.options import open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import UsageError
from prowess.machine.files import LocalFiles
from prowess.model.outcome import State
from prowess.model.skill import Root, Scope
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line

_WORST = 3
_MOST_ROOTS = 4


def show_summary(host: str = "prowess", *, as_json: bool = False) -> int:
    """Print the summary of the working folder."""
    skills = open_skills(host)
    snapshot = skills.snapshot
    if as_json:
        print_json(_shape(skills))
        return 0
    if not snapshot.outcomes:
        _print_nothing_found(snapshot)
    else:
        _print_here(snapshot)
        _print_cost(skills)
    _print_wrong(snapshot)
    _print_next(snapshot)
    return 0


def _count_states(snapshot: Snapshot) -> dict[Scope, dict[State, int]]:
    """How many candidates ended in each state, scope by scope, in the order of scopes."""
    counted: dict[Scope, Counter[State]] = {}
    for outcome in snapshot.outcomes:
        counted.setdefault(outcome.candidate.root.scope, Counter())[outcome.state] += 1
    return {
        scope: {state: counted[scope][state] for state in State if counted[scope][state]}
        for scope in Scope
        if scope in counted
    }


def _count_severities(snapshot: Snapshot) -> dict[Severity, int]:
    counted = Counter(diagnostic.severity for diagnostic in snapshot.all_diagnostics())
    return {severity: counted[severity] for severity in Severity}


def _existing_roots(snapshot: Snapshot) -> list[Root]:
    """The roots that are there, each folder once, in scan order."""
    files = LocalFiles()
    found = {
        root.path: root
        for root in reversed(snapshot.roots)
        if files.find_kind(root.path) == "folder"
    }
    return sorted(found.values(), key=lambda root: root.order)


def _shape(skills: Skills) -> dict[str, Any]:
    snapshot = skills.snapshot
    per_root = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
    scopes = _count_states(snapshot)
    return {
        **shape_scan(snapshot),
        "counts": {state.value: number for state, number in snapshot.counts().items()},
        "scopes": {
            scope.value: {state.value: n for state, n in counts.items()}
            for scope, counts in scopes.items()
        },
        "roots": [
            {
                "path": root.path,
                "scope": root.scope.value,
                "label": root.source.label,
                "candidates": per_root[root.path],
                "disabled_by": root.disabled_by,
            }
            for root in _existing_roots(snapshot)
        ],
        "diagnostics": {
            severity.value: number for severity, number in _count_severities(snapshot).items()
        },
        "cost": {"skills": len(snapshot.skills), **_shape_cost(skills)},
    }


def _shape_cost(skills: Skills) -> dict[str, Any]:
    try:
        catalog = skills.catalog()
    except UsageError as error:
        return {"problem": str(error)}
    return {"characters": catalog.characters, "estimated_tokens": catalog.tokens}


def _name_host(snapshot: Snapshot) -> str:
    return snapshot.host if snapshot.edition == "current" else f"{snapshot.host}@{snapshot.edition}"


def _print_here(snapshot: Snapshot) -> None:
    from prowess.cli.terminal.tables import print_columns, render_counts

    ready = snapshot.counts().get(State.READY, 0)
    where = shorten_path(snapshot.cwd)
    screen = console()
    screen.print(
        f"{count_words(ready, 'skill')} ready in {where}, by the rules of {_name_host(snapshot)}."
    )
    screen.print()
    roots = _existing_roots(snapshot)
    rows = []
    for scope, counts in _count_states(snapshot).items():
        folders = [shorten_path(root.path, snapshot.cwd) for root in roots if root.scope is scope]
        more = f" and {len(folders) - _MOST_ROOTS} more" if len(folders) > _MOST_ROOTS else ""
        rows.append(("", scope.value, render_counts(counts)))
        rows.append(("", "", f"in {', '.join(folders[:_MOST_ROOTS])}{more}"))
    print_columns(rows, wrap=True)
    screen.print()


def _print_nothing_found(snapshot: Snapshot) -> None:
    screen = console()
    screen.print(
        f"There are no skills in {shorten_path(snapshot.cwd)} yet, by the rules of"
        f" {_name_host(snapshot)}."
    )
    screen.print()
    screen.print("Skills were looked for in:")
    seen = dict.fromkeys(
        shorten_path(root.path, snapshot.cwd) for root in snapshot.roots if root.distance == 0
    )
    for path in seen:
        screen.print(f"  {path}")
    if any(root.distance for root in snapshot.roots):
        screen.print("  and in the same folders above this one")
    screen.print()


def _print_cost(skills: Skills) -> None:
    if not skills.snapshot.skills:
        return
    screen = console()
    try:
        tokens = count_words(skills.catalog().tokens, "token")
        screen.print(
            f"They cost about {tokens} in every request (an estimate); `prowess cost` tells what"
            " each costs."
        )
    except UsageError as error:
        # What is wrong with a budget must not keep anybody from seeing what is here.
        screen.print(f"What they cost cannot be told: {escape_line(str(error))}")
    screen.print()


def _print_wrong(snapshot: Snapshot) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import render_message
    from prowess.cli.terminal.tables import print_columns

    counts = _count_severities(snapshot)
    serious = [one for one in snapshot.all_diagnostics() if one.severity is not Severity.INFO]
    if not serious:
        return
    screen = console()
    found = [
        count_words(counts[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING)
        if counts[severity]
    ]
    screen.print(
        Text(f"{' and '.join(found)}:", "bold red" if counts[Severity.ERROR] else "bold yellow")
    )
    rows: list[tuple[str, str | Text, str]] = []
    for diagnostic in _choose_worst(serious):
        style = "red" if diagnostic.severity is Severity.ERROR else "yellow"
        place = shorten_path(diagnostic.file or "", snapshot.cwd)
        line = f":{diagnostic.line}" if diagnostic.line else ""
        rows.append(("", Text(diagnostic.severity.value, style), f"{place}{line}"))
        rows.append(("", "", render_message(diagnostic, snapshot.cwd)))
    print_columns(rows, wrap=True)
    if len(serious) > _WORST:
        screen.print(f"  and {len(serious) - _WORST:,} more")
    screen.print()


def _choose_worst(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The gravest few; of equals, those that come first."""
    order = list(Severity)
    return sorted(diagnostics, key=lambda one: order.index(one.severity))[:_WORST]


def _print_next(snapshot: Snapshot) -> None:
    from prowess.cli.terminal.tables import print_columns

    option = render_host_option(snapshot)
    tries: list[tuple[str, str]] = []
    if snapshot.outcomes:
        example = next(
            (one.name for one in snapshot.outcomes if one.state is not State.READY),
            snapshot.outcomes[0].name,
        )
        tries.append((f"prowess list{option}", "every skill, with its state"))
        tries.append(
            (
                f"prowess explain {escape_line(shlex.quote(example))}{option}",
                "how a name came to its state",
            )
        )
        tries.append((f"prowess catalog{option}", "what the model would see of them"))
        tries.append(("prowess compare", "which agent sees which skill"))
    if any(one.severity is not Severity.INFO for one in snapshot.all_diagnostics()):
        tries.append((f"prowess check{option}", "everything that was noticed"))
    if not snapshot.outcomes:
        tries.append(("prowess new NAME", "make your first skill"))
        tries.append(("prowess tour", "see every stage on a sample workspace"))
    console().print("Try next:")
    print_columns([("", f"{command}", what) for command, what in tries])
