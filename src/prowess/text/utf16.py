"""Text as JavaScript counts it, in UTF-16 units: an emoji is two."""

from __future__ import annotations


def count_utf16(text: str) -> int:
    """The length of a text in UTF-16 units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def take_utf16(text: str, most: int) -> str:
    """The first units of a text; half of a pair at its end cannot be printed, and is a space."""
    if text.isascii():
        return text[:most]
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * most]
    taken = units.decode("utf-16-le", "surrogatepass")
    is_half = "\ud800" <= taken[-1:] <= "\udfff"
    return taken[:-1] + " " if is_half else taken
