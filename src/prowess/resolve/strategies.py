"""Who is stronger, as a table of sort keys by the word in the profile: the smallest key wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prowess.profiles.schema.resolution import ResolutionRules
from prowess.resolve.claims import Claim

Key = Callable[[Claim], Any]


def _first(rules: ResolutionRules) -> Key:
    return lambda claim: claim.place


def _last(rules: ResolutionRules) -> Key:
    return lambda claim: -claim.place


def _priority(rules: ResolutionRules) -> Key:
    return lambda claim: (-claim.candidate.root.priority, claim.place)


def _scope(rules: ResolutionRules) -> Key:
    rank = {scope: place for place, scope in enumerate(rules.scopes)}
    return lambda claim: (rank.get(claim.candidate.root.scope, len(rank)), claim.place)


def _assembly(rules: ResolutionRules) -> Key:
    rank = {group: place for place, group in enumerate(rules.groups)}
    return lambda claim: (rank.get(claim.candidate.root.group, len(rank)), claim.place)


STRATEGIES: dict[str, Callable[[ResolutionRules], Key]] = {
    "first": _first,
    "last": _last,
    "priority": _priority,
    "scope": _scope,
    "assembly": _assembly,
    "all": _first,
}
