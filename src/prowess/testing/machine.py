"""Facts of a machine that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prowess.model.facts import Facts


def make_facts(
    home: str = "/home/me",
    *,
    platform: str = "linux",
    env: Mapping[str, str] | None = None,
    bins: Iterable[str] = (),
) -> Facts:
    """Facts with a home, an environment and exactly these programs."""
    programs = frozenset(bins)
    return Facts(home=home, platform=platform, env=dict(env or {}), find_bin=programs.__contains__)
