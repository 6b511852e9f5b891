"""`/loop` and `/schedule-remote-agents`: a typed command, a schedule, and jobs with the skills."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.activate.slash.dispatch import ToolReply
from prowess.agent.jobs.schedules import Schedules
from prowess.agent.shipped.commands import register_commands
from prowess.errors import ProwessError
from prowess.errors.agent import NoModel
from prowess.runtime import Skills
from prowess.state.job_files import is_worker_running, load_machine_name
from prowess.supply.bundled import BundledSource
from tests.agent.jobs.conftest import Yard, wait_until
from tests.agent.studio import Studio, call, say

STEP = {"what": "Count.", "check": "make"}
PLAN = call("SavePlan", title="Tides", why="Late.", steps=[STEP])


@pytest.fixture
def local(studio: Studio, starter: subprocess.Popen[str]) -> Iterator[Yard]:
    """Jobs in a file."""
    made = Yard(studio, None, starter)
    yield made
    made.close()


def turn_on(yard: Yard, *features: str, jobs: str = "") -> None:
    lines = "".join(f"{name} = true\n" for name in features)
    text = f"[features]\n{lines}{jobs}"
    yard.studio.workspace.write("home/.config/prowess/prowess.toml", text)


def type_command(yard: Yard, text: str, *, model: str | None) -> str:
    skills = Skills(
        yard.studio.project, facts=yard.facts(), cache=False, sources=(BundledSource(),)
    )
    register_commands(skills, find_model=lambda: model)
    answer = skills.run(text)
    assert isinstance(answer, ToolReply), answer
    return answer.text


@pytest.mark.slow
@pytest.mark.seed("C-118")
def test_a_loop_runs_a_shipped_skill_again_and_again_until_it_is_removed(local: Yard) -> None:
    turn_on(local, "loop", "dream")
    script = local.studio.script(PLAN, say("Planned."))
    said = type_command(local, "/loop * * * * * * /dream the tides", model=script)
    schedules = Schedules(local.jobs)
    [schedule] = schedules.list_all()
    assert said.startswith(f"Added the schedule {schedule.name}; it runs next at 20")
    assert (schedule.cron, schedule.spec.text) == ("* * * * * *", "/dream the tides")
    # The command has started a worker, which ends when nothing is left.
    plans = local.studio.workspace.home / ".prowess/plans"
    try:
        wait_until(lambda: len(list(plans.glob("*.md"))) >= 2)
    finally:
        schedules.remove(schedule.name)
    wait_until(lambda: not is_worker_running(local.facts()))
    assert {job.state for job in local.jobs.list_jobs()} == {"done"}


@pytest.mark.slow
@pytest.mark.seed("C-119")
def test_a_remote_schedule_runs_on_another_machine_that_serves_its_queue(shared: Yard) -> None:
    turn_on(
        shared, "schedule-remote-agents", jobs=f'[jobs]\ndatabase = "{shared.settings.database}"\n'
    )
    script = shared.studio.script(say("Checked."))
    said = type_command(
        shared, "/schedule-remote-agents nightly * * * * * * Check it.", model=script
    )
    schedules = Schedules(shared.jobs)
    [schedule] = schedules.list_all()
    assert (schedule.name in said, "nightly" in schedule.queue) == (True, True)
    assert not is_worker_running(shared.facts())
    with shared.worker("other", queues=("nightly",)):
        wait_until(lambda: any(job.state == "done" for job in shared.jobs.list_jobs()))
        schedules.remove(schedule.name)
        [worker] = shared.jobs.list_workers()
    done = [job for job in shared.jobs.list_jobs() if job.state == "done"]
    assert {job.answer for job in done} == {"Checked."}
    assert worker.machine != load_machine_name(shared.facts())


@pytest.mark.slow
@pytest.mark.needs("python3")
def test_the_hooks_of_a_builtin_plugin_apply_in_a_job(
    local: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    settings = '[enabled_plugins]\n"authoring@builtin" = true\n'
    local.studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    write = call("Write", file_path="a/SKILL.md", content="---\nname: A B\n---\n")
    job = local.add(write, {"text": "Seen.", "expect": ["`description` is missing"]})
    with local.worker():
        [ended] = local.wait(job)
    assert (ended.state, ended.answer) == ("done", "Seen."), ended


@pytest.mark.seed("C-118", "C-119", "C-123")
def test_what_is_wrong_or_off_adds_no_schedule(local: Yard) -> None:
    turn_on(local, "loop", "schedule-remote-agents")
    for text, problem in (
        ("/loop every day", "cron"),
        ("/loop */10 * * * *", "Add a prompt"),
        ("/schedule-remote-agents q * * * * * x", r"set `\[jobs\] database`"),
    ):
        with pytest.raises(ProwessError, match=problem):
            type_command(local, text, model="script:x")
    with pytest.raises(NoModel):
        type_command(local, "/loop * * * * * x", model=None)
    turn_on(local)
    skills = Skills(
        local.studio.project, facts=local.facts(), cache=False, sources=(BundledSource(),)
    )
    register_commands(skills, find_model=lambda: "script:x")
    assert not isinstance(skills.run("/loop * * * * * x"), ToolReply)
    assert Schedules(local.jobs).list_all() == []
