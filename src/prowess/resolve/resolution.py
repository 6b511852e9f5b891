"""One winner per name: the same real file once, then the strongest claim."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.outcome import Note, State
from prowess.model.settings import Settings
from prowess.profiles.schema.resolution import GateRules, ResolutionRules
from prowess.resolve.claims import Claim
from prowess.resolve.filters import choose_filters, find_disabled
from prowess.resolve.strategies import STRATEGIES


class Collision(msgspec.Struct, frozen=True):
    """Two claims to one name: who lost and who won."""

    loser: Claim
    winner: Claim

    def diagnose(self) -> Diagnostic:
        """The finding, at the file that lost."""
        message = f"The name “{self.loser.name}” is taken by {self.winner.candidate.location}."
        related = (self.winner.candidate.location,)
        return diagnose(
            "name-collision",
            message,
            file=self.loser.candidate.location,
            field="name",
            related=related,
        )


class Resolved(msgspec.Struct, frozen=True):
    """What resolution decided: notes by the place of a claim (none for a winner), the collisions,
    and new names.

    `names` has the claims whose name was taken and that got another one, by their place.
    """

    notes: dict[int, list[Note]]
    collisions: tuple[Collision, ...]
    names: dict[int, str] = msgspec.field(default_factory=dict)


def resolve(
    claims: Sequence[Claim], *, rules: ResolutionRules, settings: Settings, gate: GateRules
) -> Resolved:
    """Decide every claim.

    With filters before resolution, what is disabled no longer competes; what lies in a root that is
    switched off never does, since the host would not look there.
    """
    filters = choose_filters(rules, settings)
    notes: dict[int, list[Note]] = {}
    competing: list[Claim] = []
    for claim in claims:
        disabled = find_disabled(claim, filters, settings, gate)
        if disabled is not None:
            notes[claim.place] = [disabled]
        if disabled is None or (
            rules.filters == "after" and claim.candidate.root.disabled_by is None
        ):
            competing.append(claim)
    competing.sort(key=STRATEGIES[rules.strategy](rules))
    kept = _keep_each_file_once(competing, notes)
    _note_disabled_copies(claims, competing, notes)
    return Resolved(notes, ()) if rules.strategy == "all" else _choose_winners(kept, notes, rules)


def _keep_each_file_once(competing: Sequence[Claim], notes: dict[int, list[Note]]) -> list[Claim]:
    seen: dict[str, Claim] = {}
    kept: list[Claim] = []
    for claim in competing:
        real = claim.candidate.real
        first = claim if real is None else seen.setdefault(real, claim)
        if first is claim:
            kept.append(claim)
        else:
            notes.setdefault(claim.place, []).append(_duplicate(first))
    return kept


def _note_disabled_copies(
    claims: Sequence[Claim], competing: Sequence[Claim], notes: dict[int, list[Note]]
) -> None:
    """A disabled path to a file that is loaded by another path is a duplicate of that one, too."""
    if len(claims) == len(competing):
        return
    loaded = {
        claim.candidate.real: claim
        for claim in reversed(competing)
        if claim.candidate.real is not None
    }
    taking_part = {claim.place for claim in competing}
    for claim in claims:
        other = loaded.get(claim.candidate.real or "")
        if other is not None and claim.place not in taking_part:
            notes[claim.place].append(_duplicate(other))


def _duplicate(of: Claim) -> Note:
    location = of.candidate.location
    return Note(State.DUPLICATE, f"it is the same file as {location}", by=location)


def _choose_winners(
    kept: Sequence[Claim], notes: dict[int, list[Note]], rules: ResolutionRules
) -> Resolved:
    winners: dict[str, Claim] = {}
    collisions: list[Collision] = []
    names: dict[int, str] = {}
    for claim in kept:
        winner = winners.setdefault(claim.name, claim)
        if winner is not claim and _is_qualified(claim, winner, rules):
            names[claim.place] = f"{claim.candidate.root.qualifier}:{claim.name}"
            claim = msgspec.structs.replace(claim, name=names[claim.place])
            winner = winners.setdefault(claim.name, claim)
        if winner is not claim:
            location = winner.candidate.location
            reason = (
                f"{location} ({winner.candidate.root.source.label}) has the same name and is"
                " stronger"
            )
            notes.setdefault(claim.place, []).append(Note(State.SHADOWED, reason, by=location))
            collisions.append(Collision(claim, winner))
    return Resolved(notes, tuple(collisions), names)


def _is_qualified(claim: Claim, winner: Claim, rules: ResolutionRules) -> bool:
    """Whether a claim to a taken name gets a name of its own; not where one added folder holds
    both.
    """
    root = claim.candidate.root
    qualifiers = (None, winner.candidate.root.qualifier)
    return root.scope in rules.qualify and root.qualifier not in qualifiers
