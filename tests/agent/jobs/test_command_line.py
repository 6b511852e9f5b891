"""`prowess jobs` and `prowess worker` through the real entry point, with workers as they are."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prowess.agent.events import TextDelta
from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.values import Job, Question
from prowess.cli.terminal.job_output import JobProgress
from prowess.machine.facts import current_facts
from prowess.model.settings import JobSettings
from prowess.state.job_files import is_worker_running
from tests.agent.jobs.conftest import wait_until
from tests.cli.conftest import terminal
from tests.cli.terminal import Terminal

__all__ = ["terminal"]


@pytest.fixture
def desk(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal whose workers end with the test."""
    monkeypatch.setenv("PROWESS_STATE_DIR", str(terminal.root / "state"))
    yield terminal
    with Jobs(JobSettings(), current_facts()) as jobs:
        # One that was declared dead may have left no process id, or one that is another's now.
        for worker in [one for one in jobs.list_workers() if not one.is_dead]:
            try:
                os.kill(worker.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def script(desk: Terminal, *answers: dict[str, Any]) -> str:
    lines = [{"prowess-script": 1}, *answers]
    desk.write("script.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    return f"script:{desk.root}/script.jsonl"


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "Bash", "input": {"command": command}}]}


@pytest.mark.slow
def test_a_job_from_its_start_to_its_end(desk: Terminal) -> None:
    model = script(desk, bash("echo hi"), {"text": "Done."})
    answer = desk.run("jobs", "add", "Say hi", "--model", model)
    assert answer.out.startswith("Added the job ")
    id = answer.out.split()[3].rstrip(".")
    # The worker was started by the command; nobody allows the call, so it waits.
    wait_until(lambda: desk.json("jobs", "show", id)["state"] == "waiting")
    shown = desk.run("jobs", "show", id)
    assert "waits for you" in shown.out
    assert "Bash echo hi" in shown.out
    assert f"Answer with `prowess jobs approve {id}`" in shown.out
    assert desk.run("jobs", "approve", id, "--feedback", "x").code == 2
    assert desk.run("jobs", "approve", id).out == "Approved: Bash echo hi\n"
    followed = desk.run("jobs", "show", id, "--follow")
    assert (followed.code, followed.out) == (0, "Done.\n")
    assert "\x1b" not in followed.out + followed.err
    listed = desk.run("jobs")
    assert listed.out.startswith(f"{id}  done ")
    assert listed.out.endswith("turn   Say hi\n")
    (job,) = desk.json("jobs")["jobs"]
    assert (job["id"], job["state"], job["answer"]) == (id, "done", "Done.")
    for words, said in (
        (("cancel", id), "has already ended: done."),
        (("retry", id), "Only a job that ended without success can be retried"),
        (("approve", id), "is not waiting for an answer."),
    ):
        refused = desk.run("jobs", *words)
        assert (refused.code, said in refused.err) == (2, True), refused


@pytest.mark.slow
def test_a_skill_that_forks_into_the_background_outlives_the_terminal_as_a_job(
    desk: Terminal,
) -> None:
    fields = {"context": "fork", "background": "true"}
    desk.skill("project/.agents/skills/survey", body="Survey $ARGUMENTS.\n", **fields)
    model = script(desk, {"text": "Two gauges.", "expect": ["Survey the coast."]})
    id = desk.json("jobs", "add", "/survey the coast", "--model", model)["job"]
    followed = desk.run("jobs", "show", id, "--follow")
    assert followed.code == 0, followed
    assert desk.json("jobs", "show", id)["answer"] == "Two gauges."


@pytest.mark.slow
def test_a_job_is_cancelled_and_retried(desk: Terminal) -> None:
    model = script(desk, bash("echo go >> begun; sleep 300"), {"text": "Went on."})
    added = desk.json("jobs", "add", "Work", "--model", model, "--allow", "Bash")
    id = added["job"]
    wait_until((desk.project / "begun").exists)
    assert desk.run("jobs", "cancel", id[:-2]).out == f"Cancelled {id}: Work\n"
    assert desk.run("jobs", "show", id, "--follow").code == 130
    assert desk.run("jobs", "retry", id).out == f"Retrying {id}: Work\n"
    followed = desk.run("jobs", "show", id, "--follow", "--json")
    assert followed.code == 0
    events = [json.loads(line) for line in followed.out.splitlines()]
    assert events[-1]["status"] == "done"


def test_what_does_not_exist_is_said(desk: Terminal) -> None:
    listed = desk.run("jobs")
    assert (listed.code, listed.out, listed.err) == (0, "", "No jobs yet.\n")
    for command in ("show", "cancel", "retry", "approve"):
        answer = desk.run("jobs", command, "nothing")
        assert (answer.code, answer.out) == (2, "")
        assert "There is no job “nothing”; run `prowess jobs` to see all." in answer.err
    # Asking leaves nothing behind.
    assert not (desk.root / "state/jobs/jobs.sqlite").exists()


def test_a_database_that_is_not_there_is_said(desk: Terminal) -> None:
    desk.write(
        "home/.config/prowess/prowess.toml",
        '[jobs]\ndatabase = "postgresql://me:hush@127.0.0.1:1/none"\n',
    )
    for words in (("jobs",), ("jobs", "show", "x"), ("jobs", "schedules"), ("worker",)):
        answer = desk.run(*words)
        assert answer.code == 4
        assert "Could not reach the database" in answer.err
        assert "hush" not in answer.err


@pytest.mark.slow
def test_without_the_extra_it_is_said_what_to_install(desk: Terminal) -> None:
    program = (
        "import sys; sys.modules['dbos'] = None; from prowess.cli import main; sys.exit(main())"
    )
    for words in (("jobs",), ("jobs", "schedules"), ("worker",), ("worker", "--detach")):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=desk.project,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert 'pip install "prowess[jobs]"' in done.stderr


@pytest.mark.slow
def test_a_worker_is_started_in_the_background_once_and_stopped(desk: Terminal) -> None:
    started = desk.json("worker", "--detach", "--queue", "pool")
    wait_until(lambda: "is ready" in Path(started["log"]).read_text())
    again = desk.run("worker", "--detach")
    assert (again.code, "A worker is running on this machine already." in again.err) == (2, True)
    assert desk.run("worker", "--detach", "--queue", "a@b").code == 2
    os.kill(started["pid"], signal.SIGTERM)
    wait_until(lambda: desk.run("worker", "--until-idle").code == 0)


def test_schedules_from_the_command_line(desk: Terminal) -> None:
    assert desk.run("jobs", "schedules").err == "No schedules yet.\n"
    words = ("jobs", "schedules", "add", "--queue", "pool", "--zone", "UTC", "--model", "a:b")
    added = desk.run(*words, "--cron", "0 3 * * *", "--name", "nightly", "Tidy up")
    assert added.code == 0, added
    assert added.out.startswith("Added the schedule nightly; it runs next at ")
    assert " 03:00:00 UTC." in added.out
    listed = desk.run("jobs", "schedules")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["name", "nightly"]
    assert listed.out.endswith("03:00:00 UTC  –         Tidy up\n")
    assert desk.run("jobs", "schedules", "pause", "nightly").out == "Paused nightly.\n"
    assert " paused " in desk.run("jobs", "schedules").out
    (paused,) = desk.json("jobs", "schedules")["schedules"]
    assert (paused["is_paused"], paused["queue"]) == (True, "turns@pool")
    resumed = desk.run("jobs", "schedules", "resume", "nightly").out
    assert resumed.startswith("Resumed nightly; it runs next at ")
    wrong = desk.run(*words, "--cron", "often", "x")
    assert (wrong.code, "“often” is not a cron expression" in wrong.err) == (2, True)
    assert desk.run("jobs", "schedules", "remove", "nightly").out == "Removed nightly.\n"
    gone = desk.run("jobs", "schedules", "remove", "nightly")
    assert (gone.code, "There is no schedule “nightly”" in gone.err) == (2, True)


# Progress


def make_part(number: int, state: Any, *questions: Question) -> Job:
    return Job(
        id=f"b.0{number}",
        kind="unit",
        title=f"Unit {number}",
        state=state,
        queue="q",
        parent="b",
        questions=questions,
    )


class Screen(io.StringIO):
    """What a terminal was sent."""

    def isatty(self) -> bool:
        return True

    def read_lines(self) -> list[str]:
        """What a person sees: `CSI n F` and `CSI J` go up and clear."""
        lines: list[str] = []
        for piece in re.split(r"(\x1b\[\d+F)\x1b\[J", self.getvalue()):
            if piece.startswith("\x1b["):
                del lines[len(lines) - int(piece[2:-1]) :]
            else:
                lines += piece.splitlines()
        return lines


def test_on_a_terminal_the_parts_are_drawn_again_in_place(monkeypatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    job = Job(id="b", kind="batch", title="x", state="running", queue="q")
    progress = JobProgress(lambda event: print("Work."))
    progress.update(job, [make_part(1, "running"), make_part(2, "queued")])
    progress.show(TextDelta(text="Work.\n"))
    progress.update(job, [make_part(1, "done"), make_part(2, "running")])
    progress.update(job, [make_part(1, "done"), make_part(2, "running")])
    lines = screen.read_lines()
    assert [line.split()[:2] for line in lines] == [
        ["Work."],
        ["b.01", "done"],
        ["b.02", "running"],
    ]
    progress.finish()
    assert screen.read_lines() == ["Work."]


def test_elsewhere_each_change_is_a_line(capsys) -> None:
    job = Job(id="b", kind="batch", title="x", state="running", queue="q")
    progress = JobProgress(lambda event: None)
    asked = Question(id="7", job="b.02", title="Bash rm", details=("  rm x",))
    progress.update(job, [make_part(1, "running"), make_part(2, "queued")])
    progress.update(job, [make_part(1, "done"), make_part(2, "waiting", asked)])
    progress.update(job, [make_part(1, "done"), make_part(2, "waiting", asked)])
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split()[:2] for line in err.splitlines()] == [
        ["b.01", "running"],
        ["b.02", "queued"],
        ["waits", "for"],
        ["rm", "x"],
        ["Answer", "with"],
        ["b.01", "done"],
        ["b.02", "waiting"],
    ]
    assert "\x1b" not in err


@pytest.mark.slow
def test_workers_are_listed_with_their_queues_and_what_they_do(desk: Terminal) -> None:
    nobody = desk.run("jobs", "workers")
    assert (nobody.code, nobody.out) == (0, "")
    assert "No worker is running" in nobody.err
    model = script(desk, bash("echo hi"), {"text": "Done."})
    id = desk.json("jobs", "add", "Say hi", "--model", model)["job"]
    wait_until(lambda: desk.json("jobs", "show", id)["state"] == "waiting")
    [worker] = desk.json("jobs", "workers")["workers"]
    places = {queue.partition("@")[2] for queue in worker["queues"]}
    assert (places, worker["is_dead"]) == ({worker["machine"]}, False)
    assert worker["jobs"] == [{"id": id, "state": "waiting", "title": "Say hi"}]
    shown = desk.run("jobs", "workers").out.splitlines()
    assert re.fullmatch(
        rf"{worker['id']}  seen \d+s ago  {worker['machine']}, process {worker['pid']}", shown[0]
    )
    assert shown[1:] == [f"  queues   {worker['machine']}", f"  waiting  {id}  Say hi"]
    os.kill(worker["pid"], signal.SIGKILL)
    wait_until(lambda: not is_worker_running(current_facts()))
    desk.run("worker", "--detach")
    # The next one on the machine knows that the first is gone, and takes over its job.
    wait_until(lambda: {one["is_dead"] for one in list_workers(desk, "--all")} == {True, False})
    [living] = list_workers(desk)
    assert living["id"] != worker["id"]
    assert f"{worker['id']}  dead  " in desk.run("jobs", "workers", "--all").out


def list_workers(desk: Terminal, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.json("jobs", "workers", *options)["workers"]
    return found


def test_a_job_that_no_worker_takes_is_listed_with_the_reason(desk: Terminal) -> None:
    id = desk.json("jobs", "add", "Look.", "--queue", "gpu")["job"]
    answer = desk.run("jobs")
    assert answer.out.startswith(f"{id}  queued")
    reason = "no running worker serves it; start `prowess worker --queue gpu`"
    assert answer.err == f"Queued in turns@gpu, but {reason}: {id}.\n"
    assert f"  blocked  {reason}\n" in desk.run("jobs", "show", id).out
    (shape,) = desk.json("jobs")["jobs"]
    assert shape["blocked"] == reason
