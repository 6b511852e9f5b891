"""Which loaded skills a model gets back after its conversation was shortened."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from prowess.activate.ledger import Ledger, LedgerEntry
from prowess.model.skill import IN_MEMORY
from prowess.profiles.schema.body import CompactionRules
from prowess.text.addresses import render_address
from prowess.text.markup import tidy_path

_OPENED = re.compile(r"<([\w-]+)[\s>]")
# A short text is cut at the end of a line if one is at most so many characters back.
_NEAR = 200

Count = Callable[[str], int]
"""How many tokens a text has."""


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that is given back: its text, or a beginning that ends with where to read on."""

    name: str
    text: str
    tokens: int
    cut: bool = False


class Survival(msgspec.Struct, frozen=True):
    """The skills that are given back, newest first, and the names of those that are not."""

    kept: tuple[Survivor, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens of all of them."""
        return sum(survivor.tokens for survivor in self.kept)


def find_survivors(ledger: Ledger, rules: CompactionRules, *, count: Count) -> Survival:
    """The skills that are given back: newest first, each within its limit, all within theirs.

    Where the budget ends, everything older is dropped, so that a small old skill never displaces a
    newer one.
    """
    kept: list[Survivor] = []
    loaded = ledger.loaded
    room = rules.tokens
    for entry in loaded:
        survivor = _fit(entry, min(rules.per_skill, room), rules.least, count)
        if survivor is None:
            break
        kept.append(survivor)
        room -= survivor.tokens
    return Survival(tuple(kept), tuple(entry.name for entry in loaded[len(kept) :]))


def compact(ledger: Ledger, survival: Survival) -> Ledger:
    """The ledger after a conversation was shortened: dropped skills forgotten, cut ones partial."""
    # Without names `forget` would forget every skill.
    after = ledger.forget(*survival.dropped) if survival.dropped else ledger
    for survivor in survival.kept:
        entry = after.find(survivor.name)
        if entry is not None and survivor.cut:
            cut = msgspec.structs.replace(
                entry, text=survivor.text, tokens=survivor.tokens, partial=True
            )
            after = after.replace(cut)
    return after


def _fit(entry: LedgerEntry, most: int, least: int, count: Count) -> Survivor | None:
    whole = count(entry.text)
    if whole <= most:
        # Content blocks do not come back, so a skill that had some is no longer complete.
        return Survivor(
            name=entry.name, text=entry.text, tokens=whole, cut=entry.partial or entry.has_blocks
        )
    note = f"{_find_end(entry.text)}\n\n{_where_to_read_on(entry)}"
    if most < max(least, count(note)):
        return None
    text = _cut(entry.text, lambda beginning: count(beginning + note) <= most)
    if text is None:
        return None
    return Survivor(name=entry.name, text=text + note, tokens=count(text + note), cut=True)


def _find_end(text: str) -> str:
    """The closing tag that a cut text still needs, if its wrapping has one."""
    tag = _OPENED.match(text)
    if tag is None:
        return ""
    closing = f"</{tag[1]}>"
    return f"\n{closing}" if text.rstrip().endswith(closing) else ""


def _where_to_read_on(entry: LedgerEntry) -> str:
    if not entry.location:
        return (
            "[The rest of this skill was left out to save space. Load it again to read all of it.]"
        )
    location = tidy_path(entry.location)
    if location.startswith(f"{IN_MEMORY}/"):
        location = render_address(entry.name)
    return f"[The rest of this skill was left out to save space. Read it in {location}.]"


def _cut(text: str, fits: Callable[[str], bool]) -> str | None:
    """The longest beginning that fits, up to the end of a line if one is near; None for none."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[:middle]):
            low = middle
        else:
            high = middle - 1
    line = text.rfind("\n", max(low - max(low // 5, _NEAR), 0), low)
    end = line if line > 0 else low
    # The count need not grow with the text, so the result is checked once more.
    while not fits(text[:end].rstrip()):
        if end == 0:
            return None
        end = end * 9 // 10
    return text[:end].rstrip()
