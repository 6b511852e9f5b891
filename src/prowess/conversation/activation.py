"""One loading of a skill on its way: found, permitted, prepared."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.activate.tool import Prepared
from prowess.conversation.authorization import Grant, Permits
from prowess.conversation.body_renderer import Bodies
from prowess.errors.activation import Unavailable
from prowess.model.outcome import Outcome
from prowess.model.skill import Document, Skill
from prowess.model.usage import Caller


class Loading:
    """Remembers between the steps of a call which skill it is about, and what was granted to it."""

    def __init__(
        self,
        find_outcome: Callable[[str], Outcome | None],
        permits: Permits,
        bodies: Bodies,
        by: Caller,
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._find_outcome = find_outcome
        self._permits = permits
        self._bodies = bodies
        self._by = by
        self._is_cancelled = is_cancelled
        self._outcome: Outcome | None = None
        self._grant = Grant(with_wishes=False)
        self._document: Document | None = None

    @property
    def skill(self) -> Skill | None:
        """The skill that was found."""
        return self._outcome.skill if self._outcome is not None else None

    def find(self, name: str) -> Skill | None:
        """The skill of a name, whatever became of it. Raises `Unavailable` where it could not even
        be read.
        """
        outcome = self._find_outcome(name)
        if outcome is None:
            return None
        if outcome.skill is None:
            raise Unavailable(outcome.name, outcome.state.value, outcome.reason or "")
        self._outcome = outcome
        return outcome.skill

    def permit(self, skill: Skill) -> None:
        """Let it be loaded, or raise."""
        if self._outcome is not None:
            self._grant = self._permits.check_skill(
                self._outcome, skill, self._by, read=lambda: self._read(skill)
            )

    def prepare(self, skill: Skill, arguments: str) -> Prepared:
        """Its body, with what it was granted."""
        document = None if skill.is_computed else self._read(skill)
        prepared = self._bodies.prepare(
            skill, arguments, self._by, document=document, is_cancelled=self._is_cancelled
        )
        if not self._grant.with_wishes:
            prepared = self._bodies.withhold(skill, prepared)
        if not self._grant.diagnostics:
            return prepared
        return msgspec.structs.replace(
            prepared, diagnostics=prepared.diagnostics + self._grant.diagnostics
        )

    def _read(self, skill: Skill) -> Document:
        """The skill's document, read once: what was approved is what is loaded."""
        if self._document is None:
            self._document = skill.load()
        return self._document
