"""Schedules: prompts that run again and again, at the times of a cron expression.

A schedule is a row of our own, and each of its runs is a job. DBOS has schedules, too, but runs one
that was missed as often as it was missed, and starts a run although the last one still waits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.cron import check_cron, count_times, find_next, split_cron
from prowess.agent.jobs.queues import check_queue, name_turn_queue
from prowess.agent.jobs.values import FINISHED, Schedule, TurnSpec
from prowess.agent.models import anchor_script, find_model_name
from prowess.errors import UnknownName, UsageError
from prowess.errors.agent import NoModel
from prowess.machine.append_file import unique_hex
from prowess.machine.time_zone import find_time_zone, is_time_zone
from prowess.runtime import Skills

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
# Workers look every second; a run that is later than this was missed.
_LATE_SECONDS = 60.0


class UnknownSchedule(UnknownName):
    """No schedule has that name."""

    def __str__(self) -> str:
        return f"There is no schedule “{self.name}”; run `prowess jobs schedules` to see all."


class Schedules:
    """The schedules in a database of jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._table = jobs.database.schedules

    def add(
        self,
        cron: str,
        spec: TurnSpec,
        *,
        name: str | None = None,
        queue: str | None = None,
        zone: str | None = None,
    ) -> Schedule:
        """Add a schedule for this machine, or for the workers of a queue.

        Without a zone its times are those of this machine. Raises `UsageError` for a wrong
        expression, name, queue or zone, and for a name that is taken.
        """
        if not spec.text.strip():
            raise UsageError("The prompt is empty.")
        cron, zone = check_cron(cron), zone or find_time_zone(self._jobs.facts.env)
        if not is_time_zone(zone):
            raise UsageError(f"Unknown time zone “{zone}”; use a name such as `Europe/Berlin`.")
        if name is not None and not _NAME.fullmatch(name):
            raise UsageError(f"“{name}” is not a valid name; use a-z, 0-9 and hyphens.")
        if queue is not None:
            check_queue(queue)
        if not self._jobs.database.is_current:
            self._jobs.database.prepare()
        schedule = Schedule(
            name=name or f"schedule-{unique_hex()}",
            cron=cron,
            zone=zone,
            queue=name_turn_queue(queue or self._jobs.machine),
            spec=spec,
            next=find_next(cron, zone, self._table.load_time()),
        )
        if not self._table.add(schedule):
            raise UsageError(f"There is already a schedule named “{schedule.name}”.")
        return schedule

    def list_all(self) -> list[Schedule]:
        """Every schedule, by name."""
        return self._table.list_all() if self._jobs.database.is_current else []

    def get(self, name: str) -> Schedule:
        """A schedule. Raises `UnknownSchedule`."""
        found = {one.name: one for one in self.list_all()}
        if name not in found:
            raise UnknownSchedule(name, found)
        return found[name]

    def pause(self, name: str) -> Schedule:
        """Let a schedule start nothing until it is resumed."""
        self._table.pause(self.get(name).name)
        return self.get(name)

    def resume(self, name: str) -> Schedule:
        """Let a paused schedule go on; times that came meanwhile are not missed."""
        schedule = self.get(name)
        now = self._table.load_time()
        self._table.resume(name, next=find_next(schedule.cron, schedule.zone, now))
        return self.get(name)

    def remove(self, name: str) -> Schedule:
        """Forget a schedule; the jobs that it started stay. What it was is returned."""
        schedule = self.get(name)
        self._table.remove(name)
        return schedule

    def start_due(self, queues: Sequence[str]) -> list[Schedule]:
        """Add a job for each schedule of these queues whose time has come; those schedules.

        Several workers may do this at once: the job of a time has the same id for all of them. One
        whose last job has not ended waits for that, and then runs once for all times since.
        """
        started = []
        for due in self._table.list_due(queues):
            if due.last_job and self._is_unfinished(due.last_job):
                continue
            now = self._table.load_time()
            note = _explain_missed(due, now)
            id = f"{due.name}-{time.strftime('%y%m%d-%H%M%S', time.gmtime(due.next))}"
            # Added before the schedule moves on: a worker that is killed in between loses nothing.
            self._jobs.add_scheduled(id, due, note=note)
            following = find_next(due.cron, due.zone, now)
            if self._table.advance(due.name, due=due.next, next=following, job=id, note=note):
                started.append(msgspec.structs.replace(due, last_job=id, note=note))
        return started

    def has_active(self, queues: Sequence[str]) -> bool:
        """Whether a worker of these queues has schedules to wait for."""
        return self._table.has_active(queues)

    def _is_unfinished(self, job: str) -> bool:
        state = self._jobs.find_state(job)
        return state is not None and state not in FINISHED


def _explain_missed(schedule: Schedule, now: float) -> str:
    """What is said where times passed without a run; "" where none did."""
    times = count_times(schedule.cron, schedule.zone, schedule.next, now)
    if times == 1 and now - schedule.next < _LATE_SECONDS:
        return ""
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(schedule.next))
    if times == 1:
        return f"The run at {since} was missed; this run replaces it."
    return f"{times} runs since {since} were missed; this run replaces them all."


# For the skills `loop` and `schedule-remote-agents`


def start_loop(
    skills: Skills,
    arguments: str,
    *,
    model: str | None = None,
    start_worker: bool = True,
) -> Schedule:
    """Run a prompt again and again in this project: `CRON PROMPT`, as a user types it.

    The rules that the skills were opened with apply to it. Raises `UsageError` for wrong arguments,
    and `NoModel`.
    """
    cron, prompt = split_cron(arguments)
    if not prompt:
        raise UsageError("Add a prompt: `/loop */10 * * * * PROMPT`.")
    spec = _make_spec(skills, prompt, model)
    with Jobs(skills.project.load_own_settings().jobs, skills.facts) as jobs:
        schedule = Schedules(jobs).add(cron, spec, name=f"loop-{unique_hex()}")
        if start_worker:
            jobs.ensure_worker()
    return schedule


def schedule_remote(
    skills: Skills,
    arguments: str,
    *,
    model: str | None = None,
) -> Schedule:
    """Run a prompt on the workers of a shared database: `QUEUE CRON PROMPT`, as a user types it.

    Raises `UsageError` for wrong arguments and where no database is shared, and `NoModel`.
    """
    settings = skills.project.load_own_settings().jobs
    if settings.database is None:
        raise UsageError(
            "Remote agents need a database that other machines can reach; set `[jobs] database`"
            " in your own prowess.toml."
        )
    queue, _, rest = arguments.strip().partition(" ")
    cron, prompt = split_cron(rest) if rest.strip() else ("", "")
    if not prompt:
        raise UsageError(
            "Give a queue, a time and a prompt:"
            " `/schedule-remote-agents QUEUE */10 * * * * PROMPT`."
        )
    spec = _make_spec(skills, prompt, model)
    with Jobs(settings, skills.facts) as jobs:
        return Schedules(jobs).add(cron, spec, name=f"remote-{unique_hex()}", queue=queue)


def _make_spec(skills: Skills, prompt: str, model: str | None) -> TurnSpec:
    if find_model_name(model, skills.project.load_own_settings().agent) is None:
        raise NoModel
    return TurnSpec(
        text=prompt,
        cwd=skills.cwd,
        host=skills.host,
        model=anchor_script(model, skills.cwd),
        rules=skills.project.given_rules,
    )


def render_time(schedule: Schedule) -> str:
    """When a schedule is due, in its own time zone."""
    moment = datetime.fromtimestamp(schedule.next, ZoneInfo(schedule.zone))
    return f"{moment:%Y-%m-%d %H:%M:%S} {schedule.zone}"


def render_added(schedule: Schedule) -> str:
    """What the user is told."""
    return (
        f"Added the schedule {schedule.name}; it runs next at {render_time(schedule)}.\n"
        f"See all with `prowess jobs schedules`; stop it with"
        f" `prowess jobs schedules remove {schedule.name}`."
    )
