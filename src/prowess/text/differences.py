"""A change of a file as people read it."""

from __future__ import annotations

import difflib


def render_difference(name: str, old: str, new: str) -> str:
    """The change as a unified diff, whole: a person who is asked must see all of it."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
    )
    return "\n".join(lines)
