"""The ledger of a conversation while it grows, so that an activation costs the same in a long one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.activate.ledger import Ledger, LedgerEntry


class Journal:
    """Records activations; `ledger` is all of them as a value.

    Counting tokens takes longer than loading a skill, and few ask for it: it is done when somebody
    does, or before a text goes.
    """

    def __init__(self, ledger: Ledger, *, count: Callable[[str], int]) -> None:
        self._count = count
        self._entries: list[LedgerEntry] = []
        self._latest: dict[str, int] = {}
        self.ledger = ledger

    @property
    def ledger(self) -> Ledger:
        """Everything that was recorded, with its tokens."""
        counted = Ledger(tuple(self._entries)).count(self._count)
        self._entries[:] = counted.entries
        return counted

    @ledger.setter
    def ledger(self, ledger: Ledger) -> None:
        self._entries = list(ledger.entries)
        self._latest = {entry.name: place for place, entry in enumerate(self._entries)}

    def record(self, entry: LedgerEntry) -> None:
        """Add an activation. Of the same skill's earlier ones only the fact remains, as
        `Ledger.record` has it.
        """
        earlier = self._latest.get(entry.name)
        if earlier is not None and self._entries[earlier].text:
            old = self._entries[earlier]
            tokens = old.tokens or self._count(old.text)
            self._entries[earlier] = msgspec.structs.replace(old, text="", tokens=tokens)
        self._latest[entry.name] = len(self._entries)
        self._entries.append(entry)

    def find(self, name: str) -> LedgerEntry | None:
        """The latest activation of a skill, where it is still in the conversation."""
        place = self._latest.get(name)
        entry = self._entries[place] if place is not None else None
        return entry if entry is not None and entry.loaded else None
