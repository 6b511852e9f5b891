"""Who gets the room when not everything fits: one function per strategy, by the word that profiles
use.

Each gives a choice for every skill, in the order of the catalog. More room never means less of any
skill: a strategy that hands out text follows one fixed order and stops where the room ends, so that
a large text blocks what comes after it instead of being overtaken by a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prowess.present.budget import (
    Choice,
    LineBudget,
    cut_at_sentence,
    cut_with_dots,
    cut_with_ellipsis,
)

Strategy = Callable[[LineBudget], list[Choice]]


def show_everything(sheet: LineBudget) -> list[Choice]:
    """No budget: every skill with as much text as the host shows of one."""
    return [sheet.show(place) for place in sheet.places]


def share_evenly(sheet: LineBudget) -> list[Choice]:
    """Claude Code as documented: bundled skills whole, an even share for each of the others, or
    their names.
    """
    if sheet.room is None or sheet.whole_fits():
        return show_everything(sheet)
    others = [place for place in sheet.places if not sheet.items[place].bundled]
    fixed = sum(
        sheet.cost(place, sheet.text(place)) for place in sheet.places if sheet.items[place].bundled
    )
    left = sheet.room - fixed - sum(sheet.cost(place, "") for place in others)
    share = left // len(others) if others else 0
    cuts = {place: _cut_to_cost(sheet, place, share) for place in others}
    return [sheet.show(place, cuts.get(place)) for place in sheet.places]


def _cut_to_cost(sheet: LineBudget, place: int, share: int) -> str:
    """As much of a text as costs no more than its share; nothing where that would be less than is
    worth it.
    """
    text, bare = sheet.text(place), sheet.cost(place, "")
    most = _largest(
        0, len(text), lambda most: sheet.cost(place, cut_with_ellipsis(text, most)) - bare <= share
    )
    return (
        cut_with_ellipsis(text, most) if most >= min(len(text), sheet.rules.least_per_item) else ""
    )


def keep_most_used(sheet: LineBudget) -> list[Choice]:
    """Claude Code as released: all names, bundled skills whole, then whole texts by how often a
    skill is used.
    """
    if sheet.room is None:
        return show_everything(sheet)
    items, kept = sheet.items, {place for place in sheet.places if sheet.items[place].bundled}
    left = sheet.room - sum(
        sheet.cost(place, sheet.text(place) if place in kept else "") for place in sheet.places
    )
    for place in sorted(
        (place for place in sheet.places if place not in kept), key=lambda place: -items[place].uses
    ):
        if left <= 0:
            break
        left -= sheet.cost(place, sheet.text(place)) - sheet.cost(place, "")
        if left >= 0:
            kept.add(place)
    return [
        sheet.show(place) if place in kept else sheet.show_name(place) for place in sheet.places
    ]


def climb_down(sheet: LineBudget) -> list[Choice]:
    """OpenClaw: everything; else an equal bound for each text; else names; else the first names
    that fit.
    """
    if sheet.whole_fits():
        return show_everything(sheet)
    if not sheet.fits(sheet.cost(place, "") for place in sheet.places):
        return _first_names(sheet, sheet.places)
    least, most = sheet.rules.least_per_item, sheet.rules.most_per_item

    def fits(bound: int) -> bool:
        return sheet.fits(
            sheet.cost(place, cut_with_dots(sheet.text(place), bound)) for place in sheet.places
        )

    bound = _largest(least - 1, most, fits)
    if bound < least:
        return [sheet.show_name(place) for place in sheet.places]
    return [sheet.show(place, cut_with_dots(sheet.text(place), bound)) for place in sheet.places]


def deal_in_turn(sheet: LineBudget) -> list[Choice]:
    """Codex: a character for each text in turn until the room is used up; names that do not fit are
    left out.
    """
    if not sheet.fits(sheet.cost(place, "") for place in sheet.places):
        return _first_names(sheet, sheet.places)
    if sheet.room is None or sheet.whole_fits():
        return show_everything(sheet)

    def fits(bound: int) -> bool:
        return sheet.fits(sheet.cost(place, sheet.text(place)[:bound]) for place in sheet.places)

    bound = _largest(0, max(len(sheet.text(place)) for place in sheet.places), fits)
    dealt = [sheet.text(place)[:bound] for place in sheet.places]
    left = sheet.room - sum(sheet.cost(place, text) for place, text in enumerate(dealt))
    for place in sheet.places:
        one_more = sheet.text(place)[: bound + 1]
        left -= sheet.cost(place, one_more) - sheet.cost(place, dealt[place])
        if left < 0:
            break
        dealt[place] = one_more
    return [sheet.show(place, text) for place, text in enumerate(dealt)]


def prefer_relevant(sheet: LineBudget) -> list[Choice]:
    """Prowess: all names; then whole texts for what is known to matter; then first sentences, then
    whole texts.

    What matters is what a ranker found relevant to the request, or what was used before. Among
    skills of which nothing is known each gets its first sentence before any is shown whole.
    """
    if sheet.room is None:
        return show_everything(sheet)
    ranked = _rank(sheet)
    if not sheet.fits(sheet.cost(place, "") for place in sheet.places):
        return _first_names(sheet, ranked)
    left = sheet.room - sum(sheet.cost(place, "") for place in sheet.places)
    texts: dict[int, str] = {}
    for place, text in _steps(sheet, ranked):
        left -= sheet.cost(place, text) - sheet.cost(place, texts.get(place, ""))
        if left < 0:
            break
        texts[place] = text
    return [
        sheet.show(place, texts[place]) if place in texts else sheet.show_name(place)
        for place in sheet.places
    ]


def _rank(sheet: LineBudget) -> list[int]:
    """The places, most relevant first, then most used, then in their order; what nobody ranked
    comes last.
    """

    def rank(place: int) -> tuple[float, int]:
        item = sheet.items[place]
        score = item.relevance
        # A score that is not a number does not even equal itself.
        return (-score if score is not None and score == score else float("inf"), -item.uses)

    return sorted(sheet.places, key=rank)


def _steps(sheet: LineBudget, ranked: Iterable[int]) -> Iterable[tuple[int, str]]:
    """What is handed out, in order: a place and the text it then has."""
    unknown = []
    for place in ranked:
        item = sheet.items[place]
        if item.uses > 0 or (item.relevance or 0) > 0:
            yield place, _first_sentence(sheet, place)
            yield place, sheet.text(place)
        else:
            unknown.append(place)
    for place in unknown:
        yield place, _first_sentence(sheet, place)
    for place in unknown:
        yield place, sheet.text(place)


def _first_sentence(sheet: LineBudget, place: int) -> str:
    text = sheet.text(place)
    sentence = cut_at_sentence(text, sheet.rules.sentence)
    return sentence if len(sentence) < len(text) else text


def _first_names(sheet: LineBudget, ranked: Iterable[int]) -> list[Choice]:
    """The names that fit, first come first served; the others are left out."""
    choices = [sheet.leave_out()] * len(sheet.items)
    left = sheet.room or 0
    for place in ranked:
        left -= sheet.cost(place, "")
        if left < 0:
            break
        choices[place] = sheet.show_name(place)
    return choices


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest bound above `low` and up to `high` that fits; `low` where none does. Larger ones
    cost more.
    """
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


STRATEGIES: dict[str, Strategy] = {
    "none": show_everything,
    "prowess": prefer_relevant,
    "claude-even": share_evenly,
    "claude-usage": keep_most_used,
    "openclaw-ladder": climb_down,
    "round-robin": deal_in_turn,
}
