"""Connections to the database of jobs, its clock, and how tables are declared and made.

Ages are measured with the clock of the database, because the clocks of machines differ.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from prowess.errors import MachineError
from prowess.state.job_files import is_file, make_private_file
from prowess.state.locks import hold_lock

SCHEMA = "prowess"
# Any number that other programs on the same server are unlikely to lock.
_MIGRATION_LOCK = 7_205_061_113
_BUSY_MS = 30_000
_LOCK_PAUSE = 0.1

metadata = sa.MetaData()


def make_table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """A table of ours beside those of DBOS; every column without `nullable` needs a value."""
    return sa.Table(f"prowess_{name}", metadata, *columns)


def key(name: str) -> sa.Column[str]:
    """The column that names a row."""
    return sa.Column(name, sa.Text, primary_key=True)


def text(name: str, *, index: bool = False, nullable: bool = False) -> sa.Column[str]:
    """A column of text."""
    return sa.Column(name, sa.Text, nullable=nullable, index=index)


def number(name: str) -> sa.Column[int]:
    """A column of whole numbers."""
    return sa.Column(name, sa.BigInteger, nullable=False)


def time(name: str) -> sa.Column[float]:
    """A column of seconds since 1970."""
    return sa.Column(name, sa.Double, nullable=False)


def flag(name: str) -> sa.Column[bool]:
    """A column of yes or no."""
    return sa.Column(name, sa.Boolean, nullable=False)


class Storage:
    """A database by its address. Methods raise `MachineError` if it is gone."""

    def __init__(self, url: str, *, file: str | None = None) -> None:
        self.url = url
        self.file = file
        self._is_sqlite = url.startswith("sqlite")
        # The library reports each connection and each cancelled job; people are told otherwise.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        self._engine = _open_sqlite(url) if self._is_sqlite else _open_postgres(url)

    @property
    def shown(self) -> str:
        """The address for people, without its password."""
        return self.file or sa.make_url(self.url).render_as_string(hide_password=True)

    @property
    def now(self) -> sa.ColumnElement[float]:
        """The time of the database, as a part of statements."""
        if self._is_sqlite:
            return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double)
        return sa.literal_column("extract(epoch from clock_timestamp())::float8", sa.Double)

    def upsert(self, table: sa.Table) -> Any:
        """An insert that can say what happens where the row is there already."""
        return sqlite.insert(table) if self._is_sqlite else postgresql.insert(table)

    @contextlib.contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """A transaction."""
        with self.reach(), self._engine.begin() as connection:
            yield connection

    def has_tables(self, *tables: sa.Table) -> bool:
        """Whether the tables have been made."""
        if self.file is not None and not is_file(self.file):
            return False
        with self.reach():
            schema = None if self._is_sqlite else SCHEMA
            present = set(sa.inspect(self._engine).get_table_names(schema))
        return present.issuperset(table.name for table in tables)

    def prepare(self) -> None:
        """Make the file and all tables, or bring them up to date."""
        if self.file is None:
            self._prepare_server()
            return
        make_private_file(self.file)
        with hold_lock(self.file, seconds=60), self.reach():
            self._use_write_ahead_log()
            self._migrate()

    def _use_write_ahead_log(self) -> None:
        """Let readers not wait for writers. The file remembers it.

        The change needs the file for itself, and SQLite does not wait for that: it fails at once
        while anybody reads.
        """
        deadline = monotonic() + _BUSY_MS / 1000
        while True:
            try:
                with self._engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            except sa.exc.OperationalError:
                if monotonic() > deadline:
                    raise
            sleep(_LOCK_PAUSE)

    def _prepare_server(self) -> None:
        # No transaction may stay open here: DBOS builds indexes that wait for all others. A
        # statement that waits for the lock is one, too, so it is tried again and again.
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        with self.reach(), engine.connect() as connection:
            lock = sa.text("SELECT pg_try_advisory_lock(:number)")
            while not connection.execute(lock, {"number": _MIGRATION_LOCK}).scalar():
                sleep(_LOCK_PAUSE)
            try:
                self._migrate()
            finally:
                # The lock ends with its connection, which must not go back to the pool.
                connection.invalidate()

    def _migrate(self) -> None:
        from dbos import DBOS

        DBOS.migrate(self.url)
        with self._engine.begin() as connection:
            if not self._is_sqlite:
                connection.execute(sa.text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
            metadata.create_all(connection)

    @contextlib.contextmanager
    def reach(self) -> Iterator[None]:
        """Turn errors of the library into ours, without the password of the address."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            raise MachineError("reach the database", self.shown, cause) from error

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def _open_postgres(url: str) -> sa.Engine:
    engine = sa.create_engine(
        sa.make_url(url).set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        connect_args={"connect_timeout": 10},
    )
    return engine.execution_options(schema_translate_map={None: SCHEMA})


def _open_sqlite(url: str) -> sa.Engine:
    engine = sa.create_engine(url, pool_pre_ping=True)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: object) -> None:
    # As DBOS does for its own connections: a writer waits for others from its first statement on.
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
