"""How many jobs of a queue a worker runs side by side: one that waits for a person does not count.

DBOS keeps one limit per queue for all its workers, and counts every job that has begun. So the
limit grows by the jobs that wait, as many as each worker of the queue has: where one worker has
none, that one runs the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dbos import DBOS

from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.queues import JobQueue
from prowess.agent.jobs.values import Job

POLL_SECONDS = 0.2
"""How often a queue is looked into."""

# Each job that waits keeps its session open, with the programs that it has started.
_MOST_WAITING = 50


class QueueLimits:
    """The limits of the queues that a worker serves; `concurrency` is that of its settings."""

    def __init__(self, jobs: Jobs, queues: Sequence[JobQueue], *, concurrency: int) -> None:
        self._jobs = jobs
        self._queues = queues
        self._concurrency = concurrency
        self._limits: dict[str, int | None] = {}

    def register(self) -> None:
        """Tell DBOS about the queues, after its launch."""
        for queue in self._queues:
            self._set(queue.name, self._concurrency if queue.is_limited else None)

    def adjust(self) -> None:
        """Make room for as many jobs as wait for a person."""
        # Most of the time nothing waits, and then there is nothing to count.
        is_waiting = bool(self._jobs.database.questions.list_open())
        running = self._jobs.list_running() if is_waiting else []
        served = self._list_served() if is_waiting else {}
        for queue in self._queues:
            limit = self._concurrency + count_waiting(queue.name, running, served)
            if queue.is_limited and limit != self._limits[queue.name]:
                self._set(queue.name, limit)

    def _list_served(self) -> dict[str, Sequence[str]]:
        """The queues of each worker that is alive."""
        queues = self._jobs.database.workers.list_queues()
        return {one.id: queues.get(one.id, ()) for one in self._jobs.list_live_workers()}

    def _set(self, name: str, limit: int | None) -> None:
        DBOS.register_queue(
            name,
            worker_concurrency=limit,
            polling_interval_sec=POLL_SECONDS,
            on_conflict="always_update",
        )
        self._limits[name] = limit


def count_waiting(queue: str, jobs: Sequence[Job], served: Mapping[str, Sequence[str]]) -> int:
    """How many jobs of a queue wait for a person at each of its workers, at least."""
    of_queue = [job for job in jobs if job.queue == queue and job.state == "waiting"]
    by_worker = Counter(job.worker for job in of_queue)
    workers = [id for id, queues in served.items() if queue in queues]
    fewest = min((by_worker[worker] for worker in workers), default=0)
    return min(fewest, _MOST_WAITING)
