"""Which skills one conversation has, of those that were found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import msgspec

from prowess.errors import UsageError
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.text.globs import matches_wildcard

_LOST = (State.SHADOWED, State.DUPLICATE)

EVERY_NAME = ("*",)
Allow = Callable[[Skill], bool]
"""Whether a conversation has a skill."""


class SkillFilter:
    """The skills of one conversation: names or patterns to include and exclude, and a function.

    What is left out does not exist in the conversation: it takes no name from others, and nobody is
    told of it. Equal filters without a function are one value, so conversations can share what is
    made of them.
    """

    def __init__(
        self,
        include: Iterable[str] = EVERY_NAME,
        exclude: Iterable[str] = (),
        allow: Allow | None = None,
    ) -> None:
        self._include = _as_names(include)
        self._exclude = _as_names(exclude)
        self._allow = allow or _allow_all

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells two filters apart."""
        return self._include, self._exclude, self._allow

    @property
    def is_empty(self) -> bool:
        """Whether every skill passes."""
        return self.key == (EVERY_NAME, (), _allow_all)

    def allows(self, skill: Skill) -> bool:
        """Whether a skill is in the conversation. What the function raises is passed on."""
        is_included = _names_skill(skill, self._include)
        if not is_included or _names_skill(skill, self._exclude):
            return False
        return bool(self._allow(skill))

    def allows_outcome(self, outcome: Outcome) -> bool:
        """Whether an outcome is in the conversation; one that could not be read is not."""
        return outcome.skill is not None and self.allows(outcome.skill)


def _allow_all(skill: Skill) -> bool:
    return True


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    if callable(names):
        raise UsageError("`include` and `exclude` take names of skills; a function is `allow=`.")
    # A single name is not a list of its letters.
    return (names,) if isinstance(names, str) else tuple(names)


def _names_skill(skill: Skill, patterns: Iterable[str]) -> bool:
    return any(matches_wildcard(skill.name, pattern) for pattern in patterns)


def drop_outcomes(snapshot: Snapshot, chosen: SkillFilter) -> Snapshot | None:
    """The snapshot without what a filter leaves out.

    None where a skill that stays lost its name or its file to one that goes: then names must be
    given out again.
    """
    kept = tuple(filter(chosen.allows_outcome, snapshot.outcomes))
    winners: set[str] = set()
    for outcome in kept:
        winners.update(_list_winners(outcome))
    locations = {outcome.candidate.location for outcome in kept}
    if not winners <= locations:
        return None
    return msgspec.structs.replace(snapshot, outcomes=kept, diagnostics=())


def _list_winners(outcome: Outcome) -> Iterator[str]:
    """The files to which a skill lost its name, or which are the same file."""
    # What lost may be disabled as well, and that is its state; then a note has the winner.
    ends = [(outcome.state, outcome.by), *((note.state, note.by) for note in outcome.notes)]
    for state, winner in ends:
        if state in _LOST and winner is not None:
            yield winner
