"""Where the skills of a scan come from: every source with its state, age, skills and trouble."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.skill import LoadedFrom, Root, Scope
from prowess.model.snapshot import Snapshot
from prowess.model.source_status import SourceKind, SourceStatus
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.reports.usage_report import render_time
from prowess.runtime import Skills

_KINDS: dict[Scope, SourceKind] = {
    Scope.PLUGIN: "plugin",
    Scope.BUNDLED: "bundled",
    Scope.REMOTE: "remote",
}


class SourceReport(msgspec.Struct, frozen=True):
    """Every source of a scan: the host's folders in their order, then all others."""

    snapshot: Snapshot
    sources: tuple[SourceStatus, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with sources, source by source."""
        return tuple(chain.from_iterable(source.diagnostics for source in self.sources))

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shaped = [_shape_source(one) for one in self.sources]
        return {**shape_scan(self.snapshot), "sources": shaped}


def load_source_report(skills: Skills, *, show_all: bool = False) -> SourceReport:
    """Every source of a scan; with `show_all` also folders that do not exist."""
    snapshot = skills.snapshot
    counts = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
    find_kind = skills.project.files.find_kind
    statuses = [_count(status, counts) for status in snapshot.sources]
    # Skills that a source brought are in a folder, too, which is shown with that source.
    known = {status.folder for status in statuses}
    folders = []
    for status in _list_folders(snapshot, counts):
        if status.folder in known:
            continue
        # Hosts search dozens of folders, of which most people have two or three.
        if show_all or status.skills or find_kind(status.location):
            folders.append(status)
    return SourceReport(snapshot, (*folders, *statuses))


def _list_folders(snapshot: Snapshot, counts: Counter[str]) -> Iterator[SourceStatus]:
    """The folders that were searched, and those that skills were found in otherwise."""
    with_skills = (outcome.candidate.root for outcome in snapshot.outcomes)
    roots = {root.path: root for root in (*snapshot.roots, *with_skills)}
    for path, root in roots.items():
        yield SourceStatus(
            name=root.source.label or root.id,
            kind=_find_kind(root),
            location=path,
            state="off" if root.disabled_by is not None else "ready",
            folder=path,
            skills=counts[path],
        )


def _find_kind(root: Root) -> SourceKind:
    if root.source.loaded_from is LoadedFrom.MCP:
        return "mcp"
    if root.id == "defined":
        return "code"
    return _KINDS.get(root.scope, "folder")


def _count(status: SourceStatus, counts: Counter[str]) -> SourceStatus:
    if status.skills is not None:
        return status
    number = counts[status.folder] if status.folder is not None else 0
    return msgspec.structs.replace(status, skills=number)


def _shape_source(status: SourceStatus) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "name": status.name,
        "kind": status.kind,
        "state": status.state,
        "location": status.location,
        "skills": status.skills,
        "fetched_at": render_time(status.fetched_at),
        "origin": {"file": status.origin.file, "line": status.origin.line},
        "diagnostics": [shape_diagnostic(one) for one in status.diagnostics],
    }
    if status.origin.file is None:
        del shape["origin"]
    return shape


_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def render_short_age(fetched_at: float | None, *, clock: Callable[[], float] = time.time) -> str:
    """How long ago something was fetched, such as `3 h`; empty where it was not."""
    if fetched_at is None:
        return ""
    seconds = max(clock() - fetched_at, 0)
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "now"
