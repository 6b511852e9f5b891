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
        if outcome.state is State.INVALID and outcome.reason is not None:
            kind = "parse-error" if (outcome.rule or "").startswith(_UNREADABLE) else "invalid"
            yield Event(kind, outcome.candidate.location, outcome.reason)
    for collision in collisions:
        if _PUBLISHED[published](collision):
            lost, won = collision.loser.candidate.location, collision.winner.candidate.location
            yield Event(
                "duplicate",
                lost,
                f"The name “{collision.loser.name}” is claimed twice; {won} has it.",
                won,
            )


def _both_custom(collision: Collision) -> bool:
    return {one.candidate.root.source.provider for one in (collision.loser, collision.winner)} == {
        "custom"
    }


_PUBLISHED: dict[Collisions, Callable[[Collision], bool]] = {
    "all": lambda collision: True,
    "custom": _both_custom,
    "none": lambda collision: False,
}
