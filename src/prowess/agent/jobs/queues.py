"""The queues that jobs wait in: those of one machine, and shared ones that have a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prowess.errors import UsageError

# A job that waits for others must not take a place that they need, so it has a queue without limit.
_TURNS, _LEADERS = "turns", "leaders"
# A session waits for its sub-agents, so they do not stand in line behind the units of a batch.
_SUBAGENTS = "subagents"


class JobQueue(NamedTuple):
    """A queue; of a limited one each worker runs only so many jobs at once."""

    name: str
    is_limited: bool


def name_turn_queue(place: str) -> str:
    """The queue for turns of agents, of a machine or a shared one."""
    return f"{_TURNS}@{place}"


def name_leader_queue(place: str) -> str:
    """The queue for jobs that wait for other jobs."""
    return f"{_LEADERS}@{place}"


def name_subagent_queue(place: str) -> str:
    """The queue for sub-agents of sessions."""
    return f"{_SUBAGENTS}@{place}"


def check_queue(name: str) -> None:
    """Raise `UsageError` for what cannot be the name of a shared queue."""
    if not name.strip() or "@" in name:
        raise UsageError(f"“{name}” is not a valid name for a queue.")


def list_queues(machine: str, shared: Sequence[str]) -> list[JobQueue]:
    """The queues of a worker: those of its machine, and of the shared places that it serves."""
    for name in shared:
        check_queue(name)
    places = dict.fromkeys((machine, *shared))
    limited = [JobQueue(name_turn_queue(place), is_limited=True) for place in places]
    unlimited = [name_leader_queue(place) for place in places] + [name_subagent_queue(machine)]
    return limited + [JobQueue(name, is_limited=False) for name in unlimited]
