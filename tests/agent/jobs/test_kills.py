"""Fifty kills at random moments: no job is lost, and nothing that a job did is done twice."""

from __future__ import annotations

import random
import time

import pytest

from prowess.agent.jobs.values import FINISHED
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from tests.agent.jobs.conftest import Yard
from tests.agent.studio import call, say

KILLS = 25
JOBS = 30


@pytest.mark.slow
def test_whenever_workers_are_killed_no_job_is_lost_and_none_runs_twice(yard: Yard) -> None:
    """Run on SQLite and on PostgreSQL, so fifty kills in all."""
    # Calls of unknown outcome are put to a person. This one lets each job go on, and the script of
    # the model does not repeat the call, as a model that looks first would not.
    ids = [
        yard.add(
            call("Bash", command=f"echo {n} >> log; sleep 0.{n % 4}"),
            call("Write", file_path=f"made/{n}", content=f"{n}\n"),
            say(f"Done {n}."),
        )
        for n in range(JOBS)
    ]
    chance = random.Random(11)
    answer = ApprovalAnswer(ApprovalChoice.ONCE)

    def approve_all() -> None:
        for question in yard.jobs.database.questions.list_open():
            yard.jobs.database.questions.answer(question.id, answer)

    done = 0
    for _ in range(KILLS):
        pid = yard.start(concurrency=2)
        until = time.monotonic() + chance.uniform(0.5, 2.5)
        while time.monotonic() < until:
            approve_all()
            time.sleep(0.1)
        yard.end(pid)
        ended = sum(job.state == "done" for job in yard.jobs.list_jobs())
        assert ended >= done, "a job that was done is not done any more"
        done = ended
    with yard.worker():
        deadline = time.monotonic() + 600
        while open_jobs := [job for job in yard.jobs.list_jobs() if job.state != "done"]:
            # One that failed would never be done.
            assert all(job.state not in FINISHED for job in open_jobs), open_jobs
            assert time.monotonic() < deadline, (open_jobs, yard.log())
            approve_all()
            time.sleep(0.2)
    jobs = {job.id: job for job in yard.jobs.list_jobs()}
    assert sorted(jobs) == sorted(ids)
    assert [jobs[id].answer for id in ids] == [f"Done {n}." for n in range(JOBS)]
    lines = [int(line) for line in yard.studio.read("log").split()]
    # A command that was killed before its first word is known to the person, and not repeated.
    assert len(lines) == len(set(lines))
    made = [n for n in range(JOBS) if (yard.studio.project / f"made/{n}").exists()]
    assert min(len(lines), len(made)) >= JOBS - KILLS * 2
