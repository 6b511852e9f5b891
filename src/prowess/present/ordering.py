"""The orders in which skills stand in a catalog, by the word that profiles use. Each is total, so it is stable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prowess.model.catalog import CatalogItem

# Where people sort words, a low line stands before a hyphen, and both before digits.
_BEFORE_DIGITS = str.maketrans({"_": "\x1e", "-": "\x1f"})


def _by_name(item: CatalogItem) -> tuple[Any, ...]:
    return (item.name.casefold(), item.name, item.location)


def _by_locale(item: CatalogItem) -> tuple[Any, ...]:
    """Letters first, then accents, then small before capital ones: as the English locale compares."""
    name = letters = item.name
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFD", name)
        letters = "".join(char for char in name if not unicodedata.combining(char))
    folded = letters.casefold().translate(_BEFORE_DIGITS)
    return (folded, name.casefold().translate(_BEFORE_DIGITS), name.swapcase(), item.name, item.location)


def _by_source(item: CatalogItem) -> tuple[Any, ...]:
    return (item.bundled, item.order, item.name.casefold(), item.name, item.location)


ORDERS: dict[str, Callable[[CatalogItem], tuple[Any, ...]]] = {
    "name": _by_name,
    "locale": _by_locale,
    "source": _by_source,
}
