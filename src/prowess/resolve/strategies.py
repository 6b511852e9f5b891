"""Who is stronger, as a table of orders by the word in the profile: the first claim wins a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prowess.model.outcome import Claim
from prowess.profiles.schema.resolution import ResolutionRules

Order = Callable[[Sequence[Claim], ResolutionRules], list[Claim]]
"""Claims in scan order → claims in order of strength. Fallbacks lose to all of equal strength."""


def later_wins(rules: ResolutionRules) -> bool:
    """Whether of two equals the one found later is stronger."""
    return rules.strategy == "last"


def _first(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    return sorted(claims, key=_is_fallback)


def _last(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    ordered = list(claims)
    ordered.reverse()
    ordered.sort(key=_is_fallback)
    return ordered


def _priority(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    return sorted(claims, key=lambda claim: (-claim.candidate.root.priority, _is_fallback(claim)))


def _scope(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    ranks = {scope: rank for rank, scope in enumerate(rules.scopes)}
    last = len(ranks)
    return sorted(
        claims,
        key=lambda claim: (ranks.get(claim.candidate.root.scope, last), _is_fallback(claim)),
    )


def _assembly(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    ranks = {group: rank for rank, group in enumerate(rules.groups)}
    last = len(ranks)
    return sorted(
        claims,
        key=lambda claim: (ranks.get(claim.candidate.root.group, last), _is_fallback(claim)),
    )


def _is_fallback(claim: Claim) -> bool:
    return claim.candidate.root.is_fallback


STRATEGIES: dict[str, Order] = {
    "first": _first,
    "last": _last,
    "priority": _priority,
    "scope": _scope,
    "assembly": _assembly,
    "all": _first,
}
