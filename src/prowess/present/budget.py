"""How much room a catalog has: from the profile's numbers, the context window, or a number that was
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.errors import InvalidWindow
from prowess.model.catalog import CatalogItem, Shown
from prowess.profiles.schema.catalog import BudgetRules

# A share such as 0.07 has no exact binary form; a hair more keeps 7 % of 100 at 7.
_HAIR = 1e-6


def find_budget(rules: BudgetRules, *, window: int | None, asked: int | None = None) -> int | None:
    """The room in the host's units; None where there is no bound. `window` is in tokens, None where
    not known.
    """
    if window is not None and window <= 0:
        raise InvalidWindow(window)
    if asked is not None:
        return asked
    bounds = [rules.characters] if rules.characters else []
    if window is None and rules.without_window:
        bounds.append(rules.without_window)
    elif window is not None and rules.share:
        bounds.append(int(window * rules.share * rules.characters_per_token + _HAIR))
    return min(bounds, default=None)


def count_utf16(text: str) -> int:
    """The length of a text in UTF-16 units, as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


MEASURES: dict[str, Callable[[str], int]] = {"characters": len, "utf16": count_utf16}


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
# Shorter ones are mere words or abbreviations; a character of Chinese or Japanese says as much as a
# word.
_LEAST_SENTENCE = 40
_LEAST_WIDE_SENTENCE = 12


def cut_with_ellipsis(text: str, most: int) -> str:
    """At most so many characters, the last of them `…` where anything was cut."""
    return _cut_with_mark(text, most, "…")


def cut_with_dots(text: str, most: int) -> str:
    """At most so many characters, the last three of them `...` where anything was cut."""
    return _cut_with_mark(text, most, "...")


def _cut_with_mark(text: str, most: int, mark: str) -> str:
    if len(text) <= most:
        return text
    return text[: most - len(mark)] + mark if most >= len(mark) else ""


def cut_at_sentence(text: str, most: int) -> str:
    """The first sentence, where it is neither a mere word nor too long; else what fits, cut at a
    word.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    for end in _SENTENCE_END.finditer(line, 0, most):
        if end.end() >= (_LEAST_SENTENCE if end[0].isascii() else _LEAST_WIDE_SENTENCE):
            return line[: end.end()]
    words, _, _ = line[:most].rpartition(" ")
    return (words or line[: most - 1]).rstrip() + "…"


CUTS: dict[str, Callable[[str, int], str]] = {
    "ellipsis": cut_with_ellipsis,
    "dots": cut_with_dots,
    "sentence": cut_at_sentence,
}


class Choice(msgspec.Struct, frozen=True, gc=False):
    """What was decided for one skill: how much is shown, which text, and why not more.

    `lost` says that a budget or a limit kept something from the model that there is to show.
    """

    shown: Shown
    text: str = ""
    why: str | None = None
    lost: bool = False


class LineBudget:
    """The skills in the order of the catalog, each known by its place.

    `read` gives a skill's whole text, tidied; `measure` the cost of a line with so much of it, with
    what joins it to the next. Texts are read when a strategy asks for them: with thousands of
    skills it asks for few.
    """

    def __init__(
        self,
        items: Sequence[CatalogItem],
        *,
        rules: BudgetRules,
        room: int | None,
        read: Callable[[CatalogItem], str],
        measure: Callable[[CatalogItem, str], int],
    ) -> None:
        self.items = items
        self.rules = rules
        self.room = room
        self._read = read
        self._measure = measure
        self._wholes: dict[int, str] = {}
        self._texts: dict[int, str] = {}

    @property
    def places(self) -> range:
        """The place of every skill, in the order of the catalog."""
        return range(len(self.items))

    def whole(self, place: int) -> str:
        """All that there is to say of a skill; nothing where the settings allow its name only."""
        if place not in self._wholes:
            item = self.items[place]
            self._wholes[place] = "" if item.name_only else self._read(item)
        return self._wholes[place]

    def text(self, place: int) -> str:
        """As much of it as the host shows of any one skill."""
        if place not in self._texts:
            rules, whole = self.rules, self.whole(place)
            capped = rules.per_item and (rules.cap_bundled or not self.items[place].bundled)
            self._texts[place] = CUTS[rules.cut](whole, rules.per_item) if capped else whole
        return self._texts[place]

    def cost(self, place: int, text: str) -> int:
        """What a line with this text takes of the room."""
        return self._measure(self.items[place], text)

    def fits(self, costs: Iterable[int]) -> bool:
        """Whether so many costs fit into the room together; stops to look where they do not."""
        if self.room is None:
            return True
        total = 0
        for cost in costs:
            total += cost
            if total > self.room:
                return False
        return True

    def whole_fits(self) -> bool:
        """Whether every skill can be shown with all its text."""
        return self.fits(self.cost(place, self.text(place)) for place in self.places)

    def show(self, place: int, text: str | None = None) -> Choice:
        """A skill with a text, or with all that the host shows of it."""
        shown = self.text(place) if text is None else text
        whole = self.whole(place)
        if shown == whole:
            return (
                Choice(Shown.WHOLE, shown)
                if whole
                else Choice(Shown.NAME_ONLY, why=self._silence(place))
            )
        why = (
            self._used_up()
            if text is not None and shown != self.text(place)
            else self._capped(place)
        )
        return Choice(Shown.SHORTENED if shown else Shown.NAME_ONLY, shown, why, lost=True)

    def show_name(self, place: int) -> Choice:
        """A skill of which only the name fits."""
        item = self.items[place]
        silent = item.name_only or (not item.description.strip() and not self.whole(place))
        return Choice(
            Shown.NAME_ONLY,
            why=self._silence(place) if silent else self._used_up(),
            lost=not silent,
        )

    def leave_out(self) -> Choice:
        """A skill whose name does not fit either."""
        return Choice(
            Shown.LEFT_OUT, why=f"the names before it use up {self._room_in_words()}", lost=True
        )

    def _silence(self, place: int) -> str:
        return (
            "the settings show its name only"
            if self.items[place].name_only
            else "it has no description"
        )

    def _used_up(self) -> str:
        return f"its whole text has no room in {self._room_in_words()}"

    def _room_in_words(self) -> str:
        return f"the {max(self.room or 0, 0):,} characters that the lines of all skills share"

    def _capped(self, place: int) -> str:
        length, most = len(self.whole(place)), self.rules.per_item
        return f"its text has {length:,} characters; at most {most:,} are shown of a skill"
