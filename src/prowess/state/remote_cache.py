"""What was fetched from remote indexes, kept on disk and used while there is no network.

Each index has a folder of its own, named after a digest of its URL. `current` in it has the skills
and what is known about them; a new version is written beside it and renamed. One process at a time
writes. One that is killed leaves the old version or the new one, never a mixture.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder, write_aside
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.state.folders import cache_folder
from prowess.state.locks import hold_lock

T = TypeVar("T")

_MOST_BYTES = 1 << 22
_VERSION = 1
# Nobody stages for as long as this.
_STRAY_SECONDS = 3600.0
_NOT_PLAIN = re.compile(r"[^a-z0-9.-]+")


class CachedSkill(msgspec.Struct, frozen=True, omit_defaults=True):
    """A skill as it was fetched: the version or digest that the index gave it, and its files."""

    version: str | None = None
    files: tuple[str, ...] = ()


class FetchedIndex(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the last successful fetch brought: when, from where, and what was wrong with it.

    `url` is that of the source, and `found_at` that of the index itself, after redirects.
    """

    url: str
    fetched_at: float
    found_at: str = ""
    skills: Mapping[str, CachedSkill] = msgspec.field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    version: int = _VERSION


class FailedFetch(msgspec.Struct, frozen=True):
    """Why the last fetch failed, and until when it is not tried again by itself."""

    code: str
    message: str
    failed_at: float
    retry_at: float


class RemoteCache:
    """The cached copy of one remote index.

    `skills_folder` is where its skills are; it stays the same from one version to the next.
    """

    def __init__(
        self, folder: str, kind: str, url: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        # The host is for people who look into the folder; the digest alone tells indexes apart.
        host = _NOT_PLAIN.sub("-", url.partition("//")[2].partition("/")[0].lower())[:40]
        digest = hashlib.sha256(f"{kind}\0{url}".encode("utf-8", "surrogatepass")).hexdigest()
        self.folder = os.path.join(folder, f"{host.strip('.-') or 'index'}-{digest[:32]}")
        self._current = os.path.join(self.folder, "current")
        self.skills_folder = os.path.join(self._current, "skills")
        self._state = os.path.join(self._current, "state.json")
        self._failure = os.path.join(self.folder, "failure.json")
        self._lock = os.path.join(self.folder, "fetch")
        self._clock = clock

    @classmethod
    def of(
        cls, facts: Facts, kind: str, url: str, *, clock: Callable[[], float] = time.time
    ) -> RemoteCache:
        """The copy that the user of a machine has."""
        return cls(os.path.join(cache_folder(facts), "sources"), kind, url, clock=clock)

    def load(self) -> FetchedIndex | None:
        """What was fetched last; None if nothing was, or if it cannot be read."""
        index = _load(self._state, FetchedIndex)
        if index is None and self._find_moved():
            # Killed between two renames, or in the middle of them right now.
            with suppress(MachineError), self.hold():
                self._recover()
            index = _load(self._state, FetchedIndex)
        if index is None or index.version != _VERSION:
            return None
        return index

    def load_failure(self) -> FailedFetch | None:
        """Why the last fetch failed; None if it did not."""
        return _load(self._failure, FailedFetch)

    @contextmanager
    def hold(self, *, seconds: float = 5.0) -> Iterator[None]:
        """Be the only process that changes this copy. Raises `MachineError`."""
        with hold_lock(self._lock, seconds=seconds):
            yield

    def keep(self, skills: Mapping[str, Mapping[str, bytes]], index: FetchedIndex) -> None:
        """Replace the copy as a whole, while it is held. Raises `MachineError`."""
        self._recover()
        staging = os.path.join(self.folder, f"staging-{os.urandom(6).hex()}")
        try:
            for name, files in skills.items():
                for path, data in files.items():
                    write_aside(
                        os.path.join(staging, "skills", *name.split("/"), *path.split("/")),
                        data,
                        mode=0o600,
                        folder_mode=0o700,
                    )
            make_folder(os.path.join(staging, "skills"), mode=0o700)
            self._write_state(os.path.join(staging, "state.json"), index)
            self._swap(staging)
        except OSError as error:
            raise MachineError.caused_by("replace the folder", self._current, error) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        self.clear_failure()

    def keep_unchanged(self, index: FetchedIndex) -> None:
        """Note that the copy is what the server has now, while it is held."""
        self._write_state(self._state, index)
        self.clear_failure()

    def load_files(self, name: str, paths: tuple[str, ...], limit: int) -> dict[str, bytes] | None:
        """The files of a cached skill; None if one of them is missing."""
        contents: dict[str, bytes] = {}
        folder = os.path.join(self.skills_folder, *name.split("/"))
        for path in paths:
            try:
                head = LocalFiles().read_head(os.path.join(folder, *path.split("/")), limit)
            except OSError:
                return None
            contents[path] = head.data
        return contents

    def note_failure(self, code: str, message: str, *, pause: float) -> None:
        """Remember that a fetch failed, so that the next scans do not wait for it."""
        now = self._clock()
        failure = FailedFetch(code, message, now, now + pause)
        write_aside(
            self._failure, msgspec.json.encode(failure), mode=0o600, folder_mode=0o700, sync=False
        )

    def clear_failure(self) -> None:
        """Forget that a fetch failed."""
        with suppress(FileNotFoundError):
            os.unlink(self._failure)

    def remove(self) -> None:
        """Remove the copy with all that belongs to it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_state(self, path: str, index: FetchedIndex) -> None:
        write_aside(path, msgspec.json.encode(index), mode=0o600, folder_mode=0o700)

    def _swap(self, staging: str) -> None:
        old = os.path.join(self.folder, f"old-{os.urandom(6).hex()}")
        # A folder that is not empty cannot be replaced by a rename, so it takes two.
        if os.path.lexists(self._current):
            os.rename(self._current, old)
        os.rename(staging, self._current)
        shutil.rmtree(old, ignore_errors=True)

    def _find_moved(self) -> list[str]:
        """Versions that were moved aside by a process that did not finish, newest first."""
        return sorted(self._list("old-"), key=_get_time, reverse=True)

    def _recover(self) -> None:
        """Finish what a killed process left, while the copy is held."""
        moved = self._find_moved()
        if moved and not os.path.lexists(self._current):
            with suppress(OSError):
                os.rename(moved.pop(0), self._current)
        for path in moved:
            shutil.rmtree(path, ignore_errors=True)
        for path in self._list("staging-"):
            if self._is_stray(path):
                shutil.rmtree(path, ignore_errors=True)

    def _list(self, prefix: str) -> list[str]:
        """What is beside the copy and begins with a word; nothing where there is no folder yet."""
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        return [os.path.join(self.folder, name) for name in names if name.startswith(prefix)]

    def _is_stray(self, path: str) -> bool:
        return self._clock() - _get_time(path) > _STRAY_SECONDS


def _get_time(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _load(path: str, kind: type[T]) -> T | None:
    try:
        data = LocalFiles().read_head(path, _MOST_BYTES).data
        return msgspec.json.decode(data, type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A cache that cannot be read is fetched again.
        return None
