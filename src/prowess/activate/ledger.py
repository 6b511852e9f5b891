"""The ledger of a conversation: which skills were loaded into it, when, by whom, in which version.

A ledger never changes; recording gives a new one. It is saved as JSON, so that any agent can keep
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.usage import Caller

VERSION = 1


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One activation. `at` is in seconds since 1970, `digest` that of the SKILL.md, `tokens` those
    of `text`, 0 where nobody counted them yet.

    `text` is what the model received, kept only for the latest activation of each skill. `loaded`
    says whether it is still in the conversation, `partial` that only its beginning is. With
    `has_blocks` there was more than text.
    """

    name: str
    at: float
    by: Caller
    location: str = ""
    digest: str = ""
    tokens: int = 0
    arguments: str = ""
    text: str = ""
    loaded: bool = True
    partial: bool = False
    has_blocks: bool = False


class Ledger(msgspec.Struct, frozen=True):
    """Every activation of a conversation, in the order in which they happened."""

    entries: tuple[LedgerEntry, ...] = ()

    def record(self, entry: LedgerEntry) -> Ledger:
        """The ledger with one more activation. Of the same skill's earlier ones only the fact
        remains.
        """
        earlier = (_without_text(old) if old.name == entry.name else old for old in self.entries)
        return Ledger((*earlier, entry))

    def count(self, count: Callable[[str], int]) -> Ledger:
        """The ledger with the tokens of every text that nobody counted so far."""
        if all(entry.tokens or not entry.text for entry in self.entries):
            return self
        return Ledger(
            tuple(
                (
                    msgspec.structs.replace(entry, tokens=count(entry.text))
                    if entry.text and not entry.tokens
                    else entry
                )
                for entry in self.entries
            )
        )

    def find(self, name: str) -> LedgerEntry | None:
        """The latest activation of a skill that is still in the conversation; None where there is
        none.
        """
        return next(
            (entry for entry in reversed(self.entries) if entry.loaded and entry.name == name), None
        )

    def is_loaded(self, name: str, digest: str, *, arguments: str | None = None) -> bool:
        """Whether a skill is whole in the conversation, in this version and, where given, with
        these arguments.
        """
        found = self.find(name)
        if found is None or found.partial or found.digest != digest:
            return False
        return arguments is None or found.arguments == arguments

    @property
    def loaded(self) -> tuple[LedgerEntry, ...]:
        """The latest activation of each skill that is still in the conversation, the newest first."""
        return tuple(self._latest())

    def forget(self, *names: str) -> Ledger:
        """The ledger after these skills left the conversation, all of them where none is named.
        That they were there once stays known."""
        return Ledger(
            tuple(
                (
                    msgspec.structs.replace(_without_text(entry), loaded=False, partial=False)
                    if not names or entry.name in names
                    else entry
                )
                for entry in self.entries
            )
        )

    def replace(self, entry: LedgerEntry) -> Ledger:
        """The ledger with an entry in place of the latest of the same skill."""
        place = max(
            (place for place, old in enumerate(self.entries) if old.name == entry.name),
            default=None,
        )
        if place is None:
            return self.record(entry)
        return Ledger((*self.entries[:place], entry, *self.entries[place + 1 :]))

    def _latest(self) -> Iterator[LedgerEntry]:
        seen: set[str] = set()
        for entry in reversed(self.entries):
            if entry.loaded and entry.name not in seen:
                seen.add(entry.name)
                yield entry


def _without_text(entry: LedgerEntry) -> LedgerEntry:
    return msgspec.structs.replace(entry, text="") if entry.text else entry


def render_ledger(ledger: Ledger) -> str:
    """A ledger as JSON text. Names and paths that are no proper text come through, too."""
    import json

    return (
        json.dumps({"version": VERSION, "entries": msgspec.to_builtins(ledger.entries)}, indent=1)
        + "\n"
    )


def parse_ledger(text: str, *, file: str | None = None) -> tuple[Ledger, tuple[Diagnostic, ...]]:
    """A ledger from JSON text. What cannot be used is left out, with a diagnostic; unknown keys do
    not matter.
    """
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Ledger(), (_unusable("it is not JSON", file),)
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        return Ledger(), (_unusable("it has no list of `entries`", file),)
    if data.get("version") != VERSION:
        return Ledger(), (
            _unusable(f"its version is {data.get('version')!r}, and {VERSION} is read", file),
        )
    read = [_read_entry(entry) for entry in data["entries"]]
    broken = read.count(None)
    found = (_lost(broken, file),) if broken else ()
    return Ledger(tuple(entry for entry in read if entry is not None)), found


def _read_entry(data: Any) -> LedgerEntry | None:
    try:
        return msgspec.convert(data, LedgerEntry)
    except msgspec.ValidationError:
        return None


def _unusable(reason: str, file: str | None) -> Diagnostic:
    message = (
        f"The ledger of the conversation cannot be used, since {reason}; every skill counts as not"
        " loaded."
    )
    return diagnose("state-unreadable", message, file=file)


def _lost(count: int, file: str | None) -> Diagnostic:
    what = "1 entry" if count == 1 else f"{count} entries"
    message = (
        f"{what} of the conversation's ledger cannot be read; the skills in them count as not"
        " loaded."
    )
    return diagnose("state-unreadable", message, file=file)
