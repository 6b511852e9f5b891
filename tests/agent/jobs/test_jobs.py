"""Jobs on SQLite and on a real PostgreSQL: added by terminals, run by workers that are killed."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from prowess.agent.events import TextDelta, ToolFinished, TurnEnded
from prowess.agent.jobs.client import Jobs, UnknownJob
from prowess.agent.jobs.database import JobDatabase
from prowess.agent.jobs.queue_limits import count_waiting
from prowess.agent.jobs.values import Job
from prowess.agent.jobs.worker_table import WORKERS
from prowess.errors import MachineError, UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from prowess.model.settings import JobSettings
from prowess.state.job_files import make_private_file
from tests.agent.jobs.conftest import Yard, wait_until
from tests.agent.studio import SLOW, call, pick, say

pytestmark = pytest.mark.slow
WAIT = "until [ -e go ]; do sleep 0.1; done"
ONCE = ApprovalAnswer(ApprovalChoice.ONCE)
REJECT = ApprovalAnswer(ApprovalChoice.REJECT, "Not today.")


def test_a_job_is_listed_run_followed_and_kept(yard: Yard) -> None:
    assert yard.jobs.is_empty
    assert yard.jobs.list_jobs() == []
    id = yard.add(call("Bash", command="echo hi >> log"), say("Done."), text="Say hi")
    assert [(one.id, one.state, one.title) for one in yard.jobs.list_jobs()] == [
        (id, "queued", "Say hi")
    ]
    with yard.worker():
        events = list(yard.jobs.follow(id))
        (job,) = yard.wait(id)
    assert (job.state, job.answer, job.kind) == ("done", "Done.", "turn")
    assert yard.studio.read("log") == "hi\n"
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done"]
    assert [one.text for one in pick(events, TextDelta)] == ["Done."]
    assert [one.status for one in pick(events, TurnEnded)] == ["done"]
    # Read again from the start, it is the same.
    assert list(yard.jobs.follow(id)) == events
    assert yard.jobs.get(id[:-1]).id == id
    with pytest.raises(UnknownJob, match="There is no job “nothing”"):
        yard.jobs.get("nothing")
    with pytest.raises(UsageError, match="has already ended"):
        yard.jobs.cancel(id)
    with pytest.raises(UsageError, match="Only a job that ended without success"):
        yard.jobs.retry(id)
    # Neither the library nor anybody else printed a word.
    assert yard.log() == ""


def test_what_needs_approval_waits_for_a_person(yard: Yard) -> None:
    id = yard.add(call("Bash", command="echo hi >> log"), say("Done."), allow=())
    other = yard.add(call("Bash", command="echo no >> log"), say("Well."), allow=())
    with pytest.raises(UsageError, match="is not waiting for an answer"):
        yard.jobs.answer(id, ONCE)
    with yard.worker():
        (question,) = yard.wait_for(id, "waiting").questions
        assert (question.title, question.details) == ("Bash echo hi >> log", ("echo hi >> log",))
        yard.jobs.answer(id, ONCE, question=question.id)
        yard.wait_for(other, "waiting")
        yard.jobs.answer(other, REJECT)
        done, refused = yard.wait(id, other)
    assert (done.state, refused.state) == ("done", "refused")
    assert "Not today" in refused.reason
    assert yard.studio.read("log") == "hi\n"


def test_jobs_that_wait_for_a_person_do_not_stop_the_others(local: Yard) -> None:
    asking = [local.add(call("Bash", command="true"), say("Done."), allow=()) for _ in range(3)]
    with local.worker(concurrency=1):
        for id in asking:
            local.wait_for(id, "waiting")
        other = local.add(say("Fine."))
        (job,) = local.wait(other)
        assert job.state == "done"
        assert [local.jobs.get(id).state for id in asking] == ["waiting"] * 3
        for id in asking:
            local.jobs.answer(id, ONCE)
        assert [one.state for one in local.wait(*asking)] == ["done"] * 3


def test_a_worker_makes_room_only_where_every_worker_of_the_queue_waits() -> None:
    def waits(worker: str, queue: str = "turns@q") -> Job:
        return Job(id="", kind="turn", title="", state="waiting", queue=queue, worker=worker)

    served = {"a": ("turns@q", "turns@a"), "b": ("turns@q",)}
    assert count_waiting("turns@q", [waits("a"), waits("a"), waits("b")], served) == 1
    assert count_waiting("turns@q", [waits("a"), waits("a")], served) == 0
    assert count_waiting("turns@a", [waits("a", "turns@a")], served) == 1
    assert count_waiting("turns@a", [waits("a", "turns@a")] * 80, served) == 50
    assert count_waiting("turns@none", [], {}) == 0


def test_a_question_and_its_answer_outlive_the_worker(yard: Yard) -> None:
    # After the restart the model makes the same call again, because it did not happen.
    again = call("Bash", command="echo hi >> log")
    id = yard.add(again, again, say("Done."), allow=())
    pid = yard.start()
    yard.wait_for(id, "waiting")
    yard.end(pid)
    yard.jobs.answer(id, ONCE)
    with yard.worker():
        (job,) = yard.wait(id)
    assert (job.state, yard.studio.read("log")) == ("done", "hi\n")


def test_cancel_stops_what_runs_and_retry_goes_on(yard: Yard) -> None:
    # A number that no other test sleeps for.
    nap = f"sleep 600.{os.getpid()}{time.time_ns()}"
    ran = f"echo begun >> log; {nap}; echo late >> log"
    id = yard.add(call("Bash", command=ran), say("Done."))
    with yard.worker():
        log = Path(yard.studio.project / "log")
        wait_until(log.exists)
        assert yard.jobs.cancel(id).state == "cancelled"
        wait_until(lambda: not _is_running(nap))
        assert yard.jobs.retry(id).state in ("queued", "running")
        # The model is asked again after the call that was stopped, which is not repeated.
        (job,) = yard.wait(id)
    assert (job.state, job.answer) == ("done", "Done.")
    assert yard.studio.read("log") == "begun\n"


def test_what_a_job_used_before_its_worker_died_counts(local: Yard) -> None:
    id = local.add(
        call("Bash", command=f"touch begun; {WAIT}"),
        call("Write", file_path="two.txt", content="2\n"),
        say("Done."),
        max_turns=2,
    )
    pid = local.start(concurrency=1)
    wait_until((local.studio.project / "begun").exists)
    local.end(pid)
    local.studio.let_go()
    # The only place of a worker that died is free again.
    other = local.add(say("Fine."))
    with local.worker(concurrency=1):
        local.wait_for(id, "waiting")
        local.jobs.answer(id, ONCE)
        job, second = local.wait(id, other)
        assert (job.state, second.state) == ("budget", "done")
        assert (local.studio.project / "two.txt").exists()
        # Whoever lets it go on gives it a limit of its own.
        local.jobs.retry(id)
        (job,) = local.wait(id)
    assert (job.state, job.answer) == ("done", "Done.")


def test_a_job_that_ends_before_it_is_cancelled_has_ended(
    local: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.let_go_before_cancel(monkeypatch)
    id = local.add(SLOW, say("Done."))
    with local.worker():
        local.wait_for(id, "running")
        with pytest.raises(UsageError, match="has already ended: done"):
            local.jobs.cancel(id)
    job = local.jobs.get(id)
    assert (job.state, job.answer) == ("done", "Done.")


def test_a_job_that_nobody_has_begun_is_cancelled_without_a_worker(yard: Yard) -> None:
    id = yard.add(say("x"))
    assert yard.jobs.cancel(id).state == "cancelled"
    with yard.worker(until_idle=True) as pid:
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert yard.jobs.get(id).state == "cancelled"


def test_a_job_that_fails_says_why_and_can_be_retried(yard: Yard) -> None:
    model = f"script:{yard.studio.workspace.root / 'later.jsonl'}"
    id = yard.add(model=model)
    with yard.worker():
        (job,) = yard.wait(id)
        assert (job.state, "later.jsonl" in job.reason) == ("failed", True)
        yard.studio.script(say("Now it is there."), name="later.jsonl")
        yard.jobs.retry(id)
        wait_until(lambda: yard.jobs.get(id).state == "done")
    assert yard.jobs.get(id).answer == "Now it is there."


def test_a_call_of_unknown_outcome_is_put_to_a_person_and_not_repeated(yard: Yard) -> None:
    ran = "echo begun >> log; sleep 300"
    answers = (call("Bash", command=ran), {**say("Gone on."), "expect": ["It is unknown"]})
    id, other = yard.add(*answers), yard.add(*answers)
    pid = yard.start()
    wait_until(lambda: _count_lines(yard, "log") == 2)
    yard.end(pid)
    with yard.worker():
        for one, answer in ((id, ONCE), (other, REJECT)):
            (question,) = yard.wait_for(one, "waiting").questions
            assert question.title.startswith("The worker ended while these calls were running.")
            assert question.details == (f"Bash {ran}",)
            yard.jobs.answer(one, answer)
        done, refused = yard.wait(id, other)
    assert (done.state, done.answer) == ("done", "Gone on.")
    assert (refused.state, refused.reason) == ("refused", "Not today.")
    assert _count_lines(yard, "log") == 2


def test_one_worker_runs_on_a_machine_and_terminals_start_it_once(yard: Yard) -> None:
    yard.add(say("x"))
    with yard.worker():
        wait_until(lambda: len(yard.jobs.list_workers()) == 1)
        assert yard.jobs.ensure_worker() is False
        second = yard.start()
        wait_until(lambda: not Path(f"/proc/{second}").exists())
        assert "A worker is running on this machine already." in yard.log()
        assert len(yard.jobs.list_workers()) == 1
    assert yard.jobs.list_workers() == []


def test_a_job_that_is_added_while_the_worker_ends_is_run(yard: Yard) -> None:
    # Whoever adds it sees that a worker runs, and starts none.
    model = yard.studio.script(say("Second."), name="late.jsonl")
    late = {"text": "Later.", "cwd": str(yard.studio.project), "model": model}
    yard.add(say("First."))
    with yard.worker(until_idle=True, late=late) as pid:
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
    ended = {(job.state, job.answer) for job in yard.jobs.list_jobs()}
    assert ended == {("done", "First."), ("done", "Second.")}
    assert (yard.jobs.list_workers(), yard.log()) == ([], "")


def test_the_version_of_jobs_is_ours_and_executors_differ(yard: Yard) -> None:
    ids = []
    for _ in range(2):
        ids.append(yard.add(say("x")))
        with yard.worker():
            yard.wait(*ids)
    found = yard.jobs._open().list_workflows()
    assert {one.app_version for one in found} == {"1"}
    assert len({one.executor_id for one in found}) == 2


def test_concurrency_is_bounded(yard: Yard) -> None:
    # The first waits for a second one; a third would have the time to begin beside them.
    pair = "until [ $(grep -c + log) -ge 2 ]; do sleep 0.1; done"
    ran = f"echo + >> log; {pair}; sleep 0.5; echo - >> log"
    ids = [yard.add(call("Bash", command=f"{ran} #{n}"), say("x")) for n in range(4)]
    with yard.worker(concurrency=2):
        yard.wait(*ids)
    running = most = 0
    for line in yard.studio.read("log").split():
        running += 1 if line == "+" else -1
        most = max(most, running)
    assert most == 2


# One kind of database


def test_the_file_of_jobs_is_private(studio, starter) -> None:
    yard = Yard(studio, None, starter)
    yard.add(say("x"))
    file = Path(yard.jobs.database.storage.file or "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()} == {0o600}
    yard.close()


def test_what_is_kept_has_no_pickles(studio, starter) -> None:
    yard = Yard(studio, None, starter)
    yard.add(say("x"))
    (status,) = yard.jobs._open().list_workflows()
    with yard.jobs._open()._sys_db.engine.begin() as connection:
        query = sa.text("SELECT serialization FROM workflow_status")
        assert connection.execute(query).scalars().all() == ["portable_json"]
    assert status.input is not None
    yard.close()


def test_a_database_that_cannot_be_reached_is_an_error_without_its_password(studio) -> None:
    jobs = Jobs(JobSettings(database="postgresql://me:hush@127.0.0.1:1/none"), studio.facts)
    with pytest.raises(MachineError, match="Could not reach the database") as caught:
        jobs.list_jobs()
    assert "hush" not in str(caught.value)
    jobs.close()


def test_another_machine_takes_over_from_a_worker_that_died(shared: Yard) -> None:
    ids = [
        shared.add(
            call("Bash", command=f"echo {n} >> begun; {WAIT}; echo {n} >> log"),
            say("x"),
            queue="pool",
        )
        for n in range(6)
    ]
    # Long leases: on a busy machine one that lives may be silent for seconds.
    first = shared.start("-a", queues=("pool",), concurrency=2, lease=120.0)
    second = shared.start("-b", queues=("pool",), concurrency=2, lease=120.0)
    # Two commands run on each machine until they are let go.
    wait_until(lambda: _count_lines(shared, "begun") == 4)
    shared.end(first)
    _let_lease_end(shared, first)
    shared.studio.write("go")
    # The other machine does not have the sessions that began there, so it asks.
    answered: set[str] = set()

    def have_ended() -> bool:
        for job in shared.jobs.list_jobs():
            for question in job.questions:
                assert "Start over on this machine?" in question.title
                shared.jobs.answer(job.id, ONCE, question=question.id)
                answered.add(job.id)
        return all(shared.jobs.get(id).state == "done" for id in ids)

    wait_until(have_ended)
    assert 1 <= len(answered) <= 2
    # Only what a person let begin again may be there twice.
    lines = [int(line) for line in shared.studio.read("log").split()]
    assert set(lines) == set(range(6))
    assert {n for n in lines if lines.count(n) > 1} <= {ids.index(one) for one in answered}
    dead = [one for one in shared.jobs.list_workers() if one.is_dead]
    assert len(dead) == 1
    shared.end(second)


def test_a_worker_that_was_declared_dead_stops_at_once(shared: Yard) -> None:
    id = shared.add(call("Bash", command="sleep 300; echo late >> log"), say("x"), queue="pool")
    pid = shared.start("-a", queues=("pool",), lease=2.0)
    wait_until(lambda: shared.jobs.get(id).state == "running")
    (worker,) = shared.jobs.list_workers()
    shared.jobs.database.workers.bury([worker.id])
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert not (shared.studio.project / "log").exists()


def _let_lease_end(yard: Yard, pid: int) -> None:
    """Let a worker have been silent for longer than any lease."""
    with yard.jobs.database.storage.begin() as connection:
        connection.execute(sa.update(WORKERS).where(WORKERS.c.pid == pid).values(seen=0.0))


def _is_running(text: str) -> bool:
    return any(text in _read_command(one) for one in Path("/proc").glob("[0-9]*"))


def _read_command(folder: Path) -> str:
    try:
        return (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _count_lines(yard: Yard, path: str) -> int:
    file = yard.studio.project / path
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_programs_that_prepare_a_new_database_at_once_do_not_wait_for_each_other(
    shared: Yard,
) -> None:
    databases = [JobDatabase.of(shared.settings, shared.facts()) for _ in range(3)]
    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(one.prepare) for one in databases]:
            done.result(timeout=240)
    assert all(one.is_current for one in databases)
    for database in databases:
        database.close()


def test_preparing_a_file_leaves_its_locks_alone(local: Yard) -> None:
    local.jobs.database.prepare()
    file = local.jobs.database.storage.file
    assert file is not None
    with open(file, "r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        make_private_file(file)
        # Another process asks, because a process never waits for its own locks.
        probe = (
            "import fcntl, sys\n"
            "with open(sys.argv[1], 'r+b') as file:\n"
            "    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        )
        asked = subprocess.run([sys.executable, "-c", probe, file], capture_output=True, text=True)
    assert "BlockingIOError" in asked.stderr


def test_the_first_users_of_a_new_file_do_not_get_in_each_others_way(local: Yard) -> None:
    databases = [JobDatabase.of(local.settings, local.facts()) for _ in range(4)]
    begin = threading.Barrier(len(databases))

    def use(number: int) -> None:
        database = databases[number]
        begin.wait()
        for turn in range(20):
            if not database.exists:
                database.prepare()
            database.sessions.keep(f"{number}-{turn}", "job", "machine", "session")

    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(use, number) for number in range(len(databases))]:
            done.result()
    kept = [f"{number}-{turn}" for number in range(len(databases)) for turn in range(20)]
    assert all(databases[0].sessions.find(key) is not None for key in kept)
    for database in databases:
        database.close()
