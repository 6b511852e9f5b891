"""Which outcome holds each name in a scan, and where two scans disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from prowess.errors import ProwessError, UnknownSkill
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills

OutcomesByName = dict[str, Outcome]
"""The outcome that holds each name: the listed one, or else the first that claimed it."""

OpenHost = Callable[[str], Skills]
"""Opens the folder of a report, with the same options, as another host sees it."""


class OtherEdition(msgspec.Struct, frozen=True):
    """What another edition of the host finds here, or why that edition cannot be used."""

    host: str
    outcomes: OutcomesByName
    problem: str | None = None


def get_outcome(snapshot: Snapshot, name: str) -> Outcome:
    """The outcome that holds a name. Raises `UnknownSkill`, which names similar ones."""
    outcome = snapshot.find(name)
    if outcome is None:
        raise UnknownSkill(name, [one.name for one in snapshot.outcomes])
    return outcome


def index_outcomes(snapshot: Snapshot) -> OutcomesByName:
    """The outcome that holds each name, in order of names."""
    index: OutcomesByName = {}
    for outcome in snapshot.outcomes:
        holder = index.setdefault(outcome.name, outcome)
        is_holder_listed = holder.state in snapshot.listed
        if not is_holder_listed and outcome.state in snapshot.listed:
            index[outcome.name] = outcome
    return index


def is_same_answer(one: Outcome | None, other: Outcome | None) -> bool:
    """Whether two scans agree on a name: the same state, decided for the same file."""
    if one is None or other is None:
        return one is other
    is_same_file = one.candidate.location == other.candidate.location
    return is_same_file and one.state is other.state


def list_differing_names(one: OutcomesByName, other: OutcomesByName) -> list[str]:
    """Every name on which two scans disagree, sorted."""
    names = one.keys() | other.keys()
    return sorted(name for name in names if not is_same_answer(one.get(name), other.get(name)))


def load_other_editions(skills: Skills, host: str, open_host: OpenHost) -> Iterator[OtherEdition]:
    """The same folder as the other editions of the host see it.

    `host` is the name that the user gave, which may be the path of a profile. Editions that are
    releases, such as `18.2.3`, are left out: they answer when they are asked for.
    """
    profile = skills.profile
    # The profile's own name would not find a profile that was given by its path.
    base = host.partition("@")[0]
    for edition in profile.editions:
        is_release = edition[:1].isdigit()
        if edition == profile.edition or is_release:
            continue
        name = f"{profile.name}@{edition}"
        try:
            snapshot = open_host(f"{base}@{edition}").snapshot
        except ProwessError as error:
            # The edition that was asked for has its answer all the same.
            yield OtherEdition(name, {}, str(error))
        else:
            yield OtherEdition(name, index_outcomes(snapshot))
