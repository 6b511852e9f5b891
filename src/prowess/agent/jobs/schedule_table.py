"""Schedules: what is due, and which job each has started last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from prowess.agent.jobs.storage import Storage, flag, key, make_table, text, time
from prowess.agent.jobs.values import Schedule, TurnSpec

SCHEDULES = make_table(
    "schedules",
    key("name"),
    text("cron"),
    text("zone"),
    text("queue", index=True),
    text("spec"),
    time("next"),
    flag("is_paused"),
    text("last_job"),
    text("note"),
)
_row = SCHEDULES.c


class ScheduleTable:
    """A row per schedule."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def load_time(self) -> float:
        """The time of the database."""
        with self._storage.begin() as connection:
            return float(connection.execute(sa.select(self._storage.now)).scalar_one())

    def add(self, schedule: Schedule) -> bool:
        """Write down a schedule; False if there is one of that name."""
        row = {**msgspec.structs.asdict(schedule), "spec": _encode(schedule.spec)}
        insert = self._storage.upsert(SCHEDULES).values(**row).on_conflict_do_nothing()
        with self._storage.begin() as connection:
            return connection.execute(insert.returning(_row.name)).first() is not None

    def list_all(self) -> list[Schedule]:
        """Every schedule, by name."""
        with self._storage.begin() as connection:
            rows = connection.execute(sa.select(SCHEDULES).order_by(_row.name)).mappings().all()
        return [_decode(row) for row in rows]

    def list_due(self, queues: Sequence[str]) -> list[Schedule]:
        """The schedules of these queues whose time has come, the longest due first."""
        is_due = (_row.next <= self._storage.now) & ~_row.is_paused & _row.queue.in_(queues)
        query = sa.select(SCHEDULES).where(is_due).order_by(_row.next)
        with self._storage.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [_decode(row) for row in rows]

    def has_active(self, queues: Sequence[str]) -> bool:
        """Whether any schedule of these queues is not paused."""
        query = sa.select(_row.name).where(~_row.is_paused, _row.queue.in_(queues)).limit(1)
        with self._storage.begin() as connection:
            return connection.execute(query).first() is not None

    def advance(self, name: str, *, due: float, next: float, job: str, note: str) -> bool:
        """Note the job for a time that was due; False if another worker has done so."""
        change = sa.update(SCHEDULES).where(_row.name == name, _row.next == due)
        return self._execute(change.values(next=next, last_job=job, note=note)) == 1

    def pause(self, name: str) -> None:
        """Let a schedule start nothing any more."""
        self._execute(sa.update(SCHEDULES).where(_row.name == name).values(is_paused=True))

    def resume(self, name: str, *, next: float) -> None:
        """Let a schedule that is paused go on at a time."""
        change = sa.update(SCHEDULES).where(_row.name == name, _row.is_paused)
        self._execute(change.values(is_paused=False, next=next))

    def remove(self, name: str) -> None:
        """Forget a schedule; the jobs that it started stay."""
        self._execute(sa.delete(SCHEDULES).where(_row.name == name))

    def _execute(self, statement: sa.Executable) -> int:
        with self._storage.begin() as connection:
            return connection.execute(statement).rowcount


def _encode(spec: TurnSpec) -> str:
    return msgspec.json.encode(spec).decode()


def _decode(row: Any) -> Schedule:
    return Schedule(**{**row, "spec": msgspec.json.decode(row["spec"], type=TurnSpec)})
