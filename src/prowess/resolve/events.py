"""What a host would publish on its bus while it loads skills: files it cannot read, names claimed
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prowess.model.outcome import Outcome, State
from prowess.ports import Event
from prowess.profiles.schema.resolution import Collisions
from prowess.resolve.resolution import Collision

# Codes of files that cannot be read at all; other invalid skills were read and found wanting.
_UNREADABLE = (
    "yaml-",
    "header-",
    "utf16",
    "not-a-file",
    "file-unreadable",
    "link-",
    "hard-",
    "empty-file",
)


def find_events(
    outcomes: Iterable[Outcome], collisions: Iterable[Collision], *, published: Collisions
) -> Iterator[Event]:
    """The events of a scan, `parse-error` and `invalid` first, then every `duplicate` that the host
    speaks of.
    """
    for outcome in outcomes:
        if outcome.state is not State.INVALID or outcome.reason is None:
            continue
        rule = outcome.rule or ""
        kind = "parse-error" if rule.startswith(_UNREADABLE) else "invalid"
        yield Event(kind, outcome.candidate.location, outcome.reason)
    for collision in filter(_PUBLISHED[published], collisions):
        lost = collision.loser.candidate.location
        won = collision.winner.candidate.location
        message = f"The name “{collision.loser.name}” is claimed twice; {won} has it."
        yield Event("duplicate", lost, message, won)


def _both_custom(collision: Collision) -> bool:
    both = (collision.loser, collision.winner)
    providers = {claim.candidate.root.source.provider for claim in both}
    return providers == {"custom"}


_PUBLISHED: dict[Collisions, Callable[[Collision], bool]] = {
    "all": lambda collision: True,
    "custom": _both_custom,
    "none": lambda collision: False,
}
