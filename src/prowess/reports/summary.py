"""What is in a folder at a glance: states, folders, findings, and what the skills cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import UsageError
from prowess.model.outcome import State
from prowess.model.skill import Root, Scope
from prowess.model.snapshot import Snapshot
from prowess.ports import FileSystem
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills

_SEVERITY_ORDER = {severity: rank for rank, severity in enumerate(Severity)}


class CatalogCost(msgspec.Struct, frozen=True):
    """What the catalog costs every request, or why that cannot be said."""

    characters: int = 0
    estimated_tokens: int = 0
    problem: str | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A folder at a glance.

    `scopes` counts states by scope; `roots` are the folders that exist, in scan order; `serious`
    are the errors and warnings, errors first.
    """

    snapshot: Snapshot
    scopes: Mapping[Scope, Mapping[State, int]]
    roots: tuple[Root, ...]
    severities: Mapping[Severity, int]
    serious: tuple[Diagnostic, ...]
    cost: CatalogCost

    @property
    def ready(self) -> int:
        """How many skills are ready."""
        return len(self.snapshot.skills)

    def shape(self) -> dict[str, Any]:
        """The summary as JSON."""
        snapshot = self.snapshot
        candidates = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
        return {
            **shape_scan(snapshot),
            "counts": _shape_counts(snapshot.counts()),
            "scopes": {scope.value: _shape_counts(counts) for scope, counts in self.scopes.items()},
            "roots": [
                {
                    "path": root.path,
                    "scope": root.scope.value,
                    "label": root.source.label,
                    "candidates": candidates[root.path],
                    "disabled_by": root.disabled_by,
                }
                for root in self.roots
            ],
            "diagnostics": {one.value: number for one, number in self.severities.items()},
            "cost": {"skills": self.ready, **_shape_cost(self.cost)},
        }


def load_summary(skills: Skills) -> Summary:
    """Sum up a scan."""
    snapshot = skills.snapshot
    found = list(snapshot.all_diagnostics())
    counted = Counter(one.severity for one in found)
    serious = [one for one in found if one.severity is not Severity.INFO]
    serious.sort(key=lambda one: _SEVERITY_ORDER[one.severity])
    return Summary(
        snapshot=snapshot,
        scopes=_count_states(snapshot),
        roots=tuple(_find_existing_roots(snapshot, skills.project.files)),
        severities={severity: counted[severity] for severity in Severity},
        serious=tuple(serious),
        cost=_load_cost(skills),
    )


def _count_states(snapshot: Snapshot) -> dict[Scope, dict[State, int]]:
    counted = Counter((one.candidate.root.scope, one.state) for one in snapshot.outcomes)
    scopes: dict[Scope, dict[State, int]] = {}
    # In the order of the enums, whatever the order of the outcomes.
    for scope in Scope:
        occurring = [state for state in State if counted[scope, state]]
        if occurring:
            scopes[scope] = {state: counted[scope, state] for state in occurring}
    return scopes


def _find_existing_roots(snapshot: Snapshot, disk: FileSystem) -> list[Root]:
    # Two roots may be one folder; the one that is searched first stands for both.
    first = {root.path: root for root in reversed(snapshot.roots)}
    existing = [root for path, root in first.items() if disk.find_kind(path) == "folder"]
    return sorted(existing, key=lambda root: root.order)


def _load_cost(skills: Skills) -> CatalogCost:
    try:
        catalog = skills.catalog()
    except UsageError as error:
        # A bad budget must not hide the rest of the summary.
        return CatalogCost(problem=str(error))
    return CatalogCost(catalog.characters, catalog.tokens)


def _shape_counts(counts: Mapping[State, int]) -> dict[str, int]:
    return {state.value: number for state, number in counts.items()}


def _shape_cost(cost: CatalogCost) -> dict[str, Any]:
    if cost.problem is not None:
        return {"problem": cost.problem}
    return {"characters": cost.characters, "estimated_tokens": cost.estimated_tokens}
