"""How a command gets its name: as the skill is called, or spelled so that every chat program
accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prowess.profiles.schema.commands import CommandNaming, CommandRules

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_BETWEEN_WORDS = re.compile(r"[-_\s]+")
_NAMELESS = "skill"


class CommandName(NamedTuple):
    """The name of a command, and whether the agent has another command of that name."""

    name: str
    is_taken: bool = False


def sanitize_name(name: str, *, most: int) -> str:
    """A name of small letters, digits and single low lines; `skill` where nothing is left of it."""
    return _NOT_PLAIN.sub("_", name.lower()).strip("_")[:most] or _NAMELESS


def humanize_name(name: str) -> str:
    """A name as people would write it: words apart, each with a capital."""
    words = [word[:1].upper() + word[1:] for word in _BETWEEN_WORDS.split(name) if word]
    return " ".join(words) or name


class _Unique:
    """Gives out names that were not given out before; a taken one gets a number, from 2 on."""

    def __init__(self, taken: Iterable[str], most: int) -> None:
        self._taken = {name.lower() for name in taken}
        self._most = most
        self._next: dict[str, int] = {}

    def take(self, base: str) -> str:
        name = base
        while name.lower() in self._taken:
            number = self._next.get(base, 2)
            self._next[base] = number + 1
            suffix = f"_{number}"
            name = base[: max(1, self._most - len(suffix))] + suffix
        self._taken.add(name.lower())
        return name


def _name_plainly(
    names: Iterable[str], rules: CommandRules, taken: frozenset[str]
) -> Iterator[CommandName]:
    unique = _Unique(taken, rules.most_characters)
    for name in names:
        yield CommandName(unique.take(sanitize_name(name, most=rules.most_characters)))


def _name_as_written(
    names: Iterable[str], rules: CommandRules, taken: frozenset[str]
) -> Iterator[CommandName]:
    for name in names:
        yield CommandName(name, is_taken=name in taken)


_NAMINGS: dict[
    CommandNaming, Callable[[Iterable[str], CommandRules, frozenset[str]], Iterator[CommandName]]
] = {
    "as-written": _name_as_written,
    "openclaw": _name_plainly,
}


def name_commands(
    names: Iterable[str], *, rules: CommandRules, taken: Iterable[str] = ()
) -> list[CommandName]:
    """A name for the command of each skill, in the order of the skills.

    `taken` are names of commands that the agent has of its own.
    """
    return list(_NAMINGS[rules.naming](names, rules, frozenset((*rules.reserved, *taken))))
