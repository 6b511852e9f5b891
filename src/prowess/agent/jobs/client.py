"""What terminals do with jobs: add them, read about them, cancel, retry and approve.

Nothing is run here, so any number of these may be open beside a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from dbos import DBOSClient, DBOSPortableJSONSerializer, WorkflowStatus, error

from prowess.agent.events import Event, parse_event
from prowess.agent.jobs.database import JobDatabase
from prowess.agent.jobs.queues import (
    name_leader_queue,
    name_subagent_queue,
    name_turn_queue,
)
from prowess.agent.jobs.served_queues import ServedQueues
from prowess.agent.jobs.values import (
    FINISHED,
    LEASE_SECONDS,
    PROGRESS,
    TURN,
    Job,
    JobResult,
    Question,
    Schedule,
    State,
    TurnSpec,
    WorkerInfo,
    new_job_id,
)
from prowess.errors import UnknownName, UsageError
from prowess.machine.detached import start_detached
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer
from prowess.model.settings import JobSettings
from prowess.state.job_files import (
    WorkerRunning,
    is_worker_running,
    jobs_folder,
    load_machine_name,
)

_APPLICATION = "prowess"
_LOOK_SECONDS = 0.25
_MOST_TITLE = 80
_ACTIVE = ["ENQUEUED", "PENDING", "DELAYED"]
_STATES: dict[str, State] = {
    "ENQUEUED": "queued",
    "DELAYED": "queued",
    "PENDING": "running",
    "CANCELLED": "cancelled",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
}


class UnknownJob(UnknownName):
    """No job has that id."""

    def __str__(self) -> str:
        return f"There is no job “{self.name}”; run `prowess jobs` to see all."


class Jobs:
    """The jobs of a user, or of everybody who shares a database."""

    def __init__(self, settings: JobSettings, facts: Facts) -> None:
        self.database = JobDatabase.of(settings, facts)
        self.facts = facts
        self._client: DBOSClient | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there has never been a job, so that nothing has to be prepared to say so."""
        return not self.database.exists

    def add_turn(self, spec: TurnSpec, *, queue: str | None = None) -> str:
        """Add a job that is one turn of an agent; its id."""
        return self._add(TURN, spec, name_turn_queue(queue or self.machine), title=spec.text)

    def add_scheduled(self, id: str, schedule: Schedule, *, note: str) -> None:
        """Add the job of a schedule for one time; with an id that exists nothing is added."""
        self._enqueue(
            TURN, schedule.spec, schedule.queue, id=id, title=schedule.spec.text, note=note
        )

    def add_subagent(self, id: str, spec: TurnSpec, *, title: str) -> None:
        """Add the job of a sub-agent of a session here; with an id that exists nothing is added."""
        if not self.database.exists:
            self.database.prepare()
        self._enqueue(TURN, spec, name_subagent_queue(self.machine), id=id, title=title)

    def add_leader(self, workflow: str, spec: msgspec.Struct, *, title: str) -> str:
        """Add a job on this machine that will add others and wait for them; its id."""
        return self._add(workflow, spec, name_leader_queue(self.machine), title=title)

    def _add(self, workflow: str, spec: msgspec.Struct, queue: str, *, title: str) -> str:
        if not self.database.exists:
            self.database.prepare()
        id = new_job_id()
        self._enqueue(workflow, spec, queue, id=id, title=title)
        return id

    def _enqueue(
        self,
        workflow: str,
        spec: msgspec.Struct,
        queue: str,
        *,
        id: str,
        title: str,
        note: str = "",
    ) -> None:
        self._open().enqueue(
            {
                "workflow_name": workflow,
                "queue_name": queue,
                "workflow_id": id,
                "application_name": _APPLICATION,
                "attributes": {
                    "title": " ".join(title.split())[:_MOST_TITLE],
                    "cwd": str(getattr(spec, "cwd", "")),
                    # DBOS forgets the queue of a job that is cancelled.
                    "queue": queue,
                    "note": note,
                },
            },
            msgspec.to_builtins(spec),
        )

    def ensure_worker(self) -> bool:
        """Start a worker in the background unless one runs here; whether one was started.

        It ends when no job and no schedule is left.
        """
        try:
            start_worker(self.facts, ["--until-idle"])
        except WorkerRunning:
            return False
        return True

    def list_jobs(self, *, every: bool = False, most: int = 100) -> list[Job]:
        """Jobs, newest first. Jobs that belong to another one only with `every`."""
        if self.is_empty:
            return []
        found = self._open().list_workflows(
            sort_desc=True, limit=most, has_parent=None if every else False, load_input=False
        )
        return self._shape_all(found)

    def get(self, id: str) -> Job:
        """A job by its id, or by the only beginning of one. Raises `UnknownJob`."""
        if self.is_empty:
            raise UnknownJob(id, [])
        # Not what it was given, which may have images: jobs are looked at several times a second.
        found = self._open().list_workflows(workflow_id_prefix=id, load_input=False)
        exact = [one for one in found if one.workflow_id == id]
        chosen = exact or [one for one in found if not one.parent_workflow_id] or found
        if len(chosen) != 1:
            raise UnknownJob(id, [one.workflow_id for one in found])
        (job,) = self._shape_all(chosen, self.database.questions.list_open(chosen[0].workflow_id))
        return job

    def _shape_all(
        self, found: Sequence[WorkflowStatus], waiting: Sequence[Question] | None = None
    ) -> list[Job]:
        """Workflows as jobs. `waiting` are the open questions, if they are known already."""
        if waiting is None:
            waiting = self.database.questions.list_open()
        jobs = [_shape(one, waiting) for one in found]
        # Most jobs that are looked at have begun, and then the workers do not matter.
        if not any(job.state == "queued" for job in jobs):
            return jobs
        queues = self.database.workers.list_queues()
        served = ServedQueues(self.list_live_workers(), queues, self.machine)
        for index, (job, status) in enumerate(zip(jobs, found, strict=True)):
            if job.state == "queued":
                blocked = served.explain(job.queue, status.app_version)
                jobs[index] = msgspec.structs.replace(job, blocked=blocked)
        return jobs

    def find_state(self, id: str) -> State | None:
        """The state of a job by its whole id; None if there is none."""
        found = self._open().list_workflows(workflow_ids=[id], load_input=False)
        return _shape(found[0], ()).state if found else None

    def has_active(self, queues: Sequence[str]) -> bool:
        """Whether any job of these queues has not ended."""
        found = self._open().list_workflows(
            status=_ACTIVE, queue_name=list(queues), limit=1, load_input=False, load_output=False
        )
        return bool(found)

    def list_parts(self, id: str) -> list[Job]:
        """The jobs that belong to another one, in the order in which they were added."""
        return self._shape_all(self._open().list_workflows(parent_workflow_id=id, load_input=False))

    def list_workers(self) -> list[WorkerInfo]:
        """The workers that serve this database, dead ones too."""
        return [] if self.is_empty else self.database.workers.list_all()

    def list_live_workers(self) -> list[WorkerInfo]:
        """The workers that were heard of lately."""
        return [
            one for one in self.list_workers() if not one.is_dead and one.silent < LEASE_SECONDS
        ]

    def list_running(self) -> list[Job]:
        """The jobs that workers have taken and not ended, and parts of jobs."""
        if self.is_empty:
            return []
        found = self._open().list_workflows(status="PENDING", load_input=False)
        waiting = self.database.questions.list_open()
        return [_shape(one, waiting) for one in found]

    def cancel(self, id: str) -> Job:
        """Cancel a job and those that belong to it; what runs is stopped within a second.

        Raises `UsageError` for one that has ended, also where it ends in this very moment.
        """
        job = self.get(id)
        if job.state not in FINISHED:
            self._open().cancel_workflow(job.id, cancel_children=True)
            for one in (job, *self.list_parts(job.id)):
                self.database.questions.drop(one.id)
            job = self.get(job.id)
            if job.state == "cancelled":
                return job
        raise UsageError(f"The job {job.id} has already ended: {job.state}.")

    def retry(self, id: str) -> Job:
        """Let a job go on that was cancelled, refused or has failed."""
        job = self.get(id)
        if job.state not in FINISHED or job.state == "done":
            raise UsageError(
                f"Only a job that ended without success can be retried; {job.id} is {job.state}."
            )
        self.database.sessions.reopen(job.id)
        self._open().rewind_workflow(job.id, queue_name=job.queue)
        return self.get(job.id)

    def answer(self, id: str, answer: ApprovalAnswer, *, question: str | None = None) -> Question:
        """Answer what a job, or a part of it, waits for. Raises `UsageError` if that is unclear."""
        job = self.get(id)
        ids = {job.id, *(one.id for one in self.list_parts(job.id))}
        waiting = [one for one in self.database.questions.list_open() if one.job in ids]
        if question is not None:
            waiting = [one for one in waiting if one.id == question]
        if not waiting:
            raise UsageError(f"The job {job.id} is not waiting for an answer.")
        if len(waiting) > 1:
            listed = "; ".join(f"{one.id}: {one.title}" for one in waiting)
            raise UsageError(f"There are several questions; choose one with --question: {listed}.")
        (chosen,) = waiting
        if answer.reply not in chosen.choices:
            allowed = ", ".join(one.value for one in chosen.choices)
            raise UsageError(f"This question can be answered with {allowed}.")
        self.database.questions.answer(chosen.id, answer)
        return chosen

    def follow(self, id: str, *, on_wait: Callable[[Job], object] | None = None) -> Iterator[Event]:
        """The events of a job, those so far and then as they come, until it has ended.

        `on_wait` is called between events, a few times a second.
        """
        offset = 0
        while True:
            # Asked before the stream is read, so that nothing is missed at the end.
            job = self.get(id)
            for event in self.list_events(job.id, seen=offset):
                offset += 1
                yield event
            if job.state in FINISHED:
                return
            if on_wait is not None:
                on_wait(job)
            time.sleep(_LOOK_SECONDS)

    def list_events(self, id: str, *, seen: int = 0) -> Iterator[Event]:
        """The events of a job so far, without the first ones that were `seen`."""
        try:
            for text in self._open().read_stream(
                id, PROGRESS, offset=seen, polling_interval_sec=0.05, timeout_seconds=0.01
            ):
                yield parse_event(text)
        except error.DBOSStreamTimeoutError:
            return

    def close(self) -> None:
        """Close every connection."""
        if self._client is not None:
            self._client.destroy()
            self._client = None
        self.database.close()

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def machine(self) -> str:
        """The name of this machine for jobs."""
        return load_machine_name(self.facts)

    def _open(self) -> DBOSClient:
        if self._client is None:
            self._client = DBOSClient(
                system_database_url=self.database.url,
                serializer=DBOSPortableJSONSerializer(),
                application_name=_APPLICATION,
                retry_connection_errors=False,
            )
        return self._client


def start_worker(facts: Facts, options: Sequence[str]) -> tuple[int, str]:
    """Start a worker in the background; its process id, and the file that it writes to.

    Raises `WorkerRunning`.
    """
    if is_worker_running(facts):
        raise WorkerRunning
    log = f"{jobs_folder(facts)}/worker.log"
    return start_detached(["worker", *options], env=facts.env, log=log), log


def _shape(status: WorkflowStatus, waiting: Sequence[Question]) -> Job:
    """A workflow as a job."""
    attributes = status.attributes or {}
    result = _read_result(status.output)
    questions = tuple(one for one in waiting if one.job == status.workflow_id)
    state: State = _STATES.get(status.status, "running")
    reason = str(status.error) if status.error is not None else ""
    if status.status == "SUCCESS":
        state, reason = result.status, result.reason
    if state == "running" and questions:
        state = "waiting"
    return Job(
        id=status.workflow_id,
        kind=status.name.removeprefix("prowess."),
        title=str(attributes.get("title", "")),
        state=state,
        queue=str(attributes.get("queue", status.queue_name or "")),
        cwd=str(attributes.get("cwd", "")),
        worker=status.executor_id or "" if state in ("running", "waiting") else "",
        parent=status.parent_workflow_id or "",
        created=(status.created_at or 0) / 1000,
        updated=(status.updated_at or 0) / 1000,
        attempts=status.recovery_attempts or 0,
        reason=reason,
        note=str(attributes.get("note", "")),
        answer=result.answer,
        session=result.session,
        questions=questions,
    )


def _read_result(output: Any) -> JobResult:
    try:
        return msgspec.convert(output, JobResult)
    except msgspec.ValidationError:
        # Not ended yet, or a workflow of another program in the same database.
        return JobResult(status="done")
