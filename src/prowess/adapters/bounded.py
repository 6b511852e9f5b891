"""A mapping that forgets its oldest entries, for what is known only while a call is under way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MOST = 10_000


class BoundedDict(OrderedDict[K, V]):
    """At most this many entries; a new one drops the oldest."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > MOST:
            self.popitem(last=False)
