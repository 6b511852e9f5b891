"""What several hosts answer for the same folder, skill by skill, whatever each calls a skill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from prowess.errors import ProwessError, UnknownHost
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.reports.outcomes_by_name import OpenHost, OutcomesByName, index_outcomes


class HostAnswers(msgspec.Struct, frozen=True):
    """What one host finds, or why it cannot be asked."""

    host: str
    outcomes: OutcomesByName
    snapshot: Snapshot | None = None
    problem: str | None = None


class SkillRow(msgspec.Struct, frozen=True):
    """A skill: its names, the most common first, and what each host that sees it answers."""

    names: tuple[str, ...]
    outcomes: Mapping[str, Outcome]


class HostComparison(msgspec.Struct, frozen=True):
    """The answers of several hosts; `different` are the rows on which they disagree."""

    hosts: tuple[HostAnswers, ...]
    rows: tuple[SkillRow, ...]
    different: tuple[SkillRow, ...]

    def shape(self, *, only_different: bool = False) -> dict[str, Any]:
        """The comparison as JSON, with all rows or only those on which hosts disagree."""
        rows = self.different if only_different else self.rows
        order = [one.host for one in self.hosts]
        return {
            "hosts": [_shape_host(one) for one in self.hosts],
            "skills": [_shape_row(row, order) for row in rows],
        }


def compare_hosts(hosts: Iterable[str], open_host: OpenHost) -> HostComparison:
    """Scan as each host and put the answers side by side."""
    asked = tuple(_load_answers(host, open_host) for host in dict.fromkeys(hosts))
    answering = {one.host: one.outcomes for one in asked if one.problem is None}
    rows = gather_rows(answering)
    different = tuple(row for row in rows if is_different(row, answering))
    return HostComparison(asked, tuple(rows), different)


def _load_answers(host: str, open_host: OpenHost) -> HostAnswers:
    try:
        snapshot = open_host(host).snapshot
    except UnknownHost:
        raise
    except ProwessError as error:
        # A host whose settings are wrong has no answer, but the others do.
        return HostAnswers(host, {}, problem=str(error))
    return HostAnswers(host, index_outcomes(snapshot), snapshot)


class _OpenRow(msgspec.Struct):
    """A row that is still being put together."""

    names: list[str]
    outcomes: dict[str, Outcome]

    def can_take(self, other: _OpenRow) -> bool:
        """Whether no host knows both: to a host that does, they are two skills."""
        return self.outcomes.keys().isdisjoint(other.outcomes)

    def take(self, other: _OpenRow) -> None:
        self.names += other.names
        self.outcomes |= other.outcomes

    def list_files(self) -> list[str]:
        return list(dict.fromkeys(one.candidate.location for one in self.outcomes.values()))


def gather_rows(columns: Mapping[str, OutcomesByName]) -> list[SkillRow]:
    """One row for each name; names that stand for one file in different hosts share a row."""
    by_name: dict[str, _OpenRow] = {}
    for host, outcomes in columns.items():
        for name, outcome in outcomes.items():
            by_name.setdefault(name, _OpenRow([name], {})).outcomes[host] = outcome
    rows: list[_OpenRow] = []
    by_file: dict[str, list[_OpenRow]] = {}
    # Names that most hosts use come first, so that rarer ones join their rows.
    for row in sorted(by_name.values(), key=lambda row: (-len(row.outcomes), *_fold(row.names))):
        files = row.list_files()
        candidates = (one for file in files for one in by_file.get(file, ()))
        shared = next((one for one in candidates if one.can_take(row)), None)
        if shared is None:
            rows.append(row)
        else:
            shared.take(row)
        for file in files:
            by_file.setdefault(file, []).append(shared or row)
    rows.sort(key=lambda row: _fold(row.names))
    return [SkillRow(tuple(row.names), row.outcomes) for row in rows]


def _fold(names: list[str]) -> tuple[str, str]:
    return names[0].casefold(), names[0]


def is_different(row: SkillRow, hosts: Iterable[str]) -> bool:
    """Whether hosts disagree on a skill: its name, state or file, or whether it exists."""
    found = (row.outcomes.get(host) for host in hosts)
    answers = {one and (one.name, one.state, one.candidate.location) for one in found}
    return len(answers) > 1


def _shape_host(answers: HostAnswers) -> dict[str, Any]:
    shape = {"name": answers.host}
    return shape if answers.problem is None else {**shape, "problem": answers.problem}


def _shape_row(row: SkillRow, order: Iterable[str]) -> dict[str, Any]:
    has_several_names = len(row.names) > 1
    hosts: dict[str, Any] = {}
    for host in order:
        outcome = row.outcomes.get(host)
        if outcome is None:
            continue
        shape = {"name": outcome.name} if has_several_names else {}
        shape |= {"state": outcome.state.value, "location": outcome.candidate.location}
        if outcome.reason is not None:
            shape["reason"] = outcome.reason
        hosts[host] = shape
    return {"name": row.names[0], "hosts": hosts}
