"""Values from files in the words of an error message."""

from __future__ import annotations

from typing import Any

_LONGEST_SHOWN = 40

_NAMES_OF_TYPES: tuple[tuple[type, str], ...] = (
    (type(None), "nothing"),
    (dict, "a table"),
    (list, "a list"),
    (str, "a string"),
    (int, "a number"),
    (float, "a number"),
)


def describe_value(value: Any, *, is_secret: bool = False) -> str:
    """A value for an error message: its text if it is short, otherwise its type.

    Of a secret, only the type.
    """
    # Before the numbers, because in Python a bool is one.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not is_secret:
        return f"the string “{_shorten(value)}”"
    if isinstance(value, int | float) and not is_secret:
        return _render_number(value)
    for kind, name in _NAMES_OF_TYPES:
        if isinstance(value, kind):
            return name
    # The only other values that the formats of settings files have.
    return "a date or time"


def _render_number(value: float) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else "a number"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
