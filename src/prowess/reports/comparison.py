"""What several hosts answer for the same folder, skill by skill, whatever each calls a skill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import chain
from typing import Any

import msgspec

from prowess.errors import ProwessError, UnknownHost
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.outcomes_by_name import OpenHost, OutcomesByName, index_outcomes

# States in which a host has seen a file and does not load it.
_DROPPED = (State.INVALID, State.SKIPPED)


class HostAnswers(msgspec.Struct, frozen=True):
    """What one host finds, or why it cannot be asked."""

    host: str
    outcomes: OutcomesByName
    snapshot: Snapshot | None = None
    problem: str | None = None


class Agreement(str, Enum):
    """How far hosts agree on a skill.

    They differ in kind if those that look at its folder give different answers: one drops the
    skill, hides it, or takes another file; or if one drops it where others do not look. Otherwise
    some may only not look there.
    """

    DIFFERENT = "different"
    NOT_READ = "not-read"
    SAME = "same"


class HostGroup(msgspec.Struct, frozen=True):
    """Hosts that give the same answer for a skill; without an outcome they do not look there."""

    hosts: tuple[str, ...]
    outcome: Outcome | None = None

    @property
    def why_off(self) -> str | None:
        """What keeps these hosts from looking into a folder that they know; None if nothing."""
        return None if self.outcome is None else self.outcome.candidate.root.disabled_by


class ComparedSkill(msgspec.Struct, frozen=True):
    """A skill: its names, the most common first, and what each host that sees it answers.

    `hosts` are all hosts that were asked and answered.
    """

    names: tuple[str, ...]
    outcomes: Mapping[str, Outcome]
    hosts: tuple[str, ...] = ()

    @property
    def looking(self) -> dict[str, Outcome]:
        """What the hosts answer that look into the folder of the skill."""
        looking = {}
        for host in self.hosts:
            outcome = self.outcomes.get(host)
            if outcome is None:
                continue
            is_kept_from_looking = outcome.candidate.root.disabled_by is not None
            if not is_kept_from_looking:
                looking[host] = outcome
        return looking

    @property
    def agreement(self) -> Agreement:
        """How far the hosts agree."""
        looking = self.looking
        answers = {(one.name, one.state, one.candidate.location) for one in looking.values()}
        if len(answers) > 1:
            return Agreement.DIFFERENT
        all_look = len(looking) == len(self.hosts)
        if answers and all_look:
            return Agreement.SAME
        # The author has to know that the only host that reads a file drops it.
        is_dropped = any(one.state in _DROPPED for one in looking.values())
        return Agreement.DIFFERENT if is_dropped else Agreement.NOT_READ

    def group(self) -> list[HostGroup]:
        """The hosts by their answers, those that drop the skill first, those that don't look last.

        A host that is kept from looking into a folder it knows is one that doesn't look.
        """
        groups: dict[tuple[Any, ...], list[str]] = {}
        for host in self.hosts:
            groups.setdefault(_describe_answer(self.outcomes.get(host)), []).append(host)
        grouped = [
            HostGroup(tuple(hosts), self.outcomes.get(hosts[0])) for hosts in groups.values()
        ]
        return sorted(grouped, key=_rank_group)


def _describe_answer(outcome: Outcome | None) -> tuple[Any, ...]:
    """What makes two answers the same; why a host does not look is an answer of its own."""
    if outcome is None:
        return ()
    disabled_by = outcome.candidate.root.disabled_by
    if disabled_by is not None:
        return (disabled_by,)
    return (outcome.name, outcome.state, outcome.candidate.location, outcome.reason)


def _rank_group(group: HostGroup) -> tuple[int, int]:
    if group.outcome is None:
        return (2, 0)
    is_kept_from_looking = group.why_off is not None
    return (int(is_kept_from_looking), group.outcome.state.rank)


class HostComparison(msgspec.Struct, frozen=True):
    """The answers of several hosts; `different` are the rows on which they disagree."""

    hosts: tuple[HostAnswers, ...]
    rows: tuple[ComparedSkill, ...]
    different: tuple[ComparedSkill, ...]

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
    different = tuple(row for row in rows if row.agreement is not Agreement.SAME)
    return HostComparison(asked, tuple(rows), different)


def _load_answers(host: str, open_host: OpenHost) -> HostAnswers:
    try:
        snapshot = open_host(host).snapshot
    except UnknownHost:
        # A misspelt name is an error of the whole request.
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


def gather_rows(columns: Mapping[str, OutcomesByName]) -> list[ComparedSkill]:
    """One row for each name; names that stand for one file in different hosts share a row.

    One host takes the name of a skill from its header, another from its folder.
    """
    by_name: dict[str, _OpenRow] = {}
    for host, outcomes in columns.items():
        for name, outcome in outcomes.items():
            by_name.setdefault(name, _OpenRow([name], {})).outcomes[host] = outcome
    # Names that most hosts use come first, so that rarer ones join their rows.
    by_use = sorted(by_name.values(), key=lambda row: (-len(row.outcomes), *_fold(row.names)))
    rows = _join_rows(by_use)
    rows.sort(key=lambda row: _fold(row.names))
    hosts = tuple(columns)
    return [ComparedSkill(tuple(row.names), row.outcomes, hosts) for row in rows]


def _join_rows(by_use: Iterable[_OpenRow]) -> list[_OpenRow]:
    """The rows, those about the same file joined where no host is in both."""
    joined: list[_OpenRow] = []
    by_file: dict[str, list[_OpenRow]] = {}
    for row in by_use:
        files = row.list_files()
        sharing = chain.from_iterable(by_file.get(file, ()) for file in files)
        home = next((one for one in sharing if one.can_take(row)), None)
        if home is None:
            home = row
            joined.append(row)
        else:
            home.take(row)
        for file in files:
            by_file.setdefault(file, []).append(home)
    return joined


def _fold(names: list[str]) -> tuple[str, str]:
    return names[0].casefold(), names[0]


def _shape_host(answers: HostAnswers) -> dict[str, Any]:
    shape = {"name": answers.host}
    return shape if answers.problem is None else {**shape, "problem": answers.problem}


def _shape_row(row: ComparedSkill, order: Iterable[str]) -> dict[str, Any]:
    has_several_names = len(row.names) > 1
    hosts: dict[str, Any] = {}
    for host in order:
        outcome = row.outcomes.get(host)
        # A host that does not look there is missing in the JSON, too.
        if outcome is None:
            continue
        shape = {"name": outcome.name} if has_several_names else {}
        shape |= {"state": outcome.state.value, "location": outcome.candidate.location}
        if outcome.reason is not None:
            shape["reason"] = outcome.reason
        hosts[host] = shape
    return {"name": row.names[0], "agreement": row.agreement.value, "hosts": hosts}
