"""Which patterns of `paths` are no condition, because they match every file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_EVERYTHING = frozenset(("**", "**/*"))
_BELOW = "/**"


def _has_one_for_all(patterns: Sequence[str]) -> bool:
    return not _EVERYTHING.isdisjoint(patterns)


def _has_only_such(patterns: Sequence[str]) -> bool:
    # Claude Code takes `/**` off the end, because a folder matches all that is in it.
    folders = {pattern.removesuffix(_BELOW) for pattern in patterns}
    return folders <= {"", "**"}


_UNCONDITIONAL: dict[str, Callable[[Sequence[str]], bool]] = {
    "any": _has_one_for_all,
    "all": _has_only_such,
}


def are_conditions(patterns: Sequence[str], unconditional: str) -> bool:
    """Whether a skill with these patterns waits for a file; `unconditional` is the word of a
    profile.
    """
    return bool(patterns) and not _UNCONDITIONAL[unconditional](patterns)
