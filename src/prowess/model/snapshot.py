"""The result of one scan: how every candidate ended, and every diagnostic on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.model.source_status import SourceStatus

_LOST = (State.SHADOWED, State.DUPLICATE)
# A member of an enumeration is looked up by a function in Python.
_DISABLED = State.DISABLED


# Compared by identity and with `weakref`, because it is a key of `project.snapshot_memo`.
class Snapshot(msgspec.Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """What was found, at one moment, under one host's rules. A reload gives a new one.

    `outcomes` are in the order of their names. `listed` are the states that the host's own list
    shows; `diagnostics` has what belongs to no candidate (a root that is a file, a limit that was
    reached). `sources` are those that are no folder of the host: servers, packages, plugins.
    """

    host: str
    edition: str
    cwd: str
    repository: str | None
    settings: Settings
    roots: tuple[Root, ...]
    outcomes: tuple[Outcome, ...]
    listed: frozenset[State]
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceStatus, ...] = ()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that are ready to be offered to a model, in the order of their names."""
        # Looked up once: a member of an enumeration is found by a function in Python.
        ready = State.READY
        offered = [outcome.skill for outcome in self.outcomes if outcome.state is ready]
        return tuple([skill for skill in offered if skill is not None])

    @property
    def shown(self) -> tuple[Outcome, ...]:
        """What the host's own list shows, in the order of names."""
        return tuple([outcome for outcome in self.outcomes if self.is_shown(outcome)])

    def is_shown(self, outcome: Outcome) -> bool:
        """Whether the host's own list shows an outcome; never a loser, nor anything that is
        switched off together with its root or with all skills.
        """
        state = outcome.state
        if state not in self.listed or outcome.candidate.root.disabled_by is not None:
            return False
        if state is _DISABLED and not self.settings.enabled:
            return False
        # Asked for every skill of a list, and nearly none has a note.
        return not outcome.notes or all(note.state not in _LOST for note in outcome.notes)

    def find(self, name: str) -> Outcome | None:
        """The outcome of a name: the one listed, or else the first that claimed it. Labels count
        last.
        """
        claims = self._find_named(name) or self._find_labelled(name)
        for outcome in claims:
            if self.is_shown(outcome):
                return outcome
        return claims[0] if claims else None

    def _find_named(self, name: str) -> tuple[Outcome, ...]:
        """Every outcome of exactly this name, by the order that all of them are in."""
        # Only an extension module has it, and a list of all skills never looks for one.
        from bisect import bisect_left, bisect_right

        key = (name.casefold(), name)
        start = bisect_left(self.outcomes, key, key=_get_sort_key)
        end = bisect_right(self.outcomes, key, lo=start, key=_get_sort_key)
        return self.outcomes[start:end]

    def _find_labelled(self, name: str) -> tuple[Outcome, ...]:
        labelled = []
        for outcome in self.outcomes:
            if outcome.skill is not None and outcome.skill.label == name:
                labelled.append(outcome)
        return tuple(labelled)

    def claims(self, name: str) -> tuple[Outcome, ...]:
        """Every candidate that claimed a name, whatever became of it, also in its header only."""
        return tuple(outcome for outcome in self.outcomes if _claims(outcome, name))

    def counts(self) -> dict[State, int]:
        """How many candidates ended in each state, in the order of states; empty states are left
        out.
        """
        counted = Counter(outcome.state for outcome in self.outcomes)
        return {state: counted[state] for state in State if counted[state]}

    def all_diagnostics(self) -> Iterator[Diagnostic]:
        """Every finding of the scan: those of no candidate first, then candidate by candidate."""
        yield from self.diagnostics
        for outcome in self.outcomes:
            yield from outcome.diagnostics


def _claims(outcome: Outcome, name: str) -> bool:
    if outcome.name == name:
        return True
    skill = outcome.skill
    return skill is not None and name in (skill.label, skill.declared_name, skill.declared.name)


def _get_sort_key(outcome: Outcome) -> tuple[str, str]:
    return outcome.name.casefold(), outcome.name
