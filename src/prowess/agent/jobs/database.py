"""The database of jobs: where it is, its tables beside those of DBOS, and its own clock.

DBOS has no leases and no questions that a running step can ask, so these have tables here. Ages are
measured with the clock of the database, because the clocks of machines differ.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from prowess.agent.jobs.values import Question, WorkerInfo
from prowess.errors import MachineError, UnknownName, UsageError
from prowess.machine.append_file import unique_hex
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer
from prowess.model.settings import JobSettings
from prowess.state.job_files import is_file, jobs_folder, make_private_file
from prowess.state.locks import hold_lock

# Any number that other programs on the same server are unlikely to lock.
_MIGRATION_LOCK = 7_205_061_113
_BUSY_MS = 30_000

_tables = sa.MetaData()
_workers = sa.Table(
    "prowess_workers",
    _tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("pid", sa.BigInteger, nullable=False),
    sa.Column("seen", sa.Double, nullable=False),
    sa.Column("is_dead", sa.Boolean, nullable=False),
)
_sessions = sa.Table(
    "prowess_sessions",
    _tables,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("job", sa.Text, nullable=False, index=True),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("session", sa.Text, nullable=False),
    sa.Column("is_reopened", sa.Boolean, nullable=False),
)
_questions = sa.Table(
    "prowess_questions",
    _tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("job", sa.Text, nullable=False, index=True),
    # The same question of a step that runs again is the same row.
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("asked", sa.Double, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text),
    sa.Column("is_taken", sa.Boolean, nullable=False),
)


class TurnRecord(NamedTuple):
    """Where a turn began. A reopened one goes on, even if it has ended."""

    machine: str
    session: str
    is_reopened: bool


class JobDatabase:
    """The database of jobs, opened by address. Methods raise `MachineError` if it is gone."""

    def __init__(self, url: str, *, file: str | None = None) -> None:
        self.url = url
        self.file = file
        self._is_sqlite = url.startswith("sqlite")
        # The library reports each connection and each cancelled job; people are told otherwise.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        made = sa.make_url(url)
        if not self._is_sqlite:
            made = made.set(drivername="postgresql+psycopg")
        arguments = {} if self._is_sqlite else {"connect_timeout": 10}
        engine = sa.create_engine(made, pool_pre_ping=True, connect_args=arguments)
        if self._is_sqlite:
            sa.event.listen(engine, "connect", _prepare_sqlite)
            self._engine = engine
        else:
            self._engine = engine.execution_options(schema_translate_map={None: "prowess"})

    @classmethod
    def of(cls, settings: JobSettings, facts: Facts) -> JobDatabase:
        """The database of the settings: PostgreSQL, or the user's own file."""
        if settings.database is not None:
            return cls(settings.database)
        file = f"{jobs_folder(facts)}/jobs.sqlite"
        return cls(f"sqlite:///{file}", file=file)

    @property
    def exists(self) -> bool:
        """Whether anybody has prepared it."""
        if self.file is not None and not is_file(self.file):
            return False
        with self._reach():
            return sa.inspect(self._engine).has_table(
                _workers.name, schema=None if self._is_sqlite else "prowess"
            )

    def prepare(self) -> None:
        """Make the file and all tables, or bring them up to date."""
        if self.file is None:
            # No transaction may stay open here: DBOS builds indexes that wait for all others.
            engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
            with self._reach(), engine.connect() as connection:
                lock = sa.text("SELECT pg_advisory_lock(:number)")
                connection.execute(lock, {"number": _MIGRATION_LOCK})
                try:
                    self._migrate()
                finally:
                    # The lock ends with its connection, which must not go back to the pool.
                    connection.invalidate()
            return
        make_private_file(self.file)
        with hold_lock(self.file, seconds=60), self._reach():
            self._migrate()

    def _migrate(self) -> None:
        from dbos import DBOS

        DBOS.migrate(self.url)
        with self._engine.begin() as connection:
            if not self._is_sqlite:
                connection.execute(sa.text("CREATE SCHEMA IF NOT EXISTS prowess"))
            _tables.create_all(connection)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    # Workers

    def add_worker(self, id: str, machine: str, pid: int) -> None:
        """Write down a worker before it takes any job."""
        row = {"id": id, "machine": machine, "pid": pid, "seen": self._now, "is_dead": False}
        with self._begin() as connection:
            connection.execute(sa.insert(_workers).values(**row))

    def beat(self, id: str) -> bool:
        """Say that a worker is alive; False if others have declared it dead meanwhile."""
        change = sa.update(_workers).where(_workers.c.id == id, ~_workers.c.is_dead)
        with self._begin() as connection:
            return connection.execute(change.values(seen=self._now)).rowcount == 1

    def bury(self, ids: Sequence[str]) -> None:
        """Declare workers dead; one that is alive after all sees it at its next beat."""
        if not ids:
            return
        row = {"machine": "", "pid": 0, "seen": 0.0, "is_dead": True}
        with self._begin() as connection:
            for id in ids:
                insert = self._insert(_workers).values(id=id, **row)
                connection.execute(
                    insert.on_conflict_do_update(index_elements=["id"], set_={"is_dead": True})
                )

    def bury_machine(self, machine: str, *, but: str) -> None:
        """Declare the workers of this machine dead; the caller holds the lock that they held."""
        change = sa.update(_workers).where(_workers.c.machine == machine, _workers.c.id != but)
        with self._begin() as connection:
            connection.execute(change.values(is_dead=True))

    def remove_worker(self, id: str) -> None:
        """Forget a worker that has stopped."""
        with self._begin() as connection:
            connection.execute(sa.delete(_workers).where(_workers.c.id == id))

    def list_workers(self) -> list[WorkerInfo]:
        """Every worker that has not been forgotten."""
        silent = (self._now - _workers.c.seen).label("silent")
        columns = (_workers.c.id, _workers.c.machine, _workers.c.pid, _workers.c.is_dead, silent)
        with self._begin() as connection:
            rows = connection.execute(sa.select(*columns).order_by(_workers.c.id)).all()
        return [
            WorkerInfo(
                id=row.id,
                machine=row.machine,
                pid=row.pid,
                silent=row.silent,
                is_dead=row.is_dead,
            )
            for row in rows
        ]

    # Sessions of jobs

    def find_session(self, key: str) -> TurnRecord | None:
        """In which session a turn began; None if it did not."""
        query = sa.select(_sessions.c.machine, _sessions.c.session, _sessions.c.is_reopened)
        with self._begin() as connection:
            row = connection.execute(query.where(_sessions.c.key == key)).first()
        return None if row is None else TurnRecord(*row)

    def keep_session(self, key: str, job: str, machine: str, session: str) -> None:
        """Write down in which session a turn begins, before anything happens in it."""
        latest = {"machine": machine, "session": session, "is_reopened": False}
        insert = self._insert(_sessions).values(key=key, job=job, **latest)
        with self._begin() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_=latest))

    def reopen_sessions(self, job: str) -> None:
        """Let the turns of a job that is retried go on, although they have ended."""
        change = sa.update(_sessions).where(_sessions.c.job == job)
        with self._begin() as connection:
            connection.execute(change.values(is_reopened=True))

    # Questions

    def ask(self, question: Question, key: str) -> str:
        """Put a question to a person, and return its id; one that is open is not asked again."""
        is_same = (_questions.c.job == question.job) & (_questions.c.key == key)
        open_one = sa.select(_questions.c.id).where(is_same, ~_questions.c.is_taken)
        with self._begin() as connection:
            found = connection.execute(open_one).scalar()
            if found is not None:
                return str(found)
            connection.execute(
                sa.insert(_questions).values(
                    id=question.id,
                    job=question.job,
                    key=key,
                    asked=self._now,
                    question=msgspec.json.encode(question).decode(),
                    is_taken=False,
                )
            )
        return question.id

    def take_answer(self, id: str) -> ApprovalAnswer | None:
        """The answer to a question, which is used up by this; None if there is none yet."""
        query = sa.select(_questions.c.answer).where(_questions.c.id == id)
        with self._begin() as connection:
            answer = connection.execute(query).scalar()
            if answer is None:
                return None
            change = sa.update(_questions).where(_questions.c.id == id)
            connection.execute(change.values(is_taken=True))
        return msgspec.json.decode(answer, type=ApprovalAnswer)

    def list_questions(self, job: str | None = None) -> list[Question]:
        """The questions without an answer, oldest first."""
        query = sa.select(_questions.c.question, _questions.c.asked)
        query = query.where(_questions.c.answer.is_(None), ~_questions.c.is_taken)
        if job is not None:
            query = query.where(_questions.c.job == job)
        with self._begin() as connection:
            rows = connection.execute(query.order_by(_questions.c.asked)).all()
        return [
            msgspec.structs.replace(
                msgspec.json.decode(row.question, type=Question), asked=row.asked
            )
            for row in rows
        ]

    def answer(self, id: str, answer: ApprovalAnswer) -> None:
        """Answer a question. Raises `UnknownName`, and `UsageError` where it is answered."""
        query = sa.select(_questions.c.answer).where(_questions.c.id == id)
        unanswered = sa.update(_questions).where(
            _questions.c.id == id, _questions.c.answer.is_(None)
        )
        text = msgspec.json.encode(answer).decode()
        with self._begin() as connection:
            if connection.execute(query).first() is None:
                raise UnknownName(id, [one.id for one in self.list_questions()])
            if connection.execute(unanswered.values(answer=text)).rowcount == 0:
                raise UsageError(f"The question {id} has an answer already.")

    def drop_questions(self, job: str) -> None:
        """Take back the open questions of a job that no longer waits for them."""
        open_ones = sa.update(_questions).where(_questions.c.job == job, ~_questions.c.is_taken)
        with self._begin() as connection:
            connection.execute(open_ones.values(is_taken=True))

    # Connections

    @property
    def _now(self) -> sa.ColumnElement[float]:
        if self._is_sqlite:
            return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double)
        return sa.literal_column("extract(epoch from clock_timestamp())::float8", sa.Double)

    def _insert(self, table: sa.Table) -> Any:
        return sqlite.insert(table) if self._is_sqlite else postgresql.insert(table)

    @contextlib.contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        with self._reach(), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def _reach(self) -> Iterator[None]:
        """Turn errors of the library into ours, without the password of the address."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            raise MachineError("reach the database", self.shown, cause) from error

    @property
    def shown(self) -> str:
        """The address for people, without its password."""
        return self.file or sa.make_url(self.url).render_as_string(hide_password=True)


def new_question_id() -> str:
    """A short id that a person can type."""
    return unique_hex(3)


def _prepare_sqlite(connection: Any, record: object) -> None:
    # As DBOS does for its own connections: a writer waits for others from its first statement on.
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    # Readers do not wait for writers; the file remembers it.
    connection.execute("PRAGMA journal_mode=WAL")
