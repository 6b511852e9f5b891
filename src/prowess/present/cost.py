"""What skills cost a conversation: each in the catalog and when it is read, and all against loading
everything.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prowess.model.catalog import CatalogItem
from prowess.present.tokens import ESTIMATE, Counter


def count_item(item: CatalogItem, counter: Counter = ESTIMATE) -> int:
    """The tokens of what a catalog may say of a skill: name, description, when to use it, and
    argument hint.
    """
    parts = (item.name, item.description, item.when_to_use, item.argument_hint)
    return counter.count(" ".join(part for part in parts if part))


class Comparison(msgspec.Struct, frozen=True):
    """Tokens of loading every skill up front against a catalog and reading some; `share` is of the
    window.
    """

    up_front: int
    on_demand: int
    saved: int
    share: float


def compare_loading(bodies: Iterable[int], *, catalog: int, reads: int, window: int) -> Comparison:
    """Compare loading all bodies with a catalog of so many tokens and so many bodies of average
    size.
    """
    sizes = list(bodies)
    up_front = sum(sizes)
    average = up_front / len(sizes) if sizes else 0.0
    on_demand = catalog + round(average * min(reads, len(sizes)))
    return Comparison(up_front, on_demand, up_front - on_demand, (up_front - on_demand) / window)
