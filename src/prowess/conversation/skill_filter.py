"""Which skills one conversation has, of those that were found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import msgspec

from prowess.model.outcome import Outcome, State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.text.globs import matches_wildcard

_LOST = (State.SHADOWED, State.DUPLICATE)

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
        include: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        allow: Allow | None = None,
    ) -> None:
        # A single name is not a list of its letters.
        self.include = None if include is None else _as_names(include)
        self.exclude = _as_names(exclude)
        self.allow = allow

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells two filters apart."""
        return self.include, self.exclude, self.allow

    @property
    def is_empty(self) -> bool:
        """Whether every skill passes."""
        return self.include is None and not self.exclude and self.allow is None

    def allows(self, skill: Skill) -> bool:
        """Whether a skill is in the conversation. What the function raises is passed on."""
        if self.include is not None and not _names_skill(skill, self.include):
            return False
        if _names_skill(skill, self.exclude):
            return False
        return self.allow is None or bool(self.allow(skill))

    def allows_outcome(self, outcome: Outcome) -> bool:
        """Whether an outcome is in the conversation; one that could not be read is not."""
        return outcome.skill is not None and self.allows(outcome.skill)


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _names_skill(skill: Skill, patterns: Iterable[str]) -> bool:
    return any(matches_wildcard(skill.name, pattern) for pattern in patterns)


def drop_outcomes(snapshot: Snapshot, chosen: SkillFilter) -> Snapshot | None:
    """The snapshot without what a filter leaves out.

    None where a skill that stays lost its name or its file to one that goes: then names must be
    given out again.
    """
    kept = tuple(filter(chosen.allows_outcome, snapshot.outcomes))
    locations = {outcome.candidate.location for outcome in kept}
    for outcome in kept:
        lost_to = [outcome.by] if outcome.state in _LOST else []
        lost_to += [note.by for note in outcome.notes if note.state in _LOST]
        if any(by is not None and by not in locations for by in lost_to):
            return None
    return msgspec.structs.replace(snapshot, outcomes=kept, diagnostics=())
