"""A `FileSystem` in memory, for tests that should not touch a disk."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from prowess.ports import FolderItem, Head, Stamp

_MOST_LINKS = 40


class MemoryFiles:
    """Files by absolute path. A value that is text or bytes is a file, one that is None is a pipe
    or a device.

    `links` maps a path to the target it leads to. `listed` and `read` count what was asked, in
    order.
    """

    def __init__(
        self, files: Mapping[str, str | bytes | None], links: Mapping[str, str] | None = None
    ) -> None:
        self.links = dict(links or {})
        self.listed: list[str] = []
        self.read: list[str] = []
        self._files: dict[str, bytes | None] = {}
        self._versions: dict[str, int] = {}
        for path, content in files.items():
            self.write(path, content)

    def write(self, path: str, content: str | bytes | None) -> None:
        """Put a file there, or replace it."""
        self._files[path] = content.encode() if isinstance(content, str) else content
        self._versions[path] = self._versions.get(path, 0) + 1

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        self.listed.append(path)
        real = self._resolve(path)
        if self.find_kind(real) != "folder":
            raise NotADirectoryError(20, "Not a directory", path)
        names = {
            rest.split("/")[0]
            for known in (*self._files, *self.links)
            if known.startswith(prefix := real.rstrip("/") + "/") and (rest := known[len(prefix) :])
        }
        return [self._describe(f"{real.rstrip('/')}/{name}", name) for name in sorted(names)]

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file."""
        self.read.append(path)
        real = self._resolve(path)
        if real not in self._files:
            raise FileNotFoundError(2, "No such file or directory", path)
        content = self._files[real]
        if content is None:
            raise OSError("it is a pipe, not a regular file")
        return Head(content[:limit], len(content), 1, self.get_stamp(real))

    def list_real_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder whose path has no links."""
        self._refuse_links(path)
        return self.list_folder(path)

    def read_real_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of a file whose path has no links."""
        self._refuse_links(path)
        return self.read_head(path, limit)

    def _refuse_links(self, path: str) -> None:
        if self._resolve(path) != posixpath.normpath(path):
            raise OSError(40, "Too many levels of symbolic links", path)

    def get_stamp(self, path: str) -> Stamp:
        """A stamp that changes whenever the file is written."""
        real = self._resolve(path)
        version = self._versions.get(real, 0)
        return (version, version, len(self._files.get(real) or b""), hash(real))

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None where nothing is there."""
        try:
            real = self._resolve(path)
        except OSError:
            return None
        return real if self.find_kind(real) is not None else None

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`; None where nothing is there."""
        try:
            real = self._resolve(path)
        except OSError:
            return None
        if real in self._files:
            return "other" if self._files[real] is None else "file"
        prefix = real.rstrip("/") + "/"
        return (
            "folder"
            if any(known.startswith(prefix) for known in (*self._files, *self.links))
            else None
        )

    def find_link(self, path: str) -> str | None:
        """What a link says, whether it leads anywhere or not; None where there is no link."""
        return self.links.get(posixpath.normpath(path))

    def _describe(self, path: str, name: str) -> FolderItem:
        return FolderItem(name, self.find_kind(path) or "broken", path in self.links)

    def _resolve(self, path: str) -> str:
        path = posixpath.normpath(path)
        for _ in range(_MOST_LINKS):
            link = next(
                (one for one in self.links if path == one or path.startswith(one + "/")), None
            )
            if link is None:
                return path
            target = posixpath.join(posixpath.dirname(link), self.links[link])
            path = posixpath.normpath(target + path[len(link) :])
        raise OSError(40, "Too many levels of symbolic links", path)
