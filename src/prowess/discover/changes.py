"""Whether what a scan found has changed since, by looking at a bounded number of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prowess.model.files import Stamp
from prowess.ports import FileSystem

# Looking at one costs one or two microseconds, so a check stays below a few milliseconds.
MOST_PER_CHECK = 1_000


class ChangeCheck:
    """The folders and files of one scan with the versions that it saw.

    Every check looks at all `roots`, whose versions change when a skill in them is added, renamed
    or removed, and at the next of the others: the folders below and the files. With more than
    `MOST_PER_CHECK` of these an edit is noticed after some checks. They are listed by the first
    check, because many programs scan once and never check. It is not safe for several threads.
    """

    def __init__(
        self,
        files: FileSystem,
        roots: Mapping[str, Stamp | None],
        list_others: Callable[[], Mapping[str, Stamp | None]],
        *,
        most: int = MOST_PER_CHECK,
    ) -> None:
        self._files = files
        self._most = most
        self._next = 0
        self._roots = roots
        self._list_others = list_others
        self._others: list[tuple[str, Stamp | None]] | None = None

    def has_changed(self) -> bool:
        """Whether one of those that this check looks at is not as it was."""
        if any(self._is_new(path, stamp) for path, stamp in self._roots.items()):
            return True
        if self._others is None:
            listed = self._list_others().items()
            self._others = [(path, stamp) for path, stamp in listed if path not in self._roots]
        start, end = self._next, self._next + self._most
        has_more = end < len(self._others)
        self._next = end if has_more else 0
        return any(self._is_new(path, stamp) for path, stamp in self._others[start:end])

    def _is_new(self, path: str, stamp: Stamp | None) -> bool:
        try:
            return self._files.get_stamp(path) != stamp
        except (OSError, ValueError):
            # What is not there has no stamp.
            return stamp is not None
