"""Who gets the room when not everything fits: one function per strategy, by its word in profiles.

Each returns a choice for every skill, in the order of the catalog. Except for `claude-usage`, which
does as the host does, more room never means less of any skill: a strategy that hands out text
follows one fixed order and stops where the room ends, so that a large text blocks what comes after
it instead of being overtaken by a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prowess.present.budget import (
    Choice,
    LineBudget,
    cut_at_sentence,
    cut_with_dots,
    cut_with_ellipsis,
)

Strategy = Callable[[LineBudget], list[Choice]]


def show_everything(lines: LineBudget) -> list[Choice]:
    """No budget: every skill with as much text as the host shows of one."""
    return [lines.show(index) for index in lines.indexes]


def share_evenly(lines: LineBudget) -> list[Choice]:
    """Claude Code as documented: bundled skills whole, an even share for each of the others.

    If a share is too small to be worth it, the others are listed by name.
    """
    if lines.room is None or lines.whole_fits():
        return show_everything(lines)
    bundled, others = _split_bundled(lines)
    left = lines.room
    left -= sum(lines.cost(index) for index in others)
    left -= sum(lines.cost(index, lines.text(index)) for index in bundled)
    share = left // max(len(others), 1)
    cuts = {index: _cut_to_cost(lines, index, share) for index in others}
    return [lines.show(index, cuts.get(index)) for index in lines.indexes]


def _split_bundled(lines: LineBudget) -> tuple[list[int], list[int]]:
    bundled: list[int] = []
    others: list[int] = []
    for index in lines.indexes:
        group = bundled if lines.items[index].bundled else others
        group.append(index)
    return bundled, others


def _cut_to_cost(lines: LineBudget, index: int, share: int) -> str:
    """As much of a text as its share pays for; nothing if that is too little to be worth it."""
    text = lines.text(index)

    def fits(most: int) -> bool:
        return lines.cost_of_text(index, cut_with_ellipsis(text, most)) <= share

    most = _find_largest(0, len(text), fits)
    is_worth_it = most >= min(len(text), lines.rules.least_per_item)
    return cut_with_ellipsis(text, most) if is_worth_it else ""


def keep_most_used(lines: LineBudget) -> list[Choice]:
    """Claude Code as released: all names, bundled skills whole, then whole texts by use."""
    if lines.room is None:
        return show_everything(lines)
    bundled, others = _split_bundled(lines)
    # Names and bundled skills stay even over the budget; then nothing is left for the others.
    left = lines.room - lines.cost_of_names()
    left -= sum(lines.cost_of_text(index, lines.text(index)) for index in bundled)
    kept = set(bundled)
    for index in sorted(others, key=lambda index: -lines.items[index].uses):
        cost = lines.cost_of_text(index, lines.text(index))
        # The host passes over a text that does not fit, and gives the room to a shorter one.
        if cost <= left:
            left -= cost
            kept.add(index)
    return [
        lines.show(index) if index in kept else lines.show_name(index) for index in lines.indexes
    ]


def climb_down(lines: LineBudget) -> list[Choice]:
    """OpenClaw: everything; else an equal bound for each text; else names; else the first names."""
    if lines.whole_fits():
        return show_everything(lines)
    if not lines.names_fit():
        return _list_first_names(lines, lines.indexes)

    def cut(index: int, bound: int) -> str:
        return cut_with_dots(lines.text(index), bound)

    def fits(bound: int) -> bool:
        return lines.fits(lines.cost(index, cut(index, bound)) for index in lines.indexes)

    # Searched and not computed: how much a text grows by escaping differs from text to text.
    least = lines.rules.least_per_item
    bound = _find_largest(least - 1, lines.rules.most_per_item, fits)
    if bound < least:
        return [lines.show_name(index) for index in lines.indexes]
    return [lines.show(index, cut(index, bound)) for index in lines.indexes]


def deal_in_turn(lines: LineBudget) -> list[Choice]:
    """Codex: a character for each text in turn until the room is full; all names come first."""
    if not lines.names_fit():
        return _list_first_names(lines, lines.indexes)
    if lines.room is None or lines.whole_fits():
        return show_everything(lines)

    def fits(bound: int) -> bool:
        return lines.fits(lines.cost(index, lines.text(index)[:bound]) for index in lines.indexes)

    # The rounds in which everyone still gets a character need not be played one by one.
    longest = max(len(lines.text(index)) for index in lines.indexes)
    bound = _find_largest(0, longest, fits)
    dealt = [lines.text(index)[:bound] for index in lines.indexes]
    left = lines.room - sum(lines.cost(index, text) for index, text in enumerate(dealt))
    _deal_rest(lines, dealt, left)
    return [lines.show(index, text) for index, text in enumerate(dealt)]


def _deal_rest(lines: LineBudget, dealt: list[str], left: int) -> None:
    """Deal the last rounds, until no text can take one more character.

    Where lines are rounded up, some characters cost nothing even when the room is full.
    """
    growing = list(lines.indexes)
    while growing:
        grown = []
        for index in growing:
            text = lines.text(index)
            one_more = text[: len(dealt[index]) + 1]
            if one_more == dealt[index]:
                continue
            cost = lines.cost(index, one_more) - lines.cost(index, dealt[index])
            if cost <= left:
                left -= cost
                dealt[index] = one_more
                grown.append(index)
        growing = grown


def prefer_relevant(lines: LineBudget) -> list[Choice]:
    """Prowess: all names, whole bundled skills, texts of what matters, first sentences, the rest.

    What ships is never cut for the sake of others. What matters is what a ranker finds relevant to
    the request, or what was used before. Among skills of which nothing is known each gets its first
    sentence before any is shown whole.
    """
    if lines.room is None:
        return show_everything(lines)
    ranked = _rank(lines)
    if not lines.names_fit():
        return _list_first_names(lines, ranked)
    left = lines.room - lines.cost_of_names()
    texts: dict[int, str] = {}
    for index, text in _list_steps(lines, ranked):
        left -= lines.cost(index, text) - lines.cost(index, texts.get(index, ""))
        if left < 0:
            break
        texts[index] = text
    return [
        lines.show(index, texts[index]) if index in texts else lines.show_name(index)
        for index in lines.indexes
    ]


def show_whole_then_names(lines: LineBudget) -> list[Choice]:
    """Copilot: whole entries, first come, first served, then names, which have room of their own.

    An entry is never shortened, and after the first that does not fit all others are names.
    """
    if lines.room is None:
        return show_everything(lines)
    left, room_for_names = lines.room, lines.rules.names
    choices: list[Choice] = []
    for index in lines.indexes:
        if left >= 0:
            left -= lines.cost(index, lines.text(index))
        if left >= 0:
            choices.append(lines.show(index))
            continue
        room_for_names -= len(lines.items[index].name) + len(", ")
        fits = room_for_names >= 0
        choices.append(lines.show_name(index) if fits else lines.leave_out())
    return choices


def keep_first_lines(lines: LineBudget) -> list[Choice]:
    """Qwen Code: everything; else the first line of each description. Nothing is left out."""
    if lines.whole_fits():
        return show_everything(lines)
    return [lines.show(index, _find_first_line(lines, index)) for index in lines.indexes]


def _find_first_line(lines: LineBudget, index: int) -> str | None:
    item = lines.items[index]
    if item.bundled:
        return None
    # Of the description alone: the text may go on with `when_to_use` on the same line.
    first = item.description.strip().partition("\n")[0].rstrip()
    # What is not the beginning of the text was tidied; then the text's own first line counts.
    text = lines.text(index)
    return first if text.startswith(first) else text.partition("\n")[0]


def _rank(lines: LineBudget) -> list[int]:
    """Bundled ones, then the most relevant, the most used, and as listed; unranked ones last.

    Sorting is stable, which leaves equal ones in the order of the catalog.
    """

    def rank(index: int) -> tuple[bool, float, int]:
        item = lines.items[index]
        score = item.relevance
        # NaN, which does not equal itself, would leave the order to chance.
        if score is None or score != score:
            score = float("-inf")
        return not item.bundled, -score, -item.uses

    return sorted(lines.indexes, key=rank)


def _list_steps(lines: LineBudget, ranked: Iterable[int]) -> Iterator[tuple[int, str]]:
    """What is handed out, in order: an index and the text it then has."""
    unknown = []
    for index in ranked:
        item = lines.items[index]
        is_relevant = (item.relevance or 0) > 0
        if item.bundled:
            yield index, lines.text(index)
        elif item.uses > 0 or is_relevant:
            yield index, _find_first_sentence(lines, index)
            yield index, lines.text(index)
        else:
            unknown.append(index)
    for index in unknown:
        yield index, _find_first_sentence(lines, index)
    for index in unknown:
        yield index, lines.text(index)


def _find_first_sentence(lines: LineBudget, index: int) -> str:
    text = lines.text(index)
    sentence = cut_at_sentence(text, lines.rules.sentence)
    return sentence if len(sentence) < len(text) else text


def _list_first_names(lines: LineBudget, ranked: Iterable[int]) -> list[Choice]:
    """The names that fit, first come, first served; the others are left out."""
    choices = [lines.leave_out()] * len(lines.items)
    left = lines.room or 0
    for index in ranked:
        left -= lines.cost(index)
        if left < 0:
            break
        choices[index] = lines.show_name(index)
    return choices


def _find_largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest bound above `low` and up to `high` that fits; `low` if none does.

    A larger bound must never cost less.
    """
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


STRATEGIES: dict[str, Strategy] = {
    "none": show_everything,
    "prowess": prefer_relevant,
    "claude-even": share_evenly,
    "claude-usage": keep_most_used,
    "openclaw-ladder": climb_down,
    "round-robin": deal_in_turn,
    "whole-then-names": show_whole_then_names,
    "first-lines": keep_first_lines,
}
