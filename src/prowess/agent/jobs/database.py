"""The database of jobs: where it is, and its tables beside those of DBOS."""

from __future__ import annotations

from prowess.agent.jobs.question_table import QuestionTable
from prowess.agent.jobs.schedule_table import SCHEDULES, ScheduleTable
from prowess.agent.jobs.session_table import SessionTable
from prowess.agent.jobs.storage import Storage
from prowess.agent.jobs.worker_table import WORKERS, WorkerTable
from prowess.model.facts import Facts
from prowess.model.settings import JobSettings
from prowess.state.job_files import jobs_folder


class JobDatabase:
    """The database of jobs, with an attribute for each table."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.workers = WorkerTable(storage)
        self.sessions = SessionTable(storage)
        self.questions = QuestionTable(storage)
        self.schedules = ScheduleTable(storage)

    @classmethod
    def of(cls, settings: JobSettings, facts: Facts) -> JobDatabase:
        """The database of the settings: PostgreSQL, or the user's own file."""
        if settings.database is not None:
            return cls(Storage(settings.database))
        file = f"{jobs_folder(facts)}/jobs.sqlite"
        return cls(Storage(f"sqlite:///{file}", file=file))

    @property
    def url(self) -> str:
        """Its address, as DBOS takes it."""
        return self.storage.url

    @property
    def exists(self) -> bool:
        """Whether anybody has prepared it."""
        return self.storage.has_tables(WORKERS)

    @property
    def is_current(self) -> bool:
        """Whether it has every table; one that an older version prepared has not."""
        return self.storage.has_tables(WORKERS, SCHEDULES)

    def prepare(self) -> None:
        """Make the file and all tables, or bring them up to date."""
        self.storage.prepare()

    def close(self) -> None:
        """Close every connection."""
        self.storage.close()
