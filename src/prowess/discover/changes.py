"""Whether what a scan found has changed since, by looking at a bounded number of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prowess.ports import FileSystem, Stamp

# Looking at one costs one or two microseconds, so a check stays below a few milliseconds.
MOST_PER_CHECK = 1_000


class ChangeCheck:
    """The folders and files of one scan with the versions that it saw.

    Every check looks at all `roots`, whose versions change when a skill in them is added, renamed
    or removed, and at the next of the `others`: the folders below and the files. With more than
    `MOST_PER_CHECK` of these an edit is noticed after some checks. It is not safe for several
    threads.
    """

    def __init__(
        self,
        files: FileSystem,
        roots: Iterable[str],
        others: Mapping[str, Stamp | None],
        *,
        most: int = MOST_PER_CHECK,
    ) -> None:
        self._files = files
        self._most = most
        self._next = 0
        self._roots = [
            (path, others[path] if path in others else self._find_stamp(path))
            for path in dict.fromkeys(roots)
        ]
        known = {path for path, _ in self._roots}
        self._others = [(path, stamp) for path, stamp in others.items() if path not in known]

    def has_changed(self) -> bool:
        """Whether one of those that this check looks at is not as it was."""
        if any(self._is_new(path, stamp) for path, stamp in self._roots):
            return True
        start, end = self._next, self._next + self._most
        self._next = end if end < len(self._others) else 0
        return any(self._is_new(path, stamp) for path, stamp in self._others[start:end])

    def _is_new(self, path: str, stamp: Stamp | None) -> bool:
        return self._find_stamp(path) != stamp

    def _find_stamp(self, path: str) -> Stamp | None:
        try:
            return self._files.get_stamp(path)
        except (OSError, ValueError):
            return None
