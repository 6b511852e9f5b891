"""The JSON shapes that reports share, so that a skill looks the same in each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin
from prowess.model.outcome import Note, Outcome
from prowess.model.snapshot import Snapshot


class Scanned(Protocol):
    """A snapshot, or a report on one folder as one host sees it."""

    @property
    def host(self) -> str: ...

    @property
    def edition(self) -> str: ...

    @property
    def cwd(self) -> str: ...


def shape_scan(scanned: Scanned) -> dict[str, Any]:
    """What every answer about a scan begins with: which host's rules, and which folder."""
    return {"host": scanned.host, "edition": scanned.edition, "cwd": scanned.cwd}


def shape_list(snapshot: Snapshot, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Some outcomes of a scan, with the counts and findings of all of it."""
    return {
        **shape_scan(snapshot),
        "counts": {state.value: number for state, number in snapshot.counts().items()},
        "skills": [shape_outcome(outcome) for outcome in outcomes],
        "diagnostics": [shape_diagnostic(finding) for finding in snapshot.diagnostics],
    }


def shape_outcome(outcome: Outcome) -> dict[str, Any]:
    """A candidate and its state; `reason` is there whenever the state is not ready."""
    root = outcome.candidate.root
    skill = outcome.skill
    shape: dict[str, Any] = {
        "name": outcome.name,
        "description": skill.description if skill else None,
        "location": outcome.candidate.location,
        "folder": outcome.candidate.folder,
        # Each of thousands of skills has these three; `value` is a property in Python.
        "scope": root.scope._value_,
        "source": {
            "provider": root.source.provider,
            "level": root.source.level,
            "path": root.source.path,
            "loaded_from": root.source.loaded_from._value_,
            "label": root.source.label,
        },
        "state": outcome.state._value_,
    }
    if outcome.reason is not None:
        shape["reason"] = outcome.reason
    if outcome.by is not None:
        shape["by"] = outcome.by
    if outcome.rule is not None:
        shape["rule"] = outcome.rule
    if outcome.origin is not None:
        shape["origin"] = _shape_origin(outcome.origin)
    if skill is not None and skill.label is not None:
        shape["label"] = skill.label
    if skill is not None and skill.packed_companion:
        shape["companion"] = skill.companion
    if outcome.notes:
        shape["notes"] = [_shape_note(note) for note in outcome.notes]
    return shape


def _shape_note(note: Note) -> dict[str, Any]:
    shape: dict[str, Any] = {"state": note.state.value, "reason": note.reason}
    if note.origin is not None:
        shape["origin"] = _shape_origin(note.origin)
    return shape


def _shape_origin(origin: Origin) -> dict[str, Any]:
    return {"file": origin.file, "line": origin.line}


def shape_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding, without the fields it does not have."""
    shape = {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "field": diagnostic.field,
        "hint": diagnostic.hint,
        "related": list(diagnostic.related),
        "hosts": list(diagnostic.hosts),
    }
    return {key: value for key, value in shape.items() if value not in (None, [])}
