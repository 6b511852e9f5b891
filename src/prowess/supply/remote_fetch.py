"""Fetch a remote index with all its skills into the cache: whole, or not at all.

One bad skill costs itself only; if an earlier version of it was fetched, that one stays. When the
time is up, or the index itself is wrong, nothing changes.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from urllib.parse import urlsplit, urlunsplit

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.machine.http_client import FetchError, HttpSession, Response
from prowess.machine.spare_threads import start_in_thread
from prowess.model.tree import list_blocked
from prowess.state.remote_cache import CachedSkill, FetchedIndex, RemoteCache
from prowess.supply.archives import InvalidArchive, unpack_archive
from prowess.supply.index_format import (
    MOST_FILES,
    SKILL_FILE,
    InvalidIndex,
    ParsedIndex,
    RemoteEntry,
    RemoteFile,
    parse_index,
)

MOST_INDEX_BYTES = 1 << 20
MOST_SKILL_BYTES = 16 << 20
MOST_SOURCE_BYTES = 128 << 20
# Most of the time is spent waiting: 200 skills of a server on this machine take 3 s.
_WORKERS = 8
# The statuses that say that there is no index at a URL, so that the next one is tried.
_ABSENT = (404, 410)

# The newer format first: a site may have both, and only that one has digests.
_INDEX_NAMES = (
    ".well-known/agent-skills/index.json",
    ".well-known/skills/index.json",
    "index.json",
)

Files = dict[str, bytes]
Watch = Callable[[int, int], None]
"""Told how many skills were fetched, and how many there are to fetch."""


class _Budget:
    """The bytes that may still be fetched, for several threads."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        return self._left

    def spend(self, count: int) -> None:
        with self._lock:
            self._left -= count
        if self._left < 0:
            message = f"the source has more than {MOST_SOURCE_BYTES:,} bytes"
            raise FetchError("source-too-large", message)


class _FetchedFiles(msgspec.Struct, frozen=True):
    """What came of one skill: its files, None where it has none, and what is wrong with it."""

    files: Files | None
    version: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def list_index_urls(kind: str, url: str) -> list[str]:
    """Where the index of a source may be, in the order of trying.

    opencode knows one place. Otherwise the URL can be that of a site with a well-known folder.
    """
    parts = urlsplit(url)
    base = parts.path.rstrip("/")
    is_opencode = kind == "opencode"
    if not is_opencode and parts.path.endswith(".json"):
        return [url]
    is_well_known = "/.well-known/" in f"{base}/"
    names = ("index.json",) if is_opencode or is_well_known else _INDEX_NAMES
    return [urlunsplit((parts.scheme, parts.netloc, f"{base}/{name}", "", "")) for name in names]


def fetch_source(
    kind: str,
    url: str,
    cache: RemoteCache,
    session: HttpSession,
    *,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.time,
) -> FetchedIndex:
    """Fetch a source into its cache. Raises `FetchError`, and `MachineError` for the disk."""
    location, parsed = _fetch_index(session, kind, list_index_urls(kind, url))
    before = cache.load()
    fetched = _SourceFetch(session, cache, before, location, watch).fetch(parsed.entries)
    skills: dict[str, Files] = {}
    records: dict[str, CachedSkill] = {}
    findings = list(parsed.diagnostics)
    for name, skill in fetched.items():
        findings += skill.diagnostics
        if skill.files is not None:
            skills[name] = skill.files
            records[name] = CachedSkill(skill.version, tuple(sorted(skill.files)))
    index = FetchedIndex(
        url=url,
        fetched_at=clock(),
        found_at=location,
        skills=records,
        diagnostics=tuple(findings),
    )
    with cache.hold():
        # The same files again stay where they are, so that readers see no folder change.
        if _is_unchanged(skills, cache):
            cache.keep_unchanged(index)
        else:
            cache.keep(skills, index)
    return index


def _is_unchanged(skills: Mapping[str, Files], cache: RemoteCache) -> bool:
    """Whether the cache has these very files, so that none of them gets a new version."""
    # Loaded again: under the lock it may be what another process has fetched meanwhile.
    kept = cache.load()
    if kept is None or kept.skills.keys() != skills.keys():
        return False
    for name, files in skills.items():
        paths = kept.skills[name].files
        # The names alone tell most differences without reading a file.
        has_same_paths = tuple(sorted(files)) == paths
        if not has_same_paths:
            return False
        if cache.load_files(name, paths, MOST_SKILL_BYTES) != files:
            return False
    return True


def _fetch_index(session: HttpSession, kind: str, urls: list[str]) -> tuple[str, ParsedIndex]:
    """The first index that is there, and its URL after redirects."""
    failures: list[FetchError] = []
    for url in urls:
        try:
            response = session.get(url, most_bytes=MOST_INDEX_BYTES, accept="application/json")
            return response.url, _parse_index(response, kind)
        except FetchError as error:
            is_absent = error.status in _ABSENT or error.code == "source-index-invalid"
            if not is_absent:
                raise
            failures.append(error)
    # Many sites answer every URL with a page. What no URL has is said of the last one.
    raise failures[-1]


def _parse_index(response: Response, kind: str) -> ParsedIndex:
    try:
        return parse_index(response.body, response.url, kind=kind)
    except InvalidIndex as error:
        media = response.content_type.partition(";")[0].strip()[:60]
        sent = f", sent as {media}" if media and "json" not in media else ""
        message = f"{response.url} is not an index of skills: {error}{sent}"
        raise FetchError("source-index-invalid", message) from error


class _Fetchers:
    """Threads that fetch files.

    Not a pool of the standard library: at exit Python waits for the threads of those, and so for
    every server that hangs, until the time of its index is up.
    """

    def __init__(self, get: Callable[[RemoteFile], bytes]) -> None:
        self._get = get
        self._count = 0
        self._waiting: SimpleQueue[tuple[Future[bytes], RemoteFile] | None] = SimpleQueue()

    def submit(self, file: RemoteFile) -> Future[bytes]:
        """Fetch a file as soon as a thread is free."""
        future: Future[bytes] = Future()
        self._waiting.put((future, file))
        if self._count < _WORKERS:
            self._count += 1
            start_in_thread(self._work)
        return future

    def end(self) -> None:
        """Let the threads end after what has been submitted."""
        for _ in range(self._count):
            self._waiting.put(None)

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            future, file = task
            try:
                future.set_result(self._get(file))
            except BaseException as error:
                # Raised where the file is waited for.
                future.set_exception(error)


class _SourceFetch:
    """Fetches the skills of one index, several files at a time."""

    def __init__(
        self,
        session: HttpSession,
        cache: RemoteCache,
        before: FetchedIndex | None,
        url: str,
        watch: Watch | None,
    ) -> None:
        self._session = session
        self._cache = cache
        self._before = before.skills if before is not None else {}
        self._url = url
        self._watch = watch
        self._budget = _Budget(MOST_SOURCE_BYTES)
        self._done = 0
        self._total = 0

    def fetch(self, entries: Iterable[RemoteEntry]) -> dict[str, _FetchedFiles]:
        """What came of each skill, by its name. Raises `FetchError` when the time is up."""
        fetched: dict[str, _FetchedFiles] = {}
        waiting: list[tuple[RemoteEntry, list[Future[bytes]]]] = []
        fetchers = _Fetchers(self._get)
        try:
            for entry in entries:
                files = self._find_cached(entry)
                if files is not None:
                    fetched[entry.name] = _FetchedFiles(files, entry.version)
                    continue
                wanted = entry.files if entry.archive is None else (entry.archive,)
                # All are asked for before the first is waited for.
                futures = [fetchers.submit(file) for file in wanted]
                waiting.append((entry, futures))
            self._total = len(waiting)
            for entry, futures in waiting:
                fetched[entry.name] = self._finish(entry, futures)
        finally:
            # Whatever went wrong, no thread goes on fetching.
            self._session.stop()
            fetchers.end()
        return fetched

    def _find_cached(self, entry: RemoteEntry) -> Files | None:
        """The files of a skill that were fetched before, if the index says they are the same."""
        kept = self._before.get(entry.name)
        if kept is None or not _is_same_version(entry, kept):
            return None
        files = self._cache.load_files(entry.name, kept.files, MOST_SKILL_BYTES)
        if files is None:
            return None
        # Somebody may have changed the cache, and a digest says so.
        is_intact = all(_matches(files[file.path], file.digest) for file in entry.files)
        return files if is_intact else None

    def _get(self, file: RemoteFile) -> bytes:
        # Several threads fetch at once, so what is spent is counted again afterwards.
        limit = min(MOST_SKILL_BYTES, self._budget.left)
        body = self._session.get(file.url, most_bytes=limit).body
        self._budget.spend(len(body))
        if not _matches(body, file.digest):
            message = f"{file.url} does not have the digest that the index gives"
            raise FetchError("source-digest-mismatch", message)
        return body

    def _finish(self, entry: RemoteEntry, futures: list[Future[bytes]]) -> _FetchedFiles:
        missing: list[Diagnostic] = []
        try:
            if entry.archive is not None:
                files = _unpack(futures[0].result())
            else:
                files, missing = self._gather(entry, futures)
            _check_skill(entry, files)
        except FetchError as error:
            # The time limit is for the whole index: half of it would make skills come and go.
            if error.code == "source-timeout":
                raise
            return self._fall_back(entry, error)
        finally:
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._total)
        # Without the version the missing files are fetched the next time.
        return _FetchedFiles(files, None if missing else entry.version, tuple(missing))

    def _gather(
        self, entry: RemoteEntry, futures: list[Future[bytes]]
    ) -> tuple[Files, list[Diagnostic]]:
        """The files of a skill, and which could not be fetched if it can do without them."""
        files: Files = {}
        missing: list[Diagnostic] = []
        for file, future in zip(entry.files, futures, strict=True):
            try:
                files[file.path] = future.result()
            except FetchError as error:
                is_needed = entry.is_whole or file.path == SKILL_FILE
                if is_needed or error.code == "source-timeout":
                    raise
                message = f"The skill “{entry.name}” is missing a file: {error.message}."
                missing.append(diagnose("source-file-missing", message, file=self._url))
        return files, missing

    def _fall_back(self, entry: RemoteEntry, error: FetchError) -> _FetchedFiles:
        """The earlier version of a skill that could not be fetched, or nothing."""
        kept = self._before.get(entry.name)
        files = None
        if kept is not None:
            files = self._cache.load_files(entry.name, kept.files, MOST_SKILL_BYTES)
        # A server that is half broken must not take away skills that worked yesterday.
        effect = "is missing" if files is None else "was not updated"
        message = f"The skill “{entry.name}” {effect}: {error.message}."
        finding = diagnose(error.code, message, file=self._url)
        version = kept.version if kept is not None else None
        return _FetchedFiles(files, version, (finding,))


def _is_same_version(entry: RemoteEntry, kept: CachedSkill) -> bool:
    # Without a version there is no telling, so the files are fetched again.
    if entry.version is None or kept.version != entry.version:
        return False
    # What an archive has in it is known only when it is unpacked.
    if entry.archive is not None:
        return True
    listed = sorted(file.path for file in entry.files)
    return kept.files == tuple(listed)


def _unpack(data: bytes) -> Files:
    try:
        return unpack_archive(data, most_bytes=MOST_SKILL_BYTES, most_files=MOST_FILES)
    except InvalidArchive as error:
        raise FetchError("source-archive-invalid", f"its archive is refused: {error}") from error


def _check_skill(entry: RemoteEntry, files: Files) -> None:
    if SKILL_FILE not in files:
        raise FetchError("source-archive-invalid", f"its archive has no {SKILL_FILE} at the top")
    # Each file is below the limit, or it would not have been fetched; together they may not be.
    size = sum(map(len, files.values()))
    if size > MOST_SKILL_BYTES:
        raise FetchError("source-too-large", f"it has more than {MOST_SKILL_BYTES:,} bytes")
    blocked = list_blocked(files)
    if blocked:
        message = f"{blocked[0][:100]!r} in it is both a file and a folder"
        raise FetchError("source-archive-invalid", message)
    if entry.digest is not None and entry.digest != _digest_files(files):
        message = "its files do not have the digest that the index gives the skill"
        raise FetchError("source-digest-mismatch", message)


def _matches(data: bytes, digest: str | None) -> bool:
    """Whether data has a digest; without one there is nothing to compare."""
    if digest is None:
        return True
    return f"sha256:{hashlib.sha256(data).hexdigest()}" == digest


def _digest_files(files: Files) -> str:
    """The digest of a whole skill, as the earlier draft of 0.2.0 makes it."""
    # With names and in their order, so that files cannot be swapped.
    whole = hashlib.sha256()
    for path in sorted(files):
        digest = hashlib.sha256(files[path]).hexdigest()
        whole.update(f"{path}\0{digest}\n".encode())
    return f"sha256:{whole.hexdigest()}"
