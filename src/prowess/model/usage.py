"""How often a skill was offered and used."""

from __future__ import annotations

from typing import Literal

import msgspec

Caller = Literal["user", "model"]

Uses = frozenset[tuple[str, str, int]]
"""How often skills were activated: name, location and count of each that ever was. A value, so that
catalogs can be kept by it.
"""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of one skill. Times are seconds since 1970, None if it never happened."""

    name: str
    location: str
    offered: int = 0
    by_user: int = 0
    by_model: int = 0
    last_offered: float | None = None
    last_activated: float | None = None

    @property
    def activated(self) -> int:
        """How often it was activated, by the user or the model."""
        return self.by_user + self.by_model
