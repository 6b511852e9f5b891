"""Who is stronger, as a table of strategies by the word in the profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from prowess.model.outcome import Claim
from prowess.model.skill import Root
from prowess.profiles.schema.resolution import ResolutionRules

RootKey = Callable[[Root], Any]
"""A sort key: the skills of the root with the smallest one are the strongest."""


def order_claims(claims: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    """Claims in scan order, sorted by strength: of those with one name the first wins.

    Of two equals the one found first is stronger, or the one found later where the host says so.
    Fallbacks lose to all others of the same strength.
    """
    if rules.strategy == "path":
        return sorted(claims, key=lambda claim: claim.candidate.folder.lower(), reverse=True)
    later = later_wins(rules)
    in_order = reversed(claims) if later else claims
    get_strength = _STRATEGIES[rules.strategy](rules)
    # All skills of a root are equally strong, so only roots are compared: there are few of them.
    runs: list[tuple[Any, list[Claim]]] = []
    root: Root | None = None
    for claim in in_order:
        if claim.candidate.root is not root:
            root = claim.candidate.root
            run: list[Claim] = []
            runs.append(((get_strength(root), root.is_fallback), run))
        run.append(claim)
    # Gemini lets the later root win, and yet the first of two skills in one root.
    if later and rules.within_root == "first":
        for _, run in runs:
            run.reverse()
    runs.sort(key=itemgetter(0))
    return [claim for _, run in runs for claim in run]


def later_wins(rules: ResolutionRules) -> bool:
    """Whether of two equals the one found later is stronger."""
    return rules.strategy == "last"


def keeps_all(rules: ResolutionRules) -> bool:
    """Whether skills of one name do not compete at all."""
    return rules.strategy == "all"


def _all_equal(rules: ResolutionRules) -> RootKey:
    return lambda root: 0


def _by_priority(rules: ResolutionRules) -> RootKey:
    return lambda root: -root.priority


def _by_scope(rules: ResolutionRules) -> RootKey:
    ranks = {scope: rank for rank, scope in enumerate(rules.scopes)}
    return lambda root: ranks.get(root.scope, len(ranks))


def _by_group(rules: ResolutionRules) -> RootKey:
    ranks = {group: rank for rank, group in enumerate(rules.groups)}
    return lambda root: ranks.get(root.group, len(ranks))


_STRATEGIES: dict[str, Callable[[ResolutionRules], RootKey]] = {
    "first": _all_equal,
    "last": _all_equal,
    "priority": _by_priority,
    "scope": _by_scope,
    "assembly": _by_group,
    "path": _all_equal,
    "all": _all_equal,
}
