"""Counts of how skills are used, in a small database of the user's own.

It has names, paths, counts and times, nothing of any conversation. A database that is broken,
locked or read-only counts as empty and never gets in the way; a diagnostic says what is wrong.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError, name_cause
from prowess.model.facts import NO_HOME, Facts
from prowess.model.skill import Skill
from prowess.model.usage import Caller, Usage
from prowess.state.folders import state_folder
from prowess.state.locks import hold_lock

if TYPE_CHECKING:
    from sqlite3 import Connection

T = TypeVar("T")

_VERSION = 1
_SECONDS_TO_WAIT = 1.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
    name TEXT NOT NULL,
    location TEXT NOT NULL,
    offered INTEGER NOT NULL DEFAULT 0,
    by_user INTEGER NOT NULL DEFAULT 0,
    by_model INTEGER NOT NULL DEFAULT 0,
    last_offered REAL,
    last_activated REAL,
    PRIMARY KEY (name, location)
) WITHOUT ROWID
"""
_COLUMNS = Usage.__struct_fields__
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM usage"
_ADD_OFFERED = """
INSERT INTO usage (name, location, offered, last_offered) VALUES (?, ?, 1, ?)
ON CONFLICT (name, location)
DO UPDATE SET offered = offered + 1, last_offered = excluded.last_offered
"""
_ADD_ACTIVATED = """
INSERT INTO usage (name, location, {by}, last_activated) VALUES (?, ?, 1, ?)
ON CONFLICT (name, location) DO UPDATE SET {by} = {by} + 1, last_activated = excluded.last_activated
"""
_ADD_ACTIVATED_BY: dict[Caller, str] = {
    "user": _ADD_ACTIVATED.format(by="by_user"),
    "model": _ADD_ACTIVATED.format(by="by_model"),
}


# Every folder that is opened counts into the same file, which is open once for all of them.
_SHARED: WeakValueDictionary[str, UsageFile] = WeakValueDictionary()
_SHARED_LOCK = threading.Lock()


def usage_path(facts: Facts) -> str:
    """Where the usage counts are kept on a machine."""
    return os.path.join(state_folder(facts), "usage.sqlite3")


def open_usage(facts: Facts, *, wanted: bool | None = None) -> UsageFile | NoUsage:
    """The usage counts; `usage = false` in prowess.toml (`wanted`) or PROWESS_NO_USAGE is off."""
    if wanted is False or facts.env.get("PROWESS_NO_USAGE"):
        return NoUsage()
    path = usage_path(facts)
    has_place = not path.startswith(f"{NO_HOME}/")
    if not has_place:
        return NoUsage()
    with _SHARED_LOCK:
        return _SHARED.get(path) or _SHARED.setdefault(path, UsageFile(path))


class NoUsage:
    """A `UsageStore` that counts nothing."""

    diagnostics: tuple[Diagnostic, ...] = ()

    def note_offered(self, skills: Iterable[Skill]) -> None:
        """Nothing is counted."""

    def note_activated(self, skill: Skill, by: Caller) -> None:
        """Nothing is counted."""

    def load_counts(self, skills: Iterable[Skill] | None = None) -> Mapping[tuple[str, str], Usage]:
        """There are none."""
        return {}

    def clear(self, name: str | None = None) -> int:
        """There is nothing to forget."""
        return 0


class UsageFile:
    """A `UsageStore` in an SQLite file, for several threads.

    The file is opened at the first call and kept open: opening it takes longer than all the rest of
    loading a skill. No lock is held between calls.
    """

    def __init__(
        self,
        path: str,
        *,
        clock: Callable[[], float] = time.time,
        seconds_to_wait: float = _SECONDS_TO_WAIT,
    ) -> None:
        self.path = path
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._clock = clock
        self._wait = seconds_to_wait
        self._lock = threading.Lock()
        self._held: tuple[tuple[int, int, int], Connection] | None = None
        self._checked = 0.0
        self._close: Callable[[], object] = lambda: None

    def note_offered(self, skills: Iterable[Skill]) -> None:
        """These skills were shown to a model."""
        now = self._clock()
        rows = [(skill.name, skill.location, now) for skill in skills if _is_text(skill)]
        if rows:
            self._change(lambda database: database.executemany(_ADD_OFFERED, rows).rowcount)

    def note_activated(self, skill: Skill, by: Caller) -> None:
        """This skill was loaded into a conversation."""
        row = (skill.name, skill.location, self._clock())
        if _is_text(skill):
            # One statement is a transaction of its own.
            self._try(
                "written", lambda database: database.execute(_ADD_ACTIVATED_BY[by], row).rowcount, 0
            )

    def load_counts(self, skills: Iterable[Skill] | None = None) -> Mapping[tuple[str, str], Usage]:
        """The counts of these skills, by name and location; of all if none are given."""
        if not os.path.lexists(self.path):
            return {}
        if skills is None:
            return self._try("read", _read_all, {})
        keys = [(skill.name, skill.location) for skill in skills if _is_text(skill)]
        return self._try("read", lambda database: _read_each(database, keys), {})

    def clear(self, name: str | None = None) -> int:
        """Delete the counts of a name, or all of them; returns how many skills had any."""
        if not os.path.lexists(self.path):
            return 0
        where, row = ("", ()) if name is None else (" WHERE name = ?", (name,))
        return self._change(
            lambda database: database.execute(f"DELETE FROM usage{where}", row).rowcount
        )

    def _change(self, change: Callable[[Connection], int]) -> int:
        def run(database: Connection) -> int:
            # Locked for writing from the start: SQLite does not wait for a lock that is raised.
            database.execute("BEGIN IMMEDIATE")
            changed = change(database)
            database.execute("COMMIT")
            return changed

        return self._try("written", run, 0)

    def _try(self, doing: str, work: Callable[[Connection], T], otherwise: T) -> T:
        import sqlite3

        try:
            with self._lock:
                done = self._work(work)
        except (sqlite3.Error, OSError, UnicodeError, MachineError) as error:
            message = f"Usage counts cannot be {doing} ({name_cause(error)}) and are ignored."
            self.diagnostics = (diagnose("state-unreadable", message, file=self.path),)
            return otherwise
        self.diagnostics = ()
        return done

    def _work(self, work: Callable[[Connection], T]) -> T:
        try:
            return work(self._hold())
        except BaseException:
            # Its state is unknown, so the next call reopens it.
            self._held = None
            self._close()
            raise

    def _hold(self) -> Connection:
        """The open database; reopened if the file was replaced, or in a forked process.

        Whether the file is still the same is checked once a second.
        """
        now = self._clock()
        if self._held is not None:
            identity, database = self._held
            # The process is part of the identity: SQLite forbids using a connection after a fork.
            if identity[0] == os.getpid() and abs(now - self._checked) < 1.0:
                return database
            if identity == _identify(self.path):
                self._checked = now
                return database
        self._close()
        database = _open(self.path, self._wait)
        self._close = weakref.finalize(self, database.close)
        self._held = (_identify(self.path), database)
        self._checked = now
        return database


def _read_all(database: Connection) -> dict[tuple[str, str], Usage]:
    rows = database.execute(f"{_SELECT} ORDER BY name, location")
    return {(row[0], row[1]): _make_usage(row) for row in rows}


def _read_each(database: Connection, keys: list[tuple[str, str]]) -> dict[tuple[str, str], Usage]:
    """The counts of these names and locations; each is found by the table's key."""
    found: dict[tuple[str, str], Usage] = {}
    for key in keys:
        row = database.execute(f"{_SELECT} WHERE name = ? AND location = ?", key).fetchone()
        if row is not None:
            found[key] = _make_usage(row)
    return found


def _make_usage(row: Any) -> Usage:
    return Usage(**dict(zip(_COLUMNS, row, strict=True)))


def _identify(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return (os.getpid(), 0, 0)
    return (os.getpid(), status.st_dev, status.st_ino)


def _open(path: str, wait: float) -> Connection:
    import sqlite3

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # SQLite would make the file readable for others.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600))
    database = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        found = database.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, _VERSION):
            raise sqlite3.DatabaseError("another version of Prowess wrote it")
        if found == 0:
            # Two programs that start at once must not both set up the file; SQLite does not wait
            # here.
            with hold_lock(path, seconds=wait):
                database.execute("PRAGMA journal_mode = WAL")
                database.execute(_SCHEMA)
                database.execute(f"PRAGMA user_version = {_VERSION}")
        # A crash of the machine may lose the last counts, which is worth the speed.
        database.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        database.close()
        raise
    return database


def _is_text(skill: Skill) -> bool:
    """Whether a skill can be counted: a file name may be invalid text, which SQLite refuses."""
    try:
        (skill.name + skill.location).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
