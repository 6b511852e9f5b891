"""The orders in which skills stand in a catalog, by the word that profiles use. Each is total, so
it is stable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prowess.model.catalog import CatalogItem
from prowess.text.collation import collate


def _by_name(item: CatalogItem) -> tuple[Any, ...]:
    return (item.name.casefold(), item.name, item.location)


def _by_locale(item: CatalogItem) -> tuple[Any, ...]:
    return (*collate(item.name), item.location)


def _by_source(item: CatalogItem) -> tuple[Any, ...]:
    return (item.bundled, item.order, item.name.casefold(), item.name, item.location)


ORDERS: dict[str, Callable[[CatalogItem], tuple[Any, ...]]] = {
    "name": _by_name,
    "locale": _by_locale,
    "source": _by_source,
}
