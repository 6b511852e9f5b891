"""How much room a catalog has: from the profile's numbers, the context window, or a number that was
asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from prowess.errors import InvalidWindow
from prowess.profiles.schema.offering import Budget

# A share such as 0.07 has no exact binary form; a hair more keeps 7 % of 100 at 7.
_HAIR = 1e-6


def find_budget(rules: Budget, *, window: int | None, asked: int | None = None) -> int | None:
    """The room in the host's units; None where there is no bound. `window` is in tokens, None where
    not known.
    """
    if window is not None and window <= 0:
        raise InvalidWindow(window)
    if asked is not None:
        return asked
    bounds = [rules.characters] if rules.characters else []
    if window is None and rules.without_window:
        bounds.append(rules.without_window)
    elif window is not None and rules.share:
        bounds.append(int(window * rules.share * rules.characters_per_token + _HAIR))
    return min(bounds, default=None)


def count_utf16(text: str) -> int:
    """The length of a text in UTF-16 units, as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


MEASURES: dict[str, Callable[[str], int]] = {"characters": len, "utf16": count_utf16}
