"""The ledger of a conversation: which skills were loaded, when, by whom, in which version.

A `Ledger` is a value: recording returns a new one. A `LedgerRecorder` grows in place, for a
conversation under way. A ledger is saved as JSON, so that any agent can keep it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.usage import Caller

VERSION = 1


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One activation.

    `at` is in seconds since 1970. `location` is the skill's file; "" for a skill that has none.
    `digest` is that of the SKILL.md. `text` is what the model received, kept only for the latest
    activation of each skill; `tokens` counts it, 0 until someone asks. `loaded` says whether it is
    still in the conversation, `partial` that only its beginning is. `has_blocks` says that the
    model received content blocks beside the text.
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
    """Every activation of a conversation, oldest first."""

    entries: tuple[LedgerEntry, ...] = ()

    def record(self, entry: LedgerEntry) -> Ledger:
        """The ledger with one more activation; earlier ones of the same skill lose their text."""
        # Only the latest text of a skill is ever given back, so the others need not be kept.
        entries = [_without_text(old) if old.name == entry.name else old for old in self.entries]
        return Ledger((*entries, entry))

    def count(self, count: Callable[[str], int]) -> Ledger:
        """The ledger with the tokens of every text that was not counted yet."""
        if not any(_is_uncounted(entry) for entry in self.entries):
            return self
        return Ledger(tuple(_count_tokens(entry, count) for entry in self.entries))

    def find(self, name: str) -> LedgerEntry | None:
        """The latest activation of a skill that is still in the conversation."""
        for entry in reversed(self.entries):
            if entry.name == name and entry.loaded:
                return entry
        return None

    def is_loaded(self, name: str, digest: str, *, arguments: str | None = None) -> bool:
        """Whether all of a skill is loaded, in this version and, if given, with these arguments."""
        entry = self.find(name)
        if entry is None or entry.partial:
            return False
        is_same_version = entry.digest == digest
        has_same_arguments = arguments is None or entry.arguments == arguments
        return is_same_version and has_same_arguments

    @property
    def loaded(self) -> tuple[LedgerEntry, ...]:
        """The latest activation of each skill that is still in the conversation, newest first."""
        return tuple(self._list_latest())

    def forget(self, *names: str) -> Ledger:
        """The ledger after these skills left the conversation; without names, after all of them.

        The entries stay, without their text.
        """
        if not names:
            return Ledger(tuple(map(_unload, self.entries)))
        entries = [_unload(entry) if entry.name in names else entry for entry in self.entries]
        return Ledger(tuple(entries))

    def replace(self, entry: LedgerEntry) -> Ledger:
        """The ledger with an entry in place of the latest loaded one of the same skill."""
        loaded = {old.name: index for index, old in enumerate(self.entries) if old.loaded}
        index = loaded.get(entry.name)
        if index is None:
            return self.record(entry)
        return Ledger((*self.entries[:index], entry, *self.entries[index + 1 :]))

    def _list_latest(self) -> Iterator[LedgerEntry]:
        seen: set[str] = set()
        for entry in reversed(self.entries):
            if entry.loaded and entry.name not in seen:
                seen.add(entry.name)
                yield entry


def _without_text(entry: LedgerEntry) -> LedgerEntry:
    return msgspec.structs.replace(entry, text="") if entry.text else entry


def _unload(entry: LedgerEntry) -> LedgerEntry:
    return msgspec.structs.replace(_without_text(entry), loaded=False, partial=False)


def _is_uncounted(entry: LedgerEntry) -> bool:
    return bool(entry.text) and not entry.tokens


def _count_tokens(entry: LedgerEntry, count: Callable[[str], int]) -> LedgerEntry:
    if not _is_uncounted(entry):
        return entry
    return msgspec.structs.replace(entry, tokens=count(entry.text))


class LedgerRecorder:
    """A ledger that grows in place, so that an activation costs the same in a long conversation.

    It may be used by several threads; `lock` is for those who change `ledger` in several steps.
    Counting tokens takes longer than loading a skill and few ask for it, so a text is counted when
    `ledger` is asked for, or before it is dropped.
    """

    def __init__(self, ledger: Ledger, *, count: Callable[[str], int]) -> None:
        self._count = count
        self.lock = threading.RLock()
        self._entries: list[LedgerEntry] = []
        self._latest: dict[str, int] = {}
        self.ledger = ledger

    @property
    def ledger(self) -> Ledger:
        """Everything recorded so far, with token counts."""
        with self.lock:
            counted = Ledger(tuple(self._entries)).count(self._count)
            self._entries[:] = counted.entries
            return counted

    @ledger.setter
    def ledger(self, ledger: Ledger) -> None:
        with self.lock:
            self._entries = list(ledger.entries)
            self._latest = {entry.name: index for index, entry in enumerate(self._entries)}

    def record(self, entry: LedgerEntry) -> None:
        """Add an activation, as `Ledger.record` does."""
        with self.lock:
            earlier = self._latest.get(entry.name)
            if earlier is not None:
                # Counted now, because the text is dropped.
                old = _count_tokens(self._entries[earlier], self._count)
                self._entries[earlier] = _without_text(old)
            self._latest[entry.name] = len(self._entries)
            self._entries.append(entry)

    def find(self, name: str) -> LedgerEntry | None:
        """The latest activation of a skill, if it is still in the conversation."""
        with self.lock:
            index = self._latest.get(name)
            if index is None:
                return None
            entry = self._entries[index]
        return entry if entry.loaded else None

    def find_all(self, name: str) -> tuple[LedgerEntry, ...]:
        """Every activation of a skill that is still in the conversation, oldest first."""
        with self.lock:
            if name not in self._latest:
                return ()
            return tuple(entry for entry in self._entries if entry.loaded and entry.name == name)


def digest_activation(name: str, *, digest: str, location: str, arguments: str) -> str:
    """32 hex digits: 16 for one version of a skill at one place, 16 for that and its arguments."""
    parts = (name, digest, location)
    return digest_parts(*parts) + digest_parts(*parts, arguments)


def is_any_loaded(loaded: Iterable[str], name: str, *, digest: str, location: str) -> bool:
    """Whether a version of a skill is among the loaded ones, whatever its arguments were."""
    start = digest_parts(name, digest, location)
    return any(version.startswith(start) for version in loaded)


def digest_parts(*parts: str) -> str:
    """16 hex digits that stand for these texts."""
    # Lengths keep parts apart: no value can pretend to be the end of another.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def render_ledger(ledger: Ledger) -> str:
    """A ledger as JSON text; names and paths that are not valid Unicode survive."""
    import json

    data = {"version": VERSION, "entries": msgspec.to_builtins(ledger.entries)}
    return json.dumps(data, indent=1) + "\n"


def parse_ledger(text: str, *, file: str | None = None) -> tuple[Ledger, tuple[Diagnostic, ...]]:
    """A ledger from JSON text; what cannot be used is left out with a diagnostic.

    Unknown keys are ignored.
    """
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Ledger(), (_diagnose_unusable("it is not JSON", file),)
    saved = data.get("entries") if isinstance(data, dict) else None
    if not isinstance(saved, list):
        return Ledger(), (_diagnose_unusable("it has no list of `entries`", file),)
    version = data.get("version")
    if version != VERSION:
        problem = f"its version is {version!r}; only version {VERSION} is supported"
        return Ledger(), (_diagnose_unusable(problem, file),)
    entries = tuple(filter(None, map(_parse_entry, saved)))
    lost = len(saved) - len(entries)
    if not lost:
        return Ledger(entries), ()
    return Ledger(entries), (_diagnose_lost(lost, file),)


def _parse_entry(data: Any) -> LedgerEntry | None:
    try:
        return msgspec.convert(data, LedgerEntry)
    except msgspec.ValidationError:
        # `parse_ledger` reports how many are lost.
        return None


def _diagnose_unusable(reason: str, file: str | None) -> Diagnostic:
    message = f"The saved conversation cannot be used: {reason}. All skills count as not loaded."
    return diagnose("state-unreadable", message, file=file)


def _diagnose_lost(count: int, file: str | None) -> Diagnostic:
    what = "1 entry" if count == 1 else f"{count} entries"
    message = (
        f"{what} of the saved conversation cannot be read; the skills in them count as not loaded."
    )
    return diagnose("state-unreadable", message, file=file)
