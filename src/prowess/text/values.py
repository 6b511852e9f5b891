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
    # Before the numbers, because in Python a bool is one.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string" if is_secret else f"the string “{_shorten(value)}”"
    if isinstance(value, int | float):
        return "a number" if is_secret else _render_number(value)
    # The only other values that the formats of settings files have.
    return "a date or time"


def _render_number(value: float) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else "a number"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
