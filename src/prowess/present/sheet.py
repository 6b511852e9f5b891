"""What a strategy works on: the skills in their order, what each line costs, and the room there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.model.catalog import CatalogItem, Shown
from prowess.present.cuts import CUTS
from prowess.profiles.schema.offering import Budget


class Choice(msgspec.Struct, frozen=True, gc=False):
    """What was decided for one skill: how much is shown, which text, and why not more.

    `lost` says that a budget or a limit kept something from the model that there is to show.
    """

    shown: Shown
    text: str = ""
    why: str | None = None
    lost: bool = False


class Sheet:
    """The skills in the order of the catalog, each known by its place.

    `read` gives a skill's whole text, tidied; `measure` the cost of a line with so much of it, with
    what joins it to the next. Texts are read when a strategy asks for them: with thousands of
    skills it asks for few.
    """

    def __init__(
        self,
        items: Sequence[CatalogItem],
        *,
        rules: Budget,
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
