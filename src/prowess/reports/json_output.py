"""The JSON shapes that commands share, so that a skill looks the same wherever it is printed."""

from __future__ import annotations

from typing import Any

from prowess.diagnostics import Diagnostic
from prowess.model.outcome import Note, Outcome
from prowess.model.snapshot import Snapshot


def shape_outcome(outcome: Outcome) -> dict[str, Any]:
    """A candidate and what became of it; `reason` is there whenever the state is not ready."""
    root = outcome.candidate.root
    skill = outcome.skill
    shape: dict[str, Any] = {
        "name": outcome.name,
        "description": skill.description if skill else None,
        "location": outcome.candidate.location,
        "folder": outcome.candidate.folder,
        "scope": root.scope.value,
        "source": {
            "provider": root.source.provider,
            "level": root.source.level,
            "path": root.source.path,
            "loaded_from": root.source.loaded_from.value,
            "label": root.source.label,
        },
        "state": outcome.state.value,
    }
    if outcome.reason is not None:
        shape["reason"] = outcome.reason
    if outcome.by is not None:
        shape["by"] = outcome.by
    if outcome.rule is not None:
        shape["rule"] = outcome.rule
    if outcome.origin is not None:
        shape["origin"] = {"file": outcome.origin.file, "line": outcome.origin.line}
    if skill is not None and skill.label is not None:
        shape["label"] = skill.label
    if outcome.notes:
        shape["notes"] = [_shape_note(note) for note in outcome.notes]
    return shape


def _shape_note(note: Note) -> dict[str, Any]:
    shape: dict[str, Any] = {"state": note.state.value, "reason": note.reason}
    if note.origin is not None:
        shape["origin"] = {"file": note.origin.file, "line": note.origin.line}
    return shape


def shape_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding, without the parts it does not have."""
    shape = {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "field": diagnostic.field,
        "hint": diagnostic.hint,
        "related": list(diagnostic.related),
    }
    return {key: value for key, value in shape.items() if value not in (None, [])}


def shape_scan(snapshot: Snapshot) -> dict[str, Any]:
    """What every answer about a scan begins with: whose rules, where."""
    return {"host": snapshot.host, "edition": snapshot.edition, "cwd": snapshot.cwd}
