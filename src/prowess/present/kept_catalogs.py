"""Catalogs that were built, kept for as long as their snapshot is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from prowess.model.catalog import Catalog
from prowess.model.snapshot import Snapshot

# Agents ask with the same few options in every request; a budget that differs each time must not
# fill the memory.
_MOST_PER_SNAPSHOT = 32


class KeptCatalogs:
    """One catalog for each snapshot and set of options, for several threads.

    A snapshot never changes, so neither does its catalog: providers can cache the prompt.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Snapshot, dict[Hashable, Catalog]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, snapshot: Snapshot, options: Hashable, build: Callable[[], Catalog]) -> Catalog:
        """The catalog for these options, built at the first call."""
        with self._lock:
            kept = self._kept.setdefault(snapshot, {})
            catalog = kept.get(options)
            if catalog is None:
                catalog = build()
                if len(kept) >= _MOST_PER_SNAPSHOT:
                    del kept[next(iter(kept))]
                kept[options] = catalog
            return catalog
