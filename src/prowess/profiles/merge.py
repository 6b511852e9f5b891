"""One merge for profiles: tables are laid over one another key by key, everything else is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `over` laid on it. Merging an empty table changes nothing."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(below, value) if both else value  # type: ignore[arg-type]
    return merged
