"""What was derived from a snapshot, kept for as long as the snapshot is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from prowess.model.snapshot import Snapshot

T = TypeVar("T")


class SnapshotMemo(Generic[T]):
    """One value for each snapshot and key, for several threads.

    A snapshot never changes, so neither does what is made of it. `most` bounds the values of one
    snapshot; the oldest goes first.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._kept: WeakKeyDictionary[Snapshot, dict[Hashable, T]] = WeakKeyDictionary()
        self._lock = threading.RLock()

    def get(self, snapshot: Snapshot, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made at the first call."""
        with self._lock:
            kept = self._kept.setdefault(snapshot, {})
            if key not in kept:
                value = make()
                if len(kept) >= self._most:
                    del kept[next(iter(kept))]
                kept[key] = value
            return kept[key]
