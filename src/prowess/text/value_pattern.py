"""Patterns for the values of arguments, matched in linear time.

They come from files of strangers, and Python's `re` can take for ever on a pattern made for that.
So only a simple kind is read: a sequence of characters, `.`, classes such as `[a-z0-9-]`, `\\d`,
`\\w` and `\\s`, each with `?`, `*`, `+` or `{2,4}` after it. There are no groups and no
alternatives. A pattern always covers the whole value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MOST_CHARACTERS = 200
"""How long a pattern may be."""
MOST_IN_VALUE = 2_000
"""How long a value may be that is held against a pattern."""

_MOST_REPEATS = 300
_ITEM = re.compile(
    r"(?P<one>\\[dws]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\[dws]|\\[^A-Za-z0-9]|[^\]\\[])*\]|[^\\\[\](){}|?*+^$])"
    r"(?P<repeat>[?*+]|\{(?P<least>[0-9]{1,4})(?P<comma>,(?P<most>[0-9]{0,4}))?\})?",
    re.DOTALL,
)
_TIMES = {"": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


class PatternError(ValueError):
    """A pattern that is not of the simple kind; the message says what is wrong with it."""


class _Item(NamedTuple):
    """One character of a pattern: what it may be, whether it may be missing, or come again."""

    one: re.Pattern[str]
    is_optional: bool
    repeats: bool


class ValuePattern:
    """A pattern that was read, as a row of items. Matching walks along the row once."""

    def __init__(self, items: tuple[_Item, ...]) -> None:
        self._items = items

    def matches(self, value: str) -> bool:
        """Whether the pattern covers the whole value."""
        if len(value) > MOST_IN_VALUE:
            return False
        reached = self._skip_optional({0})
        for character in value:
            reached = self._skip_optional(self._step(reached, character))
            if not reached:
                return False
        return len(self._items) in reached

    def _step(self, reached: set[int], character: str) -> set[int]:
        """The places after one more character."""
        following = set()
        for place in reached - {len(self._items)}:
            item = self._items[place]
            if not item.one.fullmatch(character):
                continue
            following.add(place + 1)
            if item.repeats:
                following.add(place)
        return following

    def _skip_optional(self, reached: set[int]) -> set[int]:
        """The same places, and those behind items that may be missing."""
        # In order, so that one pass also finds the places behind several of them.
        for place, item in enumerate(self._items):
            if place in reached and item.is_optional:
                reached.add(place + 1)
        return reached


@lru_cache(maxsize=64)
def parse_pattern(text: str) -> ValuePattern:
    """Read a pattern. Raises `PatternError`."""
    if len(text) > MOST_CHARACTERS:
        raise PatternError(f"it has {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    # Every pattern covers the whole value, so these two say nothing more.
    body = text.removeprefix("^")
    ends_with_escape = body.endswith("\\$")
    if not ends_with_escape:
        body = body.removesuffix("$")
    items: list[_Item] = []
    position = 0
    while position < len(body):
        item = _ITEM.match(body, position)
        if item is None:
            raise PatternError(f"`{body[position : position + 10]}` in it is not supported")
        items += _repeat(_compile_one(item["one"]), item)
        if len(items) > _MOST_REPEATS:
            raise PatternError(f"it repeats more than {_MOST_REPEATS:,} characters")
        position = item.end()
    return ValuePattern(tuple(items))


def _compile_one(text: str) -> re.Pattern[str]:
    unsupported = PatternError(f"`{text[:20]}` in it is not supported")
    # In a class these will mean something else to Python one day.
    if re.search(r"--|&&|~~|\|\|", text):
        raise unsupported
    try:
        return re.compile(text, re.DOTALL)
    except re.error:
        raise unsupported from None


def _repeat(one: re.Pattern[str], item: re.Match[str]) -> list[_Item]:
    """One item as often as its repeat says."""
    least, most = _read_repeat(item)
    if most is not None and not least <= most <= _MOST_REPEATS:
        raise PatternError(f"`{item['repeat']}` in it is not supported")
    must = [_Item(one, is_optional=False, repeats=False)] * least
    if most is None:
        return [*must, _Item(one, is_optional=True, repeats=True)]
    may = [_Item(one, is_optional=True, repeats=False)] * (most - least)
    return must + may


def _read_repeat(item: re.Match[str]) -> tuple[int, int | None]:
    """How often an item comes at least and at most; None is without limit."""
    if item["least"] is None:
        return _TIMES[item["repeat"] or ""]
    least = int(item["least"])
    if item["comma"] is None:
        return least, least
    most = int(item["most"]) if item["most"] else None
    return least, most
