"""How each candidate ends: in exactly one state, with a reason."""

from __future__ import annotations

from enum import Enum

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin
from prowess.model.skill import Candidate, Scope, Skill


class State(str, Enum):
    """The states, in the order in which they are decided; the first that applies is the state."""

    INVALID = "invalid"
    SKIPPED = "skipped"
    DUPLICATE = "duplicate"
    DISABLED = "disabled"
    SHADOWED = "shadowed"
    INELIGIBLE = "ineligible"
    DENIED = "denied"
    DORMANT = "dormant"
    HIDDEN = "hidden"
    READY = "ready"

    rank: int

    # Enum's own hash is a function in Python, and every outcome of a scan is counted by its state.
    __hash__ = str.__hash__

    def __init__(self, value: str) -> None:
        # Sorting by an attribute is much faster than looking members up, which hashes their names.
        self.rank = len(type(self))


# Which stage decides which states; what none of them holds back is ready.
DECIDED_BY_PARSE = (State.INVALID, State.SKIPPED)
DECIDED_BY_RESOLVE = (State.DUPLICATE, State.DISABLED, State.SHADOWED)
DECIDED_BY_GATE = (State.INELIGIBLE, State.DENIED, State.DORMANT, State.HIDDEN)

# A member of an enumeration is looked up by a function in Python, and most outcomes are ready.
_READY = State.READY

UNTIL_AWAKE = "until-awake"
"""The rule of a note: another skill has the name until a file wakes this one."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing that keeps a candidate from being ready: the state it asks for and why.

    `by` is the file that it lost to, if any; `rule` is the setting, variable or field that decided,
    and `origin` the file and line of that setting.
    """

    state: State
    reason: str
    by: str | None = None
    rule: str | None = None
    origin: Origin | None = None


class Claim(msgspec.Struct, eq=False, gc=False):
    """One candidate on its way through a scan: the name it claims, and the skill, if it could be
    read. Each stage adds its notes and diagnostics, until the claim ends as an `Outcome`.

    `later` are notes that were found when the file was read and do not count before the gate.
    """

    candidate: Candidate
    name: str
    skill: Skill | None = None
    notes: list[Note] = msgspec.field(default_factory=list)
    diagnostics: tuple[Diagnostic, ...] = ()
    hidden_because: str | None = None
    later: tuple[Note, ...] = ()

    @property
    def key(self) -> str:
        """The name under which settings refer to this skill."""
        key = self.skill.declared.skill_key if self.skill is not None else None
        return key or self.name

    @property
    def is_bundled(self) -> bool:
        """Whether the skill ships with the host."""
        return self.candidate.root.scope is Scope.BUNDLED

    def rename(self, name: str) -> None:
        """Claim another name, because the first one is taken."""
        self.name = name
        if self.skill is not None:
            self.skill = msgspec.structs.replace(self.skill, name=name)

    def conclude(self) -> Outcome:
        """How the candidate ended."""
        if not self.notes:
            # Nearly all of them, so without another call.
            return Outcome(
                candidate=self.candidate,
                name=self.name,
                state=_READY,
                skill=self.skill,
                diagnostics=self.diagnostics,
            )
        return Outcome.conclude(self.candidate, self.name, self.skill, self.notes, self.diagnostics)


class Outcome(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """How a candidate ended: its state, the reason, and in `notes` what else is in its way."""

    candidate: Candidate
    name: str
    state: State
    skill: Skill | None = None
    reason: str | None = None
    by: str | None = None
    rule: str | None = None
    origin: Origin | None = None
    notes: tuple[Note, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def conclude(
        cls,
        candidate: Candidate,
        name: str,
        skill: Skill | None,
        notes: list[Note],
        found: tuple[Diagnostic, ...],
    ) -> Outcome:
        """The outcome from all notes: the first state decides, the others stay as notes."""
        if not notes:
            return cls(candidate=candidate, name=name, state=_READY, skill=skill, diagnostics=found)
        # The sort is stable: of two notes for one state the stage that came first gives the reason.
        notes.sort(key=lambda note: note.state.rank)
        first, *others = notes
        return cls(
            candidate=candidate,
            name=name,
            state=first.state,
            skill=skill,
            reason=first.reason,
            by=first.by,
            rule=first.rule,
            origin=first.origin,
            notes=tuple(others),
            diagnostics=found,
        )

    def asks_for(self, state: State) -> bool:
        """Whether a note asks for a state, even if another state was decided."""
        return self.state is state or any(note.state is state for note in self.notes)

    def without(self, state: State) -> Outcome:
        """The outcome of the same candidate without one obstacle, such as a file it waited for."""
        if not self.asks_for(state) or state is State.READY:
            return self
        first = Note(self.state, self.reason or "", self.by, self.rule, self.origin)
        notes = [note for note in (first, *self.notes) if note.state is not state]
        return Outcome.conclude(self.candidate, self.name, self.skill, notes, self.diagnostics)

    def wake(self) -> tuple[Outcome, str | None]:
        """The outcome once a file woke the skill, and the file that loses its name to it."""
        awake = self.without(State.DORMANT)
        # A dormant skill has lost its name only for as long as it sleeps.
        if awake.rule != UNTIL_AWAKE:
            return awake, None
        return awake.without(State.SHADOWED), awake.by

    def shadow(self, winner: Outcome) -> Outcome:
        """The outcome once another skill took its name."""
        location = winner.candidate.location
        note = Note(State.SHADOWED, f"{location} woke and has the same name", by=location)
        first = Note(self.state, self.reason or "", self.by, self.rule, self.origin)
        before = [] if self.state is State.READY else [first]
        notes = [note, *before, *self.notes]
        return Outcome.conclude(self.candidate, self.name, self.skill, notes, self.diagnostics)
