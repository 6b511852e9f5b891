"""Values from files in the words of an error message."""

from __future__ import annotations

from typing import Any

_LONGEST_SHOWN = 40


def describe_value(value: Any, *, is_secret: bool = False) -> str:
    """A value for an error message: its text if it is short, otherwise its type.

    Of a secret, only the type.
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, str):
        return "a string" if is_secret else f"the string “{_shorten(value)}”"
    if isinstance(value, int | float):
        is_long = len(str(value)) > _LONGEST_SHOWN
        return "a number" if is_secret or is_long else str(value)
    return "a date or time"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
