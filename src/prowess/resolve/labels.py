"""Labels: second names that a host shows and accepts, unless something else has that name."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.model.outcome import Claim
from prowess.profiles.schema.resolution import ResolutionRules


def drop_taken_labels(claims: Sequence[Claim], rules: ResolutionRules) -> None:
    """Take away every label that is reserved, the name of a skill, or an earlier skill's label."""
    labelled = [claim for claim in claims if claim.skill is not None and claim.skill.label]
    if not labelled:
        return
    # Few skills have a label, so most scans never need to compare names as hosts do.
    from prowess.text.collation import collate

    def get_position(claim: Claim) -> tuple[int, tuple[str, ...]]:
        return claim.candidate.root.order, collate(claim.name)

    # A claim with a note was not read, or lost: it has neither a name nor a label here.
    taken = {claim.name for claim in claims if not claim.notes}
    taken.update(rules.reserved_labels)
    for claim in sorted(labelled, key=get_position):
        skill = claim.skill
        if skill is None or skill.label is None or claim.notes:
            continue
        if skill.label in taken:
            claim.skill = msgspec.structs.replace(skill, label=None)
        else:
            taken.add(skill.label)
