"""Numbers that somebody wrote as digits."""

from __future__ import annotations

# Python refuses to read numbers of thousands of digits; nothing here is counted that far.
_MOST_DIGITS = 18


def find_number(text: str) -> int | None:
    """The number that a text of nothing but digits stands for; None for any other text."""
    # Not `isdigit`, which is also true for `²`.
    is_number = text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None
