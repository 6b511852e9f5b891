"""Which queues the running workers serve, and why a job that none of them takes stays queued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prowess.agent.jobs.queues import name_leader_queue, name_turn_queue
from prowess.agent.jobs.values import VERSION, WorkerInfo


class ServedQueues:
    """The queues of workers that are alive; `queues` has them by the id of their worker."""

    def __init__(
        self, workers: Sequence[WorkerInfo], queues: Mapping[str, Sequence[str]], machine: str
    ) -> None:
        self._workers = workers
        self._machine = machine
        self._served = {
            queue for worker in workers for queue in queues.get(worker.id) or _guess(worker)
        }

    def explain(self, queue: str, version: str | None) -> str:
        """Why no worker begins a job of a queue; "" if one will."""
        # Whoever began a job has written down its version, and only that one goes on with it.
        if version not in (None, VERSION):
            return f"only a worker of another version ({version}) can continue it"
        if queue in self._served:
            return ""
        place = queue.partition("@")[2]
        for worker in self._workers:
            if worker.machine == place:
                old = f"the worker there (process {worker.pid}) runs an older version"
                return f"{old}; stop it and start `prowess worker`"
        option = "" if place == self._machine else f" --queue {place}"
        return f"no running worker serves it; start `prowess worker{option}`"


def _guess(worker: WorkerInfo) -> tuple[str, ...]:
    """The queues of a worker whose version did not write them down."""
    return name_turn_queue(worker.machine), name_leader_queue(worker.machine)
