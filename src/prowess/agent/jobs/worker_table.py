"""The workers that serve a database: who is alive, and who was declared dead.

DBOS has no leases, so they are kept here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from prowess.agent.jobs.storage import Storage, flag, key, make_table, number, text, time
from prowess.agent.jobs.values import WorkerInfo

WORKERS = make_table(
    "workers", key("id"), text("machine"), number("pid"), time("seen"), flag("is_dead")
)
# A table of its own, because a database that an older version made has no such column.
WORKER_QUEUES = make_table("worker_queues", key("worker"), text("queues"))
_row = WORKERS.c


class WorkerTable:
    """A row per worker that has not stopped by itself."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def add(self, id: str, machine: str, pid: int, queues: Sequence[str] = ()) -> None:
        """Write down a worker before it takes any job."""
        row = {"machine": machine, "pid": pid, "seen": self._storage.now, "is_dead": False}
        self._execute(sa.insert(WORKERS).values(id=id, **row))
        listed = msgspec.json.encode(list(queues)).decode()
        self._execute(sa.insert(WORKER_QUEUES).values(worker=id, queues=listed))

    def beat(self, id: str) -> bool:
        """Say that a worker is alive; False if others have declared it dead meanwhile."""
        change = sa.update(WORKERS).where(_row.id == id, ~_row.is_dead)
        return self._execute(change.values(seen=self._storage.now)) == 1

    def bury(self, ids: Sequence[str]) -> None:
        """Declare workers dead; one that is alive after all sees it at its next beat.

        One without a row has stopped by itself, and its next beat would fail, too.
        """
        self._execute(sa.update(WORKERS).where(_row.id.in_(ids)).values(is_dead=True))

    def bury_machine(self, machine: str, *, but: str) -> None:
        """Declare the workers of this machine dead; the caller holds the lock that they held."""
        change = sa.update(WORKERS).where(_row.machine == machine, _row.id != but)
        self._execute(change.values(is_dead=True))

    def remove(self, id: str) -> None:
        """Forget a worker that has stopped."""
        self._execute(sa.delete(WORKERS).where(_row.id == id))
        self._execute(sa.delete(WORKER_QUEUES).where(WORKER_QUEUES.c.worker == id))

    def list_all(self) -> list[WorkerInfo]:
        """Every worker that has not been forgotten."""
        silent = (self._storage.now - _row.seen).label("silent")
        query = sa.select(_row.id, _row.machine, _row.pid, silent, _row.is_dead)
        with self._storage.begin() as connection:
            rows = connection.execute(query.order_by(_row.id)).mappings().all()
        return [WorkerInfo(**row) for row in rows]

    def list_queues(self) -> dict[str, tuple[str, ...]]:
        """The queues that each worker serves; none for one of an older version."""
        if not self._storage.has_tables(WORKER_QUEUES):
            return {}
        with self._storage.begin() as connection:
            rows = connection.execute(sa.select(WORKER_QUEUES)).all()
        return {id: tuple(msgspec.json.decode(listed, type=list[str])) for id, listed in rows}

    def _execute(self, statement: sa.Executable) -> int:
        """Carry out a change; the number of rows that it reached."""
        with self._storage.begin() as connection:
            return connection.execute(statement).rowcount
