"""Jobs in queues that no running worker serves: the lists say so and what to do."""

from __future__ import annotations

import pytest

from prowess.agent.jobs.queues import list_queues, name_leader_queue, name_turn_queue
from prowess.agent.jobs.served_queues import ServedQueues
from prowess.agent.jobs.values import VERSION, TurnSpec, WorkerInfo
from tests.agent.jobs.conftest import Yard
from tests.agent.studio import say

HERE, THERE = "here", "there"
RESTART = "the worker there (process 7) runs an older version; stop it and start `prowess worker`"


def serve(*queues: str, machine: str = HERE) -> ServedQueues:
    worker = WorkerInfo(id="w", machine=machine, pid=7, silent=0.0, is_dead=False)
    return ServedQueues([worker], {"w": queues} if queues else {}, HERE)


@pytest.mark.parametrize(
    ("served", "queue", "version", "blocked"),
    [
        (serve("turns@here"), "turns@here", None, ""),
        (serve("turns@here"), "turns@here", VERSION, ""),
        (
            serve("turns@here"),
            "turns@here",
            "0",
            "only a worker of another version (0) can continue it",
        ),
        (serve("turns@here"), "subagents@here", None, RESTART),
        # A version that wrote no queues down served turns and leaders of its machine.
        (serve(), "turns@here", None, ""),
        (serve(), "subagents@here", None, RESTART),
        (
            serve("turns@there", machine=THERE),
            "turns@here",
            None,
            "no running worker serves it; start `prowess worker`",
        ),
        (
            serve("turns@here"),
            "turns@gpu",
            None,
            "no running worker serves it; start `prowess worker --queue gpu`",
        ),
    ],
)
def test_a_job_is_blocked_if_no_worker_serves_its_queue(
    served: ServedQueues, queue: str, version: str | None, blocked: str
) -> None:
    assert served.explain(queue, version) == blocked


def test_sub_agents_wait_visibly_for_a_worker_of_an_older_version(local: Yard) -> None:
    jobs, machine = local.jobs, local.jobs.machine
    jobs.database.prepare()
    old = (name_turn_queue(machine), name_leader_queue(machine))
    jobs.database.workers.add("old", machine, 7, old)
    task = TurnSpec(text="Look.", cwd=str(local.studio.project))
    jobs.add_subagent("sub-1", task, title="Look.")
    turn = local.add(say("x"))
    assert (jobs.get("sub-1").blocked, jobs.get(turn).blocked) == (RESTART, "")
    assert {job.id: job.blocked for job in jobs.list_jobs()} == {"sub-1": RESTART, turn: ""}
    new = [queue.name for queue in list_queues(machine, ())]
    jobs.database.workers.add("new", machine, 8, new)
    assert jobs.get("sub-1").blocked == ""
