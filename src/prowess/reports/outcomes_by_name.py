"""What a scan answers for each name, and where two answers differ."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from prowess.cli.options import ANYONE, Who, open_skills
from prowess.errors import ProwessError
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills

Answers = dict[str, Outcome]
"""The outcome that holds each name: the one that is listed, else the first that claimed it."""


class OtherEdition(msgspec.Struct, frozen=True):
    """Another edition of a host: what it answers here, or the sentence that says why it cannot."""

    host: str
    answers: Answers
    problem: str | None = None


def index_answers(snapshot: Snapshot) -> Answers:
    """The outcome that holds each name, in the order of names."""
    answers: Answers = {}
    listed = snapshot.listed
    for outcome in snapshot.outcomes:
        held = answers.get(outcome.name)
        if held is None or (outcome.state in listed and held.state not in listed):
            answers[outcome.name] = outcome
    return answers


def same_answer(one: Outcome | None, other: Outcome | None) -> bool:
    """Whether two scans agree on a name: the same state, decided for the same file."""
    if one is None or other is None:
        return one is other
    return one.state is other.state and one.candidate.location == other.candidate.location


def differing_names(one: Answers, other: Answers) -> list[str]:
    """Every name that two scans answer differently, sorted."""
    return sorted(
        name for name in {**one, **other} if not same_answer(one.get(name), other.get(name))
    )


def load_other_editions(
    skills: Skills,
    host: str,
    add_dirs: tuple[str, ...] = (),
    *,
    bare: bool = False,
    who: Who = ANYONE,
) -> Iterator[OtherEdition]:
    """The same folder scanned under every other edition of the host; none where the host has one
    edition.
    """
    base = host.partition("@")[0]
    for edition in skills.profile.editions:
        if edition == skills.profile.edition:
            continue
        named = f"{skills.profile.name}@{edition}"
        try:
            snapshot = open_skills(
                f"{base}@{edition}", add_dirs, bare=bare, who=who, tell=False
            ).snapshot
        except ProwessError as error:
            yield OtherEdition(named, {}, str(error))
        else:
            yield OtherEdition(named, index_answers(snapshot))
