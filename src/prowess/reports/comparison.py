"""The rows of a comparison: what several hosts say of one skill, whatever each calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from prowess.model.outcome import Outcome
from prowess.reports.outcomes_by_name import Answers


class Row(msgspec.Struct):
    """A skill: the names it has, the commonest first, and what each host answers."""

    names: list[str]
    answers: dict[str, Outcome]


def gather_rows(columns: Mapping[str, Answers]) -> list[Row]:
    """One row for each name; names that stand for one file in different hosts share a row.

    They share it only where no host knows both: then they are two skills to that host.
    """
    by_name: dict[str, Row] = {}
    for host, answers in columns.items():
        for name, outcome in answers.items():
            by_name.setdefault(name, Row([name], {})).answers[host] = outcome
    by_file: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for row in sorted(by_name.values(), key=lambda row: (-len(row.answers), *_fold(row.names[0]))):
        files = _list_files(row)
        into = next(
            (one for file in files for one in by_file.get(file, ()) if _can_share(one, row)), None
        )
        if into is None:
            rows.append(row)
        else:
            into.names += row.names
            into.answers |= row.answers
        for file in files:
            by_file.setdefault(file, []).append(into or row)
    return sorted(rows, key=lambda row: _fold(row.names[0]))


def _can_share(one: Row, other: Row) -> bool:
    return one.answers.keys().isdisjoint(other.answers)


def _list_files(row: Row) -> Sequence[str]:
    return list(dict.fromkeys(outcome.candidate.location for outcome in row.answers.values()))


def _fold(name: str) -> tuple[str, str]:
    return name.casefold(), name


def is_different(row: Row, hosts: Iterable[str]) -> bool:
    """Whether the hosts disagree on a skill: on its name, its state or its file, or on whether it
    is there at all.
    """
    found = [row.answers.get(host) for host in hosts]
    answers = {
        None if one is None else (one.name, one.state, one.candidate.location) for one in found
    }
    return len(answers) > 1
