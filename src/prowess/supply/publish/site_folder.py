"""Write a published folder: only files that `publish` wrote before are ever replaced or removed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from prowess.errors import MachineError, UsageError
from prowess.machine.atomic_write import remove_file, write_aside
from prowess.machine.files import LocalFiles
from prowess.supply.publish.site import (
    DISCOVERY_INDEX,
    FILE_LIST,
    OPENCODE_INDEX,
    SIGNATURE,
    InvalidFileList,
    parse_file_list,
)

# The list of a run that has begun. With it, a run that was cut short knows its files again.
_JOURNAL = f"{FILE_LIST}.new"
_MOST_BYTES = 1 << 28


class SiteTaken(UsageError):
    """A file in the way that `publish` did not write, or that was changed since."""

    exit_code = 1

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return (
            f"{self.path} was not written by `prowess publish`, or was changed since. Nothing was"
            " written."
        )

    @property
    def hint(self) -> str | None:
        return "Move it away, or publish to another folder."


class SiteChanges(msgspec.Struct, frozen=True):
    """What a run writes and removes, by path, sorted; all other files stay as they are."""

    written: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.written or self.removed)


class SiteFolder:
    """A folder with a published site in it, or one that is empty or missing."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files = LocalFiles()

    def plan(self, site: Mapping[str, bytes]) -> SiteChanges:
        """What writing a site changes. Raises `SiteTaken`, before anything is at stake."""
        lists = self._load_lists()
        written = [path for path, data in site.items() if self.read(path) != data]
        before = set[str]().union(*lists)
        stale = before - site.keys()
        removed = [path for path in stale if self.read(path) is not None]
        for path in (*written, *removed):
            self._check_own(path, lists)
        return SiteChanges(tuple(sorted(written)), tuple(sorted(removed)))

    def write(self, site: Mapping[str, bytes], changes: SiteChanges) -> None:
        """Carry a plan out. The indexes come after what they name, and the list of files last."""
        if not changes:
            self._remove(_JOURNAL)
            return
        # Killed at any moment, each file is in the old list or in this one, so that the next run
        # knows it for its own.
        self._write(_JOURNAL, site[FILE_LIST])
        for path in sorted(changes.written, key=_rank):
            self._write(path, site[path])
        for path in changes.removed:
            self._remove(path)
        self._remove(_JOURNAL)

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if there is none. Raises `MachineError`."""
        self._check_folders(path)
        place = f"{self.path}/{path}"
        if self._files.find_link(place) is not None:
            raise SiteTaken(place)
        if self._files.find_kind(place) is None:
            return None
        try:
            return self._files.read_head(place, _MOST_BYTES).data
        except OSError as error:
            raise MachineError.caused_by("read", place, error) from error

    def write_signature(self, signature: bytes | None) -> bool:
        """Put a signature next to the list of files, or remove an old one; whether that changed."""
        before = self.read(SIGNATURE)
        if before == signature:
            return False
        if signature is None:
            self._remove(SIGNATURE)
        else:
            self._write(SIGNATURE, signature)
        return True

    def find_problems(self) -> Iterator[str]:
        """What in the folder is not as its list of files says."""
        data = self.read(FILE_LIST)
        if data is None:
            yield f"{FILE_LIST} is missing"
            return
        for path, digest in self._parse(FILE_LIST, data).items():
            content = self.read(path)
            if content is None:
                yield f"{path} is missing"
            elif hashlib.sha256(content).hexdigest() != digest:
                yield f"{path} was changed"

    def _load_lists(self) -> list[dict[str, str]]:
        """The digests of the files that earlier runs wrote, or have begun to write."""
        lists: list[dict[str, str]] = []
        for path in (FILE_LIST, _JOURNAL):
            data = self.read(path)
            if data is not None:
                lists.append(self._parse(path, data))
        return lists

    def _parse(self, path: str, data: bytes) -> dict[str, str]:
        try:
            return parse_file_list(data)
        except InvalidFileList as error:
            raise MachineError("use", f"{self.path}/{path}", str(error)) from error

    def _check_own(self, path: str, lists: list[dict[str, str]]) -> None:
        """Raise `SiteTaken` for a file that no list has with this content."""
        content = self.read(path)
        # The list itself has no digest anywhere; that it can be read says that it is ours.
        if content is None or path == FILE_LIST:
            return
        digest = hashlib.sha256(content).hexdigest()
        if all(digests.get(path) != digest for digests in lists):
            raise SiteTaken(f"{self.path}/{path}")

    def _check_folders(self, path: str) -> None:
        """Refuse a folder on the way that is a link: it may lead anywhere."""
        parts = path.split("/")[:-1]
        # Every folder on the way counts: a link at the top leads everything elsewhere.
        for end in range(1, len(parts) + 1):
            folder = "/".join((self.path, *parts[:end]))
            if self._files.find_link(folder) is not None:
                raise SiteTaken(folder)

    def _write(self, path: str, data: bytes) -> None:
        # Without waiting for the disk: a site can always be published again.
        write_aside(f"{self.path}/{path}", data, sync=False)

    def _remove(self, path: str) -> None:
        remove_file(f"{self.path}/{path}", empty_up_to=self.path)


def _rank(path: str) -> tuple[int, str]:
    order = {DISCOVERY_INDEX: 1, OPENCODE_INDEX: 1, FILE_LIST: 2}
    return order.get(path, 0), path
