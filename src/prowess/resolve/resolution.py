"""One winner per name: the same real file once, then the strongest claim."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.outcome import UNTIL_AWAKE, Claim, Note, State
from prowess.model.settings import Settings
from prowess.model.skill import Root
from prowess.profiles.schema.resolution import GateRules, ResolutionRules
from prowess.resolve.filters import choose_filters, find_disabled
from prowess.resolve.strategies import keeps_all, order_claims
from prowess.text.path_conditions import are_conditions


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


def resolve(
    claims: Sequence[Claim], *, rules: ResolutionRules, settings: Settings, gate: GateRules
) -> tuple[Collision, ...]:
    """Decide every claim. A loser gets a note, or another name where the host gives it one.

    A claim that could not be read, or already has a note, takes no part.
    """
    competing, aside = _filter(claims, rules, settings, gate)
    ordered = order_claims(competing, rules)
    # omp decides about files and names together, so that neither can be done first.
    if rules.same_file == "first-loaded":
        collisions = _load_in_turn(competing)
        _note_disabled_copies(aside, ordered)
        return collisions
    kept = _keep_each_file_once(ordered, rules)
    _note_disabled_copies(aside, ordered)
    if keeps_all(rules):
        return ()
    waiting = [] if rules.waiting_compete else [claim for claim in kept if _waits(claim, gate)]
    if not waiting:
        return _choose_winners(kept, rules, {})
    return _choose_beside_waiting(kept, waiting, rules)


def _choose_beside_waiting(
    kept: Sequence[Claim], waiting: Sequence[Claim], rules: ResolutionRules
) -> tuple[Collision, ...]:
    """Winners where a skill that waits for a file leaves its name to others until it wakes."""
    strength = {id(claim): position for position, claim in enumerate(kept)}
    waits = {id(claim) for claim in waiting}
    winners: dict[str, Claim] = {}
    collisions = _choose_winners(
        [claim for claim in kept if id(claim) not in waits], rules, winners
    )
    competing: list[Claim] = []
    for claim in waiting:
        active = winners.get(claim.name)
        if active is not None and strength[id(claim)] < strength[id(active)]:
            claim.notes.append(_leave_name(active))
        else:
            competing.append(claim)
    return (*collisions, *_choose_winners(competing, rules, winners))


def _leave_name(active: Claim) -> Note:
    location = active.candidate.location
    reason = f"{location} has the same name and is used until a file wakes this one"
    return Note(State.SHADOWED, reason, by=location, rule=UNTIL_AWAKE)


def _waits(claim: Claim, gate: GateRules) -> bool:
    """Whether a skill waits for a file."""
    if claim.skill is None:
        return False
    declared = claim.skill.declared
    return any(
        are_conditions(getattr(declared, field), gate.unconditional) for field in gate.dormant_by
    )


def _filter(
    claims: Sequence[Claim], rules: ResolutionRules, settings: Settings, gate: GateRules
) -> tuple[list[Claim], list[Claim]]:
    """The claims that compete, and those that do not because they are disabled.

    Where the host filters after resolution, a disabled skill still takes its name from others. One
    in a root that is switched off never does, because the host would not search there.
    """
    competing: list[Claim] = []
    aside: list[Claim] = []
    root: Root | None = None
    for claim in claims:
        if claim.skill is None or claim.notes:
            continue
        # Claims come root by root, so the filters are chosen once for each.
        if claim.candidate.root is not root:
            root = claim.candidate.root
            filters = choose_filters(rules, settings, root)
            may_compete = rules.filters == "after" and root.disabled_by is None
        # Most users have set nothing: then nothing is called for each of thousands of skills.
        if not filters and claim.skill.declared.enabled is not False:
            competing.append(claim)
            continue
        disabled = find_disabled(claim, filters, settings, gate)
        if disabled is not None:
            claim.notes.append(disabled)
        if disabled is None or may_compete:
            competing.append(claim)
        else:
            aside.append(claim)
    return competing, aside


def _keep_each_file_once(ordered: Sequence[Claim], rules: ResolutionRules) -> list[Claim]:
    seen = _prefer_links(ordered) if rules.same_file == "link" else {}
    kept: list[Claim] = []
    for claim in ordered:
        real = claim.candidate.real
        first = claim if real is None else seen.setdefault(real, claim)
        if first is claim:
            kept.append(claim)
        else:
            claim.notes.append(_duplicate(first))
    return kept


def _prefer_links(ordered: Sequence[Claim]) -> dict[str, Claim]:
    """Which claim each file belongs to where, in one root, a link to it counts more."""
    chosen: dict[str, Claim] = {}
    for claim in ordered:
        real = claim.candidate.real
        if real is None:
            continue
        other = chosen.setdefault(real, claim)
        is_same_root = other.candidate.root is claim.candidate.root
        if is_same_root and _is_linked(claim) and not _is_linked(other):
            chosen[real] = claim
    return chosen


def _is_linked(claim: Claim) -> bool:
    """Whether a link inside the root leads to a file; the root itself may be a link, too."""
    candidate = claim.candidate
    inside = candidate.location[len(candidate.root.path) :]
    return candidate.real is not None and not candidate.real.endswith(inside)


def _load_in_turn(claims: Sequence[Claim]) -> tuple[Collision, ...]:
    """Decide the claims in scan order, as omp loads skills.

    A file counts once, under the name that loaded it first. A claim takes a name from one with a
    lower priority; one that finds its name taken loads nothing.
    """
    loaded: dict[str, Claim] = {}
    winners: dict[str, Claim] = {}
    collisions: list[Collision] = []
    for claim in claims:
        real = claim.candidate.real or claim.candidate.location
        # The loser of a name was not loaded, so another path to its file can still be.
        if real in loaded:
            claim.notes.append(_duplicate(loaded[real]))
            continue
        winner = winners.get(claim.name)
        is_stronger = winner is None or _get_priority(claim) > _get_priority(winner)
        if winner is not None:
            loser, stronger = (winner, claim) if is_stronger else (claim, winner)
            collisions.append(_shadow(loser, stronger))
        if is_stronger:
            winners[claim.name] = loaded[real] = claim
    return tuple(collisions)


def _get_priority(claim: Claim) -> int:
    return claim.candidate.root.priority


def _note_disabled_copies(aside: Sequence[Claim], ordered: Sequence[Claim]) -> None:
    """A disabled path to a file that is loaded by another path is a duplicate of that one, too."""
    if not aside:
        return
    # Reversed, so that of several claims to a file the strongest is left.
    loaded: dict[str | None, Claim] = {
        claim.candidate.real: claim
        for claim in reversed(ordered)
        if claim.candidate.real is not None
    }
    for claim in aside:
        other = loaded.get(claim.candidate.real)
        if other is not None:
            claim.notes.append(_duplicate(other))


def _duplicate(of: Claim) -> Note:
    location = of.candidate.location
    return Note(State.DUPLICATE, f"it is the same file as {location}", by=location)


def _choose_winners(
    kept: Sequence[Claim], rules: ResolutionRules, winners: dict[str, Claim]
) -> tuple[Collision, ...]:
    """Add the winner of each name to `winners`."""
    collisions: list[Collision] = []
    for claim in kept:
        winner = winners.setdefault(claim.name, claim)
        # Claude Code lists the skill of an added folder beside the stronger one, as `folder:name`.
        if winner is not claim and _is_qualified(claim, winner, rules):
            claim.rename(f"{claim.candidate.root.qualifier}:{claim.name}")
            winner = winners.setdefault(claim.name, claim)
        if winner is not claim:
            collisions.append(_shadow(claim, winner))
    return tuple(collisions)


def _shadow(loser: Claim, winner: Claim) -> Collision:
    location, label = winner.candidate.location, winner.candidate.root.source.label
    reason = f"{location} ({label}) has the same name and is stronger"
    loser.notes.append(Note(State.SHADOWED, reason, by=location))
    collision = Collision(loser, winner)
    loser.diagnostics += (collision.diagnose(),)
    return collision


def _is_qualified(claim: Claim, winner: Claim, rules: ResolutionRules) -> bool:
    """Whether a claim to a taken name gets a name of its own; not where one added folder holds
    both.
    """
    root = claim.candidate.root
    qualifiers = (None, winner.candidate.root.qualifier)
    return root.scope in rules.qualify and root.qualifier not in qualifiers
