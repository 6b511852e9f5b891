"""In which session each turn of a job began, so that one that runs again goes on there."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from prowess.agent.jobs.storage import Storage, flag, key, make_table, text

SESSIONS = make_table(
    "sessions",
    key("key"),
    text("job", index=True),
    text("machine"),
    text("session"),
    flag("is_reopened"),
)
_row = SESSIONS.c


class BegunTurn(NamedTuple):
    """Where a turn began. A reopened one goes on, even if it has ended."""

    machine: str
    session: str
    is_reopened: bool


class SessionTable:
    """A row per turn; a job may have several, which `key` tells apart."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def find(self, key: str) -> BegunTurn | None:
        """Where a turn began; None if it did not."""
        query = sa.select(_row.machine, _row.session, _row.is_reopened).where(_row.key == key)
        with self._storage.begin() as connection:
            row = connection.execute(query).first()
        return None if row is None else BegunTurn(*row)

    def keep(self, key: str, job: str, machine: str, session: str) -> None:
        """Write down where a turn begins, before anything happens in it."""
        latest = {"machine": machine, "session": session, "is_reopened": False}
        insert = self._storage.upsert(SESSIONS).values(key=key, job=job, **latest)
        with self._storage.begin() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_=latest))

    def reopen(self, job: str) -> None:
        """Let the turns of a job that is retried go on, although they have ended."""
        change = sa.update(SESSIONS).where(_row.job == job).values(is_reopened=True)
        with self._storage.begin() as connection:
            connection.execute(change)
