"""What the last scan read, kept so that the next one parses only what changed.

The cache is one file per working folder and host. Every folder and file in it is trusted only while
its stamp is the one that was read, so the cache never changes an answer; it can be thrown away at
any time, and a cache that cannot be read counts as none.
"""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

import os
import time
from typing import Any, Generic, TypeVar

import msgspec

from prowess.errors import MachineError
from prowess.machine.ownership import find_other_writer
from prowess.model.files import FolderItem, Head, KeptReading, Stamp
from prowess.ports import FileSystem
from prowess.state.checksum import compute_checksum

T = TypeVar("T")

_FORMAT = 5
# A file that changes again within one tick of the clock after it was read keeps its stamp. What is
# younger than a tick is therefore not kept, and read again next time. A time in whole seconds
# comes from a coarse clock.
_TICK_NS = 100_000_000
_COARSE_TICK_NS = 2_500_000_000
_MOST_CACHES = 200
# Writing the cache costs as much as reading many files. If fewer than one in so many entries
# changed, it stays as it is, and those few are read again next time.
_FEW = 200
# How a listing marks what its items are.
_MARKS = {"file": "-", "folder": "d", "other": "?"}
_KINDS = {mark: kind for kind, mark in _MARKS.items()}


class KeptFolder(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stamp that a folder had, and its items as one text, such as `-SKILL.md/dscripts`.

    Most folders of skills have the same few items in them, so equal texts are read once.
    """

    stamp: Stamp
    listing: str


class ScanCache(Generic[T]):
    """A `FileSystem` that remembers listings, and a store of what was read from files.

    They are kept in the file at `path`, and with `remember` also in this object, which the next
    scan gets as its `earlier` one.
    """

    def __init__(
        self,
        files: FileSystem,
        path: str | None,
        *,
        key: str,
        reading_type: type[T],
        remember: bool = False,
        earlier: "ScanCache[T] | None" = None,
    ) -> None:
        self._files = files
        self._remembers = remember or path is not None
        self.key = key
        self._path = path
        self._started = time.time_ns()
        self._made = 0
        self._has_none = False
        shape = tuple[int, str, dict[str, KeptFolder], dict[str, KeptReading[reading_type]]]  # type: ignore[valid-type]
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(shape)
        if earlier is None:
            self._old_folders, self._old_readings = self._load()
        else:
            self._old_folders, self._old_readings = earlier._folders, earlier._readings
        self._folders: dict[str, KeptFolder] = {}
        self._items: dict[str, list[FolderItem]] = {}
        # The other folders that were listed, with the stamps they had; None for a folder that may
        # change again and keep its stamp.
        self._unkept: dict[str, Stamp | None] = {}
        self._readings: dict[str, KeptReading[T]] = {}
        self.read_head = files.read_head
        self.read_real_head = files.read_real_head
        self.list_real_folder = files.list_real_folder
        self.get_stamp = files.get_stamp
        self.find_real_path = files.find_real_path
        self.find_kind = files.find_kind
        self.find_link = files.find_link

    def _load(self) -> tuple[dict[str, KeptFolder], dict[str, KeptReading[T]]]:
        if self._path is None:
            return {}, {}
        try:
            # A cache that somebody else wrote could say anything about the skills here.
            if find_other_writer(self._path) is not None:
                self._path = None
                return {}, {}
            data = self._files.read_head(self._path, 1 << 30).data
            format, key, folders, readings = self._decoder.decode(data)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            # The first scan of this folder, or a file that another version or a crash left.
            self._has_none = True
            return {}, {}
        if (format, key) != (_FORMAT, self.key):
            self._has_none = True
            return {}, {}
        return folders, readings

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, from the cache where the folder has not changed.

        A scan sees the same in a folder each time it asks, and most folders are looked at once.
        """
        kept = self._folders.get(path)
        if kept is None:
            kept = self._old_folders.get(path)
            if kept is None or self.get_stamp(path) != kept.stamp:
                return self._list_anew(path)
            self._folders[path] = kept
        return self._items.get(kept.listing) or self._parse(kept.listing)

    def _list_anew(self, path: str) -> list[FolderItem]:
        if not self._remembers:
            return self._files.list_folder(path)
        # The stamp is taken first: a change while the folder is listed is then noticed next time.
        stamp = self.get_stamp(path)
        items = self._files.list_folder(path)
        self._made += 1
        is_settled = self._is_settled(stamp)
        if is_settled and not _has_link(items):
            listing = _render_listing(items)
            self._folders[path] = KeptFolder(stamp, listing)
            return self._items.setdefault(listing, items)
        self._unkept[path] = stamp if is_settled else None
        return items

    def _parse(self, listing: str) -> list[FolderItem]:
        items = self._items[listing] = _parse_listing(listing)
        return items

    def find_reading(self, location: str) -> KeptReading[T] | None:
        """What was read from a file, where the file has not changed since."""
        kept = self._old_readings.get(location)
        if kept is None:
            return None
        try:
            stamp = self.get_stamp(location)
        except OSError:
            return None
        if stamp != kept.stamp:
            return None
        self._readings[location] = kept
        return kept

    def keep_reading(self, location: str, head: Head, reading: T) -> KeptReading[T]:
        """Remember what was read from a file, if its stamp can be relied on."""
        self._made += 1
        kept = KeptReading(head.stamp, head.size, head.links, reading)
        if self._remembers and self._is_settled(head.stamp):
            self._readings[location] = kept
        return kept

    def _is_settled(self, stamp: Stamp) -> bool:
        """Whether a change from now on would give another stamp."""
        modified, changed, _, _ = stamp
        newest = modified if modified > changed else changed
        if newest < self._started - _COARSE_TICK_NS:
            return True
        is_fine = modified % 1_000_000_000 != 0
        return is_fine and newest < self._started - _TICK_NS

    def find_seen_stamp(self, path: str) -> Stamp | None:
        """The stamp that a folder had when it was listed, and that anything else has now.

        None for a folder that may change again and keep its stamp, and for what is not there.
        """
        kept = self._folders.get(path)
        if kept is not None:
            return kept.stamp
        if path in self._unkept:
            return self._unkept[path]
        try:
            return self.get_stamp(path)
        except (OSError, ValueError):
            return None

    def list_seen_stamps(self) -> dict[str, Stamp | None]:
        """Every folder that was listed, with its stamp as `find_seen_stamp` has it."""
        return {path: kept.stamp for path, kept in self._folders.items()} | self._unkept

    def forget_earlier(self) -> None:
        """Let go of what an earlier scan read and this one did not need."""
        self._old_folders, self._old_readings = {}, {}

    def save(self) -> None:
        """Write the cache if enough changed. If it cannot be written, the next scan reads more."""
        if self._path is None or not self._is_worth_writing():
            return
        # Most scans change next to nothing, and so write nothing.
        from prowess.machine.atomic_write import write_aside

        try:
            data = msgspec.msgpack.encode((_FORMAT, self.key, self._folders, self._readings))
            # A file that a crash cut short is noticed and read as none.
            write_aside(self._path, data, mode=0o600, folder_mode=0o700, sync=False)
            _forget_oldest(os.path.dirname(self._path))
        except (MachineError, OSError, UnicodeEncodeError):
            # A read-only home, a file name that is not text, another process that tidies up at the
            # same time.
            self._path = None

    def _is_worth_writing(self) -> bool:
        if self._has_none:
            return True
        kept = len(self._readings) + len(self._folders)
        kept_before = len(self._old_readings) + len(self._old_folders)
        gone = max(kept_before - kept, 0)
        changed = self._made + gone
        return changed * _FEW > kept


def _has_link(items: list[FolderItem]) -> bool:
    """Whether a listing depends on more than its folder: a link's target can change alone."""
    return True in [item.is_link for item in items]


def _render_listing(items: list[FolderItem]) -> str:
    """Items that are no links as one text; no name has a slash in it."""
    return "/".join([f"{_MARKS[item.kind]}{item.name}" for item in items])


def _parse_listing(listing: str) -> list[FolderItem]:
    marked = listing.split("/") if listing else ()
    return [FolderItem(name[1:], _KINDS.get(name[:1], "other"), False) for name in marked]


def _forget_oldest(folder: str) -> None:
    """Keep only the newest caches, so that folders that are gone do not take room for ever."""
    names = [name for name in os.listdir(folder) if name.endswith(".msgpack")]
    if len(names) <= _MOST_CACHES:
        return
    paths = sorted((os.path.join(folder, name) for name in names), key=os.path.getmtime)
    for path in paths[: len(paths) - _MOST_CACHES]:
        os.unlink(path)


def cache_path(folder: str, key: str) -> str:
    """The cache file for a key. The key is also in the file, so a clash of names is noticed."""
    return os.path.join(
        folder, "scans", f"{compute_checksum(key.encode('utf-8', 'replace'))}.msgpack"
    )
