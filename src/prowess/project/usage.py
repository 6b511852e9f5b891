"""How often the skills of a project are used, where that is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.model.snapshot import Snapshot
from prowess.project.host_view import HostView

if TYPE_CHECKING:
    from prowess.model.usage import Uses
    from prowess.ports import UsageStore


class ProjectUsage:
    """The store in which a project counts: none, one of the program's own, or the user's database.

    All conversations of a project have one store: opening it costs more than using it.
    """

    def __init__(self, view: HostView, *, counts: bool | UsageStore) -> None:
        self._view = view
        self._counts = counts
        self._opened: tuple[bool | None, UsageStore] | None = None

    def open(self) -> UsageStore:
        """The store; one that counts nothing where counting is off."""
        from prowess.state.usage import NoUsage, open_usage

        if self._counts is False:
            return NoUsage()
        if self._counts is not True:
            return self._counts
        wanted = self._view.load_own_settings().usage
        if self._opened is None or self._opened[0] != wanted:
            self._opened = (wanted, open_usage(self._view.facts, wanted=wanted))
        return self._opened[1]

    def load_uses(self, snapshot: Snapshot) -> Uses:
        """How often the ready skills of a snapshot were used; nothing where that is not counted."""
        if self._counts is False:
            return frozenset()
        counts = self.open().load_counts(snapshot.skills).values()
        return frozenset(
            (used.name, used.location, used.activated) for used in counts if used.activated
        )

    def close(self) -> None:
        """Open the database again when it is next asked for."""
        self._opened = None
