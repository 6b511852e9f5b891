"""Catalogs for tests: items in short, presented as a host would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from prowess.model.catalog import Catalog, CatalogItem
from prowess.present.catalog import present
from prowess.profiles.load import load_profile


def make_items(
    number: int, length: int, *, name: str = "s{:05d}", **fields: Any
) -> list[CatalogItem]:
    """So many skills with descriptions of so many characters and names of six."""
    return [
        CatalogItem(name=name.format(n), description="d" * length, **fields) for n in range(number)
    ]


def show(
    items: Iterable[CatalogItem],
    host: str = "prowess",
    *,
    rules: dict[str, Any] | None = None,
    **options: Any,
) -> Catalog:
    """The catalog as a host would make it at a window of 200,000 tokens; `rules` replace numbers of
    its budget.
    """
    profile = load_profile(host)
    budget = msgspec.structs.replace(profile.budget, **rules or {})
    return present(
        items, catalog=profile.catalog, budget=budget, **{"context_tokens": 200_000} | options
    )


def show_counts(catalog: Catalog) -> dict[str, int]:
    """How many skills are shown how, in plain words."""
    return {shown.value: count for shown, count in catalog.counts().items()}
