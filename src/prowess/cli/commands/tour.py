"""`prowess tour`: a sample workspace taken through every stage, with what really happened at each."""

from __future__ import annotations

from typing import Any

import click

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import print_json
from prowess.model.outcome import State
from prowess.present.tokens import estimate_tokens
from prowess.reports.json_output import shape_diagnostic, shape_outcome
from prowess.reports.tour_workspace import (
    DECIDED_BY_GATING,
    DECIDED_BY_RESOLVING,
    HostAnswer,
    Loaded,
    Tour,
    list_decided,
    list_inside,
    list_repairs,
    take_tour,
)


@click.command("tour")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Walk a sample workspace through every stage.

    Shows what Prowess does with a project that has skills in the folders of several agents, and
    what to try next; with --host, what that host makes of the same project. Reads no skills of
    yours, leaves nothing behind, needs no network.
    """
    with take_tour(host) as tour:
        if as_json:
            print_json(shape_tour(tour))
        else:
            from prowess.cli.terminal.tour_screen import print_tour

            print_tour(tour)
    return 0


def shape_tour(tour: Tour) -> dict[str, Any]:
    """The tour as data; paths are relative to the workspace."""
    snapshot = tour.snapshot
    repaired = [outcome for outcome in snapshot.outcomes if list_repairs(outcome)]
    shape = {
        "discover": {
            "searched": len(snapshot.roots),
            "roots": [
                {
                    "path": root.path,
                    "label": root.source.label,
                    "files": len(list_inside(snapshot, root)),
                }
                for root in tour.existing
            ],
            "files": len(snapshot.outcomes),
        },
        "parse": {
            "read": sum(outcome.skill is not None for outcome in snapshot.outcomes),
            "repaired": {
                one.name: [shape_diagnostic(finding) for finding in list_repairs(one)]
                for one in repaired
            },
            "invalid": [
                shape_outcome(one) for one in list_decided(snapshot, (State.INVALID, State.SKIPPED))
            ],
        },
        "resolve": [shape_outcome(one) for one in list_decided(snapshot, DECIDED_BY_RESOLVING)],
        "gate": [shape_outcome(one) for one in list_decided(snapshot, DECIDED_BY_GATING)],
        "present": {
            "text": tour.catalog.prompt,
            "characters": tour.catalog.characters,
            "budget": tour.catalog.budget,
            "estimated_tokens": tour.catalog.tokens,
            "shown": {line.name: line.shown.value for line in tour.catalog.lines},
        },
        "activate": None if tour.loaded is None else _shape_loaded(tour.loaded, tour),
        "states": {
            state.value: [one.name for one in list_decided(snapshot, (state,))]
            for state in snapshot.counts()
        },
        "hosts": {
            "name": tour.contested,
            "answers": [_shape_answer(answer) for answer in tour.answers],
        },
    }
    here = _make_relative(shape, tour)
    asked = {"host": snapshot.host, "edition": snapshot.edition}
    return {**asked, "workspace": tour.workspace, "seconds": round(tour.seconds, 3), **here}


def _shape_loaded(loaded: Loaded, tour: Tour) -> dict[str, Any]:
    made = loaded.activation
    # Of the text as it is shown: the scanned copy lies in a folder with a name of its own every
    # time.
    tokens = estimate_tokens(tour.relative(made.text))
    return {
        "name": made.name,
        "arguments": loaded.arguments,
        "text": made.text,
        "estimated_tokens": tokens,
    }


def _shape_answer(answer: HostAnswer) -> dict[str, Any]:
    skill = None if answer.outcome is None else shape_outcome(answer.outcome)
    return {"host": answer.host, "release": answer.release, "files": answer.files, "skill": skill}


def _make_relative(value: Any, tour: Tour) -> Any:
    if isinstance(value, str):
        return tour.relative(value)
    if isinstance(value, dict):
        return {key: _make_relative(one, tour) for key, one in value.items()}
    return [_make_relative(one, tour) for one in value] if isinstance(value, list) else value
