"""Bring the copies of remote indexes up to date, if that is due and allowed.

All indexes are asked at the same time, so that several that hang cost no more than one. One that
failed is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.machine.http_client import FetchError, HttpSession, check_url
from prowess.machine.interrupts import join_thread
from prowess.machine.network_address import is_private_name
from prowess.model.settings import NetworkSettings
from prowess.model.source_status import SourceState, SourceStatus
from prowess.ports import ScannedProject
from prowess.state.remote_cache import CachedSkill, RemoteCache
from prowess.supply.configured_indexes import ConfiguredIndex
from prowess.supply.remote_fetch import fetch_source

_HOUR = 3600.0
_MINUTE = 60.0


class SyncedIndex(msgspec.Struct, frozen=True, kw_only=True):
    """A remote index after a look at its cache, or after a fetch.

    `folder` has its skills, None where it has none; `skills` are by their names in the index.
    """

    index: ConfiguredIndex
    state: SourceState
    folder: str | None = None
    fetched_at: float | None = None
    skills: Mapping[str, CachedSkill] = msgspec.field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def describe(self) -> SourceStatus:
        """How it is doing."""
        return SourceStatus(
            name=self.index.name,
            kind="remote",
            location=self.index.url,
            state=self.state,
            folder=self.folder,
            fetched_at=self.fetched_at,
            diagnostics=self.diagnostics,
            origin=self.index.origin,
        )


class IndexSync:
    """The remote indexes of a scan, fetched where that is due. It begins when this is made.

    `refresh` fetches the one of a name, or all, in any case. `watch` is told the name of an index
    and how many of its skills were fetched.
    """

    def __init__(
        self,
        indexes: Sequence[ConfiguredIndex],
        project: ScannedProject,
        network: NetworkSettings,
        *,
        refresh: str | bool = False,
        watch: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self._syncs: list[_Sync] = []
        self._threads: list[threading.Thread] = []
        for index in indexes:
            force = refresh in (True, index.name)
            sync = _Sync(index, project, network, force=force, watch=watch)
            self._syncs.append(sync)
            if sync.is_due:
                # A daemon: a server that hangs must not keep the program from ending.
                thread = threading.Thread(target=sync.fetch, daemon=True)
                self._threads.append(thread)
                thread.start()

    def wait(self) -> list[SyncedIndex]:
        """Every index in its order, once all are fetched or out of time."""
        try:
            for thread in self._threads:
                join_thread(thread)
        finally:
            # Ctrl-C ends the wait, and then the threads must not go on until their limit.
            for sync in self._syncs:
                sync.session.stop()
        return [one.conclude() for one in self._syncs]


class _Sync:
    """One index: whether it is due, the fetch, and what came of it."""

    def __init__(
        self,
        index: ConfiguredIndex,
        project: ScannedProject,
        network: NetworkSettings,
        *,
        force: bool,
        watch: Callable[[str, int, int], None] | None,
    ) -> None:
        self._index = index
        self._network = network
        self._watch = None if watch is None else partial(watch, index.name)
        self._force = force
        self.session = HttpSession(
            seconds=network.get_limit(is_forced=force),
            private_hosts=find_private_hosts(index),
        )
        self._cache = RemoteCache.of(project.facts, index.kind, index.url)
        # Decided before any request, also before the name of the host is looked up.
        self._refusal = find_refusal(index, project)
        self._kept = self._cache.load()
        self._earlier = self._cache.load_failure()
        self._failure: Diagnostic | None = None
        self._is_fetched = False
        self._now = time.time()

    @property
    def is_due(self) -> bool:
        """Whether to fetch it now."""
        if self._refusal is not None or self._network.offline:
            return False
        if self._force:
            return True
        is_paused = self._earlier is not None and self._now < self._earlier.retry_at
        return self._is_stale and not is_paused

    @property
    def _is_stale(self) -> bool:
        if self._is_fetched:
            return False
        if self._kept is None:
            return True
        # A time in the future comes from a clock that was wrong.
        age = self._now - self._kept.fetched_at
        return not -_MINUTE <= age <= self._network.max_age_hours * _HOUR

    def fetch(self) -> None:
        """Fetch it, and remember a failure."""
        index = self._index
        try:
            with self.session as session:
                self._kept = fetch_source(
                    index.kind, index.url, self._cache, session, watch=self._watch
                )
        except FetchError as error:
            self._fail(error.code, error.message, error.retry_after)
        except MachineError as error:
            self._fail("source-failed", str(error).rstrip("."), None)
        except Exception as error:
            # In a thread it would be lost, and the source would have no skills and no trouble.
            self._fail("source-failed", f"{type(error).__name__}: {error}", None)
        else:
            self._is_fetched, self._earlier = True, None

    def _fail(self, code: str, message: str, retry_after: float | None) -> None:
        # A server that asks for more time (`Retry-After`) gets it.
        pause = max(self._network.retry_minutes * _MINUTE, retry_after or 0.0)
        try:
            self._cache.note_failure(code, message, pause=pause)
        except MachineError as error:
            message = f"{message}; that cannot be remembered ({str(error).rstrip('.')})"
        self._failure = self._report(code, f"“{self._index.name}” was not fetched: {message}")

    def conclude(self) -> SyncedIndex:
        """What there is now."""
        self._now = time.time()
        if self._refusal is not None:
            is_untrusted = self._refusal.code == "source-untrusted"
            state: SourceState = "untrusted" if is_untrusted else "failed"
            return SyncedIndex(index=self._index, state=state, diagnostics=(self._refusal,))
        kept, trouble = self._kept, self._find_trouble()
        if kept is None:
            return SyncedIndex(index=self._index, state="failed", diagnostics=trouble)
        is_old = self._is_stale or self._failure is not None
        return SyncedIndex(
            index=self._index,
            state="stale" if is_old else "ready",
            folder=self._cache.skills_folder,
            fetched_at=kept.fetched_at,
            skills=kept.skills,
            diagnostics=(*trouble, *kept.diagnostics),
        )

    def _find_trouble(self) -> tuple[Diagnostic, ...]:
        """What to say about a fetch that failed, or that was not tried."""
        if self._failure is not None:
            return (self._failure, *self._report_stale())
        if self._network.offline:
            # What is here was asked for offline, so its age is no trouble.
            if self._kept is not None:
                return ()
            message = f"“{self._index.name}” was never fetched, and nothing is fetched offline"
            return (self._report("source-offline", message),)
        if self._earlier is None or not self._is_stale:
            return ()
        waiting = render_age(self._earlier.retry_at - self._now)
        message = (
            f"“{self._index.name}” failed, and is not tried again for {waiting}:"
            f" {self._earlier.message}"
        )
        return (self._report("source-paused", message), *self._report_stale())

    def _report_stale(self) -> tuple[Diagnostic, ...]:
        """What to say about skills that an earlier fetch brought; nothing if there was none."""
        if self._kept is None:
            return ()
        age = render_age(self._now - self._kept.fetched_at)
        message = f"The skills of “{self._index.name}” are those fetched {age} ago"
        return (self._report("source-stale", message),)

    def _report(self, code: str, message: str) -> Diagnostic:
        origin = self._index.origin
        return diagnose(code, f"{message}.", file=origin.file, line=origin.line)


def find_refusal(index: ConfiguredIndex, project: ScannedProject) -> Diagnostic | None:
    """Why an index is never asked: its URL is refused, or its project is not trusted."""
    origin = index.origin
    try:
        check_url(index.url, find_private_hosts(index))
    except FetchError as error:
        message = f"“{index.name}” is not fetched: {error.message}."
        return diagnose(error.code, message, file=origin.file, line=origin.line)
    # What the user's own settings name needs no trust in a project.
    if not index.is_project or origin.file is None:
        return None
    if not _needs_trust(index):
        return None
    # Trust follows the file that names the index, not the folder that a command runs in.
    folder = origin.file.rpartition("/")[0] or "/"
    if project.is_trusted_folder(folder):
        return None
    message = f"“{index.name}” is not fetched: the project that names it is not trusted."
    return diagnose("source-untrusted", message, file=origin.file, line=origin.line)


def _needs_trust(index: ConfiguredIndex) -> bool:
    """Whether only a trusted project may name an index.

    A host reads the URLs in its project files at once, and an answer as that host does so, too. No
    clone gets to reach into the network around this machine by that.
    """
    if index.is_own:
        return True
    return is_private_name(index.host) and not _is_loopback(index.host)


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def find_private_hosts(index: ConfiguredIndex) -> frozenset[str]:
    """The host of an index, if its setting says that it may be in a private network.

    A URL with a private address, or with `localhost`, says so itself. A name does not, because
    its owner decides where it leads.
    """
    is_named = index.private or is_private_name(index.host)
    return frozenset((index.host,)) if is_named else frozenset()


_UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def render_age(seconds: float) -> str:
    """A time in the largest unit that fits, such as `3 hours`."""
    for length, unit in _UNITS:
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a second"
