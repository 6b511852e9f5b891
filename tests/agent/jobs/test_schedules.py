"""Schedules on SQLite and PostgreSQL, with expressions that are due every second."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from prowess.agent.jobs.schedules import Schedules, UnknownSchedule, render_added
from prowess.agent.jobs.values import Schedule, TurnSpec
from prowess.errors import UsageError
from tests.agent.jobs.conftest import Yard, wait_until
from tests.agent.studio import call, say

EVERY_SECOND = "* * * * * *"


def add(yard: Yard, cron: str = EVERY_SECOND, *answers: Any, **options: Any) -> Schedule:
    script = yard.studio.script(*(answers or (say("Done."),)))
    spec = TurnSpec(text="Tick.", cwd=str(yard.studio.project), model=script, allow=("Bash",))
    return Schedules(yard.jobs).add(cron, spec, zone="UTC", **options)


def list_runs(yard: Yard, name: str) -> list[str]:
    jobs = yard.jobs.list_jobs(most=1000)
    return sorted(job.id for job in jobs if job.id.startswith(f"{name}-"))


def test_schedules_are_added_listed_paused_resumed_and_removed(yard: Yard) -> None:
    schedules = Schedules(yard.jobs)
    assert schedules.list_all() == []
    nightly = add(yard, "0 3 * * *", name="nightly")
    other = add(yard)
    assert {one.name for one in schedules.list_all()} == {"nightly", other.name}
    assert schedules.get("nightly") == nightly
    assert 0 < nightly.next - time.time() <= 86_400
    assert render_added(nightly).startswith("Added the schedule nightly; it runs next at 20")
    assert schedules.pause("nightly").is_paused
    resumed = schedules.resume("nightly")
    assert (resumed.is_paused, resumed.next) == (False, nightly.next)
    schedules.remove("nightly")
    with pytest.raises(UnknownSchedule, match="There is no schedule “nightly”"):
        schedules.get("nightly")
    assert yard.jobs.list_jobs() == []


def test_what_cannot_be_a_schedule_is_refused(yard: Yard) -> None:
    add(yard, name="one")
    with pytest.raises(UsageError, match="There is already a schedule named “one”"):
        add(yard, name="one")
    with pytest.raises(UsageError, match="is not a cron expression"):
        add(yard, "every day")
    with pytest.raises(UsageError, match="is not a valid name"):
        add(yard, name="../up")
    with pytest.raises(UsageError, match="is not a valid name for a queue"):
        add(yard, queue="a@b")
    spec = TurnSpec(text="x", cwd="/")
    with pytest.raises(UsageError, match="Unknown time zone “Atlantis”"):
        Schedules(yard.jobs).add("@daily", spec, zone="Atlantis")
    with pytest.raises(UsageError, match="The prompt is empty"):
        Schedules(yard.jobs).add("@daily", TurnSpec(text=" ", cwd="/"))


@pytest.mark.slow
def test_a_worker_runs_a_schedule_again_and_again_until_it_is_paused(yard: Yard) -> None:
    add(yard, EVERY_SECOND, call("Bash", command="echo tick >> log"), say("Done."), name="tick")
    with yard.worker(until_idle=True) as pid:
        # A worker that ends when nothing is left stays for what is scheduled.
        wait_until(lambda: len(list_runs(yard, "tick")) >= 3)
        Schedules(yard.jobs).pause("tick")
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
    runs = list_runs(yard, "tick")
    yard.wait(*runs)
    schedule = Schedules(yard.jobs).get("tick")
    wait_until(lambda: time.time() > schedule.next + 1)
    assert Schedules(yard.jobs).start_due([schedule.queue]) == []
    assert yard.studio.read("log") == "tick\n" * len(runs)
    assert {yard.jobs.get(id).title for id in runs} == {"Tick."}


@pytest.mark.slow
def test_times_that_were_missed_are_said_and_run_once(yard: Yard) -> None:
    add(yard, name="tick")
    # Nobody works for at least three of its times.
    time.sleep(3.5)
    schedules = Schedules(yard.jobs)
    (queue,) = {one.queue for one in schedules.list_all()}
    (started,) = schedules.start_due([queue])
    assert "runs since" in started.note
    assert int(started.note.split()[0]) >= 3
    assert "were missed; this run replaces them all" in started.note
    assert list_runs(yard, "tick") == [started.last_job]
    assert yard.jobs.get(started.last_job).note == started.note
    assert schedules.get("tick").note == started.note
    # While that job waits for a worker, more times come and start nothing.
    time.sleep(1.5)
    assert schedules.start_due([queue]) == []
    assert list_runs(yard, "tick") == [started.last_job]


def test_one_time_that_was_missed_long_ago_is_made_up_for(yard: Yard) -> None:
    # Half a year away, so that no other time lies in the two hours.
    month = (time.gmtime().tm_mon + 5) % 12 + 1
    made = add(yard, f"0 3 1 {month} *", name="yearly")
    now = time.time()
    yard.jobs.database.schedules.advance("yearly", due=made.next, next=now - 7200, job="", note="")
    (started,) = Schedules(yard.jobs).start_due([made.queue])
    assert started.note.startswith("The run at 20")
    assert started.note.endswith("was missed; this run replaces it.")


def test_workers_of_other_queues_leave_a_schedule_alone(yard: Yard) -> None:
    made = add(yard, queue="pool")
    time.sleep(1.1)
    assert made.queue == "turns@pool"
    assert Schedules(yard.jobs).start_due(["turns@here"]) == []
    assert Schedules(yard.jobs).has_active(["turns@here"]) is False
    assert Schedules(yard.jobs).has_active(["turns@pool"]) is True


def test_a_worker_that_is_late_finds_the_job_of_another_one(yard: Yard) -> None:
    """Two workers that see the same time at once, in the order that is worst."""
    made = add(yard, name="tick")
    time.sleep(1.1)
    second = Schedules(yard.jobs)
    seen = second._table.list_due([made.queue])
    second._table.list_due = lambda queues: seen  # type: ignore[method-assign]
    (one,) = Schedules(yard.jobs).start_due([made.queue])
    assert second.start_due([made.queue]) == []
    assert list_runs(yard, "tick") == [one.last_job]


@pytest.mark.slow
def test_two_workers_on_one_database_run_each_time_once(shared: Yard) -> None:
    tick = call("Bash", command="date +%s%N >> log")
    add(shared, EVERY_SECOND, tick, say("Done."), name="tick", queue="pool")
    options: dict[str, Any] = {"queues": ("pool",), "until_idle": True, "lease": 60.0}
    with shared.worker("-a", **options) as one, shared.worker("-b", **options) as other:
        wait_until(lambda: len(list_runs(shared, "tick")) >= 5)
        Schedules(shared.jobs).pause("tick")
        # They end when every run has ended and nothing is left that could start another.
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in (one, other)))
    runs = list_runs(shared, "tick")
    assert len(shared.studio.read("log").splitlines()) == len(runs) == len(set(runs))
