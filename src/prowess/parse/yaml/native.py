"""The native YAML reader itself, and the check that what it gave needs no second look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ryaml

read_natively: Callable[[str], Any] = ryaml.loads  # type: ignore[attr-defined]


def is_settled(value: Any, depth: int, *, tags: bool) -> bool:
    """Whether every key is text, no mapping stands for a tag, and there are at most `depth` levels."""
    kind = type(value)
    if kind is dict:
        if depth <= 0:
            return False
        for key, item in value.items():
            if type(key) is not str or (tags and key.startswith("!") and len(value) == 1):
                return False
            if type(item) in (dict, list) and not is_settled(item, depth - 1, tags=tags):
                return False
    elif kind is list:
        if depth <= 0:
            return False
        return all(
            type(item) not in (dict, list) or is_settled(item, depth - 1, tags=tags)
            for item in value
        )
    return True
