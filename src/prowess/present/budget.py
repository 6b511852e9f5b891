"""The room a catalog has, how texts are shortened to fit, and what each line costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.errors import InvalidWindow
from prowess.model.catalog import CatalogItem, Shown
from prowess.profiles.schema.catalog import BudgetRules
from prowess.text.utf16 import count_utf16, take_utf16

# A share such as 0.07 has no exact binary form; this keeps 7 % of 100 at 7.
_ROUNDING = 1e-6
# More than any model has; what is larger than a float can hold could not be multiplied by one.
_MOST_WINDOW = 1 << 53

_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
# Anything shorter is a mere word or an abbreviation. A character of Chinese or Japanese says as
# much as a word.
_LEAST_SENTENCE = 40
_LEAST_WIDE_SENTENCE = 12


def find_budget(rules: BudgetRules, *, window: int | None, asked: int | None = None) -> int | None:
    """The room in the host's units; None if there is no bound.

    `window` is the context window in tokens, None if unknown; `asked` replaces the host's numbers.
    """
    if window is not None and window <= 0:
        raise InvalidWindow(window)
    if asked is not None:
        return asked
    # Codex's `max_context_tokens`, which has an upper bound of its own.
    if rules.tokens:
        tokens = min(rules.tokens, rules.most_tokens or rules.tokens)
        return int(tokens * rules.characters_per_token)
    # In the rules 0 means that there is no such bound; as a result it means that nothing fits.
    by_window = _find_window_bound(rules, window or rules.window)
    if by_window is None:
        return rules.characters or None
    return min(by_window, rules.characters or by_window)


def _find_window_bound(rules: BudgetRules, window: int) -> int | None:
    """The room that a context window of so many tokens leaves; None if it sets no bound."""
    if not window:
        return rules.without_window or None
    if not rules.share:
        return None
    return int(min(window, _MOST_WINDOW) * rules.share * rules.characters_per_token + _ROUNDING)


def count_bytes_in_fours(text: str) -> int:
    """The bytes of a text, rounded up to four: the size of an estimated token."""
    return -(-len(text.encode("utf-8", "replace")) // 4) * 4


# Hosts in JavaScript count UTF-16 units without knowing it; Codex estimates tokens of four bytes.
MEASURES: dict[str, Callable[[str], int]] = {
    "characters": len,
    "utf16": count_utf16,
    "bytes4": count_bytes_in_fours,
}


def cut_with_ellipsis(text: str, most: int) -> str:
    """At most `most` characters, the last of them `…` if anything was cut."""
    return _cut_with_mark(text, most, "…")


def cut_with_dots(text: str, most: int) -> str:
    """At most `most` characters, the last three of them `...` if anything was cut."""
    return _cut_with_mark(text, most, "...")


def _cut_with_mark(text: str, most: int, mark: str) -> str:
    if len(text) <= most:
        return text
    kept = most - len(mark)
    return text[:kept] + mark if kept >= 0 else ""


def cut_utf16(text: str, most: int) -> str:
    """At most `most` UTF-16 units, the last of them `…` if anything was cut."""
    return text if count_utf16(text) <= most else take_utf16(text, most - 1) + "…"


def cut_at_sentence(text: str, most: int) -> str:
    """The first sentence if it is a real one and fits; otherwise what fits, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    for end in _SENTENCE_END.finditer(line, 0, most):
        least = _LEAST_SENTENCE if end[0].isascii() else _LEAST_WIDE_SENTENCE
        if end.end() >= least:
            return line[: end.end()]
    words, _, _ = line[:most].rpartition(" ")
    fitting = words or line[: most - 1]
    return fitting.rstrip() + "…"


CUTS: dict[str, Callable[[str, int], str]] = {
    "ellipsis": cut_with_ellipsis,
    "dots": cut_with_dots,
    "sentence": cut_at_sentence,
}


class Choice(msgspec.Struct, frozen=True, gc=False):
    """What was decided for one skill: how much is shown, which text, and why not more.

    `lost` says that a budget or a limit keeps something from the model.
    """

    shown: Shown
    text: str = ""
    why: str | None = None
    lost: bool = False


class LineBudget:
    """The lines of a catalog and the room they share; a strategy decides what each one shows.

    Skills are known by their index in the catalog. `read` returns a skill's whole text, tidied;
    `measure` returns the cost of its line with a text, including what joins it to the next line.
    Texts are read when a strategy asks for them: with thousands of skills it asks for few.
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
        self._names: dict[int, int] = {}
        self._wholes: dict[int, str] = {}
        self._texts: dict[int, str] = {}

    @property
    def indexes(self) -> range:
        """The index of every skill, in the order of the catalog."""
        return range(len(self.items))

    def whole(self, index: int) -> str:
        """Everything there is to say about a skill; nothing if only its name may be shown."""
        if index not in self._wholes:
            item = self.items[index]
            self._wholes[index] = "" if item.name_only else self._read(item)
        return self._wholes[index]

    def text(self, index: int) -> str:
        """As much of it as the host shows of any one skill."""
        if index not in self._texts:
            self._texts[index] = self._cap(self.items[index], self.whole(index))
        return self._texts[index]

    def _cap(self, item: CatalogItem, whole: str) -> str:
        rules = self.rules
        # Claude Code is documented to show bundled skills whole; the release cuts them, too.
        is_exempt = item.bundled and not rules.cap_bundled
        if is_exempt or not rules.per_item:
            return whole
        # A text of ASCII has as many UTF-16 units as characters, and can be cut faster.
        if rules.units == "utf16" and not whole.isascii():
            return cut_utf16(whole, rules.per_item)
        return CUTS[rules.cut](whole, rules.per_item)

    def cost(self, index: int, text: str = "") -> int:
        """What a skill's line with this text takes up; without a text, what its name does."""
        if text:
            return self._measure(self.items[index], text)
        if index not in self._names:
            self._names[index] = self._measure(self.items[index], "")
        return self._names[index]

    def cost_of_text(self, index: int, text: str) -> int:
        """What a text takes up beyond the name."""
        return self.cost(index, text) - self.cost(index)

    def cost_of_names(self) -> int:
        """What all names take up together."""
        return sum(self.cost(index) for index in self.indexes)

    def fits(self, costs: Iterable[int]) -> bool:
        """Whether these costs fit together; stops counting once they do not."""
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
        return self.fits(self.cost(index, self.text(index)) for index in self.indexes)

    def names_fit(self) -> bool:
        """Whether every skill can be listed at least by name."""
        return self.fits(self.cost(index) for index in self.indexes)

    def show(self, index: int, text: str | None = None) -> Choice:
        """A skill with a text, or with everything that the host shows of one."""
        allowed = self.text(index)
        shown = allowed if text is None else text
        whole = self.whole(index)
        if not whole:
            return self._show_no_text(index)
        if shown == whole:
            return Choice(Shown.WHOLE, shown)
        why = self._say_capped(index) if shown == allowed else self._say_full()
        how = Shown.SHORTENED if shown else Shown.NAME_ONLY
        return Choice(how, shown, why, lost=True)

    def show_name(self, index: int) -> Choice:
        """A skill of which only the name fits."""
        item = self.items[index]
        if item.name_only:
            return self._show_no_text(index)
        # The whole text comes last: reading and tidying it for thousands of skills takes long.
        has_text = item.description.strip() or self.whole(index)
        if not has_text:
            return self._show_no_text(index)
        return Choice(Shown.NAME_ONLY, why=self._say_full(), lost=True)

    def leave_out(self) -> Choice:
        """A skill whose name does not fit either."""
        why = f"the names before it fill {self._say_room()}"
        return Choice(Shown.LEFT_OUT, why=why, lost=True)

    def _show_no_text(self, index: int) -> Choice:
        by_settings = self.items[index].name_only
        why = "the settings show only its name" if by_settings else "it has no description"
        return Choice(Shown.NAME_ONLY, why=why)

    def _say_full(self) -> str:
        return f"its full text does not fit in {self._say_room()}"

    def _say_room(self) -> str:
        return f"the {max(self.room or 0, 0):,} characters that all skills share"

    def _say_capped(self, index: int) -> str:
        length, most = len(self.whole(index)), self.rules.per_item
        return f"its text has {length:,} characters; at most {most:,} are shown per skill"
