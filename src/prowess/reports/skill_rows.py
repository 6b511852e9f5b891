"""Every skill in a row: where it comes from, its state and why, its tokens and its switch."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.errors import MachineError
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.present.tokens import estimate_tokens
from prowess.reports.phrases import cite_reason
from prowess.reports.switch_plan import Visibility, find_visibility


class SkillRow(msgspec.Struct, frozen=True, kw_only=True):
    """One file that claims a name. `tokens` is what loading it costs, None if it cannot be read."""

    name: str
    state: State
    reason: str
    scope: str
    source: str
    location: str
    description: str
    tokens: int | None
    visibility: Visibility

    def matches(self, words: Sequence[str]) -> bool:
        """Whether every word is in it somewhere; case does not matter."""
        fields = (self.name, self.state.value, self.scope, self.source, self.description)
        text = "\n".join((*fields, self.visibility)).casefold()
        return all(word.casefold() in text for word in words)


def load_skill_rows(snapshot: Snapshot) -> tuple[SkillRow, ...]:
    """A row for every candidate, ready skills first; the bodies are read to count their tokens."""
    rows = [_load_row(outcome, snapshot) for outcome in snapshot.outcomes]
    return tuple(sorted(rows, key=lambda row: (-row.state.rank, row.name)))


def filter_rows(rows: Sequence[SkillRow], text: str) -> tuple[SkillRow, ...]:
    """The rows that have every word of a text."""
    words = text.split()
    return tuple(row for row in rows if row.matches(words))


def _load_row(outcome: Outcome, snapshot: Snapshot) -> SkillRow:
    root = outcome.candidate.root
    return SkillRow(
        name=outcome.name,
        state=outcome.state,
        # In a column of the screen there is no room for the folder that all of them are in.
        reason=cite_reason(outcome).replace(f"{snapshot.cwd}/", ""),
        scope=root.scope.value,
        source=root.source.label,
        location=outcome.candidate.location,
        description=(outcome.skill.description if outcome.skill is not None else None) or "",
        tokens=_count_tokens(outcome),
        visibility=find_visibility(outcome, snapshot),
    )


def _count_tokens(outcome: Outcome) -> int | None:
    if outcome.skill is None:
        return None
    try:
        return estimate_tokens(outcome.skill.content)
    except (MachineError, OSError):
        # The file is gone since the scan.
        return None
