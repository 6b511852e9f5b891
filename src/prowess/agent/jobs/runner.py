"""Sub-agents as jobs, for the session that waits for them: `JobRunner` on the database of jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from prowess.agent.events import Status
from prowess.agent.jobs.values import (
    FINISHED,
    Job,
    JobLook,
    JobResult,
    Question,
    TurnSpec,
)
from prowess.errors import ProwessError, UnknownName, UsageError
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer
from prowess.model.settings import JobSettings

if TYPE_CHECKING:
    from prowess.agent.jobs.client import Jobs
    from prowess.runtime import Skills

_PACKAGES = ("dbos", "sqlalchemy")
# A worker that ends before its jobs do is replaced, but not again and again without a pause.
_SECONDS_BETWEEN_WORKERS = 10.0


def open_job_runner(skills: Skills) -> StoredJobRunner | None:
    """What runs sub-agents as jobs; None where the settings or a missing extra forbid it."""
    settings = skills.project.load_own_settings().jobs
    is_installed = all(find_spec(package) is not None for package in _PACKAGES)
    return StoredJobRunner(settings, skills.facts) if settings.background and is_installed else None


class StoredJobRunner:
    """Runs jobs through the database of the settings. Nothing is opened before it is used."""

    def __init__(self, settings: JobSettings, facts: Facts) -> None:
        self._settings = settings
        self._facts = facts
        self._jobs: Jobs | None = None
        # Sub-agents are started and followed side by side.
        self._lock = threading.Lock()
        self._last_worker = float("-inf")

    def start(self, id: str, spec: TurnSpec) -> None:
        """Add a job, and start a worker if none runs on this machine."""
        with self._reach() as jobs:
            jobs.add_subagent(id, spec, title=_name_job(spec))
        try:
            self._ensure_worker()
        except ProwessError:
            # Whoever is told that it did not begin must not find it done by a later worker.
            self.cancel(id)
            raise

    def look(self, id: str, *, seen: int) -> JobLook | None:
        """A job without the first `seen` events; None if there is no such job."""
        with self._reach() as jobs:
            try:
                # Asked before the events are read, so that none is missed at the end.
                job = jobs.get(id)
            except UnknownName:
                return None
            events = tuple(jobs.list_events(id, seen=seen))
        if job.state not in FINISHED:
            self._ensure_worker()
            return JobLook(events, job.questions)
        return JobLook(events, (), _find_result(job))

    def answer(self, question: Question, answer: ApprovalAnswer) -> None:
        """Answer a question, unless somebody has."""
        # Another terminal was faster, or the job was cancelled.
        with self._reach() as jobs, suppress(UsageError, UnknownName):
            jobs.database.questions.answer(question.id, answer)

    def cancel(self, id: str) -> None:
        """Cancel a job, unless it has ended."""
        with self._reach() as jobs, suppress(UsageError, UnknownName):
            jobs.cancel(id)

    def close(self) -> None:
        """Close every connection."""
        if self._jobs is not None:
            self._jobs.close()
            self._jobs = None

    def _ensure_worker(self) -> None:
        with self._lock:
            if time.monotonic() - self._last_worker < _SECONDS_BETWEEN_WORKERS:
                return
            self._last_worker = time.monotonic()
        with self._reach() as jobs:
            jobs.ensure_worker()

    @contextmanager
    def _reach(self) -> Iterator[Jobs]:
        # Imported here, because most sessions start no job: it takes longer than all else.
        from prowess.agent.jobs.client import Jobs

        with self._lock:
            if self._jobs is None:
                self._jobs = Jobs(self._settings, self._facts)
            jobs = self._jobs
        # The client of DBOS does not turn errors of the database into ours.
        with jobs.database.storage.reach():
            yield jobs


def _name_job(spec: TurnSpec) -> str:
    subagent = spec.subagent
    if subagent is None:
        return spec.text
    # The text of a skill begins alike for all, and its name says what it does.
    return subagent.name if subagent.requests.fork else f"{subagent.name}: {spec.text}"


def _find_result(job: Job) -> JobResult:
    if job.state == "cancelled":
        return JobResult(status="interrupted", reason="it was cancelled", session=job.session)
    status = msgspec.convert(job.state, Status)
    return JobResult(status=status, answer=job.answer, reason=job.reason, session=job.session)
