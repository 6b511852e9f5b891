"""The hosts, what the profile of each edition follows, and how editions differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.errors import ProwessError
from prowess.model.facts import Facts
from prowess.model.skill import Scope
from prowess.profiles.load import (
    differing_keys,
    known_editions,
    known_hosts,
    load_profile,
    split_host,
)
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule
from prowess.reports.skill_depth import NO_AGENTS
from prowess.state.profile_cache import load_added_profiles
from prowess.text.display import escape_line

# These keys name an edition; they do not change how the host behaves.
_NOT_BEHAVIOUR = ("edition", "provenance")


class Difference(msgspec.Struct, frozen=True):
    """A key of the profile, with its value in the first edition and in another."""

    key: str
    before: Any
    after: Any


class EditionDifferences(msgspec.Struct, frozen=True):
    """How an edition differs from the first."""

    edition: str
    differences: tuple[Difference, ...]


class Host(msgspec.Struct, frozen=True):
    """A host with the profile of each edition, or why it cannot be used."""

    name: str
    origin: str
    editions: tuple[Profile, ...] = ()
    problem: str | None = None

    def list_differences(self) -> list[EditionDifferences]:
        """How each edition after the first differs from it."""
        return [_compare(self.editions[0], other) for other in self.editions[1:]]

    def shape(self) -> dict[str, Any]:
        """The host as JSON."""
        shape: dict[str, Any] = {"name": self.name, "origin": self.origin}
        if self.problem is not None:
            return {**shape, "problem": self.problem}
        first = self.editions[0]
        shape["title"] = first.title
        shape["editions"] = [
            {"edition": profile.edition, **msgspec.to_builtins(profile.provenance)}
            for profile in self.editions
        ]
        differences: list[dict[str, Any]] = []
        for compared in self.list_differences():
            for one in compared.differences:
                sides = {first.edition: one.before, compared.edition: one.after}
                differences.append({"key": one.key, **sides})
        shape["differences"] = differences
        return shape


def list_host_names(facts: Facts) -> tuple[str, ...]:
    """Every host, including those the user added."""
    _, added = load_added_profiles(facts, "prowess")
    return known_hosts(added)


def list_agents(facts: Facts) -> tuple[str, ...]:
    """Every host that is an agent, including those the user added: what `--host all` means."""
    return tuple(name for name in list_host_names(facts) if name not in NO_AGENTS)


def load_hosts(facts: Facts) -> tuple[Host, ...]:
    """Every host; one whose profile is wrong has a problem instead of editions."""
    _, added = load_added_profiles(facts, "prowess")
    return tuple(_load_host(name, added) for name in known_hosts(added))


def get_host(name: str, facts: Facts) -> Host:
    """One host, named as `--host` names it; raises where there is none or its profile is wrong."""
    asked, added = load_added_profiles(facts, name)
    # Loaded for the error, which names the hosts there are.
    load_profile(asked, added)
    return _load_host(split_host(asked, added)[0], added)


def _load_host(name: str, added: Mapping[str, str]) -> Host:
    origin = "added" if name in added else "built in"
    try:
        editions = known_editions(name, added)
        profiles = tuple(load_profile(f"{name}@{edition}", added) for edition in editions)
    except ProwessError as error:
        # A mistake in a profile of the user must not hide the other hosts.
        return Host(name, origin, problem=str(error))
    return Host(name, origin, profiles)


def _compare(first: Profile, other: Profile) -> EditionDifferences:
    differences = tuple(
        Difference(key, before, after)
        for key, before, after in differing_keys(first, other)
        if key.partition(".")[0] not in _NOT_BEHAVIOUR
    )
    return EditionDifferences(other.edition, differences)


def render_value(value: Any) -> str:
    """A value of a profile for people; of a root, only what its author wrote."""
    if value is None:
        return "not set"
    # Before `str`, which spells them as Python does.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        shown = _leave_out_defaults(value)
        return "; ".join(f"{key} = {render_value(one)}" for key, one in shown.items())
    # An empty list or text is said in a word: nothing after the `=` would look like a mistake.
    if isinstance(value, (list, tuple)):
        return ", ".join(map(render_value, value)) or "none"
    return escape_line(str(value)) or "empty"


def _leave_out_defaults(value: Mapping[str, Any]) -> dict[str, Any]:
    # Of the tables in a profile only roots have `at`; they have two dozen keys with defaults.
    if "at" not in value:
        return dict(value)
    usual = msgspec.to_builtins(RootRule(at=(), scope=Scope.USER))
    # Every root states its scope, so it is shown even where it is the one compared with.
    del usual["scope"]
    return {key: one for key, one in value.items() if one != usual.get(key)}
