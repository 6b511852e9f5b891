"""A `FileSystem` in memory: skills that are in no folder, and tests that touch no disk."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from prowess.model.files import FolderItem, Head, Stamp

# As many as Linux follows before it calls them a loop.
_MOST_LINKS = 40


class FilesInMemory:
    """Files by absolute path. A value that is text or bytes is a file, one that is None is a pipe
    or a device.

    `links` maps a path to the target it leads to.
    """

    def __init__(
        self, files: Mapping[str, str | bytes | None], links: Mapping[str, str] | None = None
    ) -> None:
        self.links = dict(links or {})
        self._files: dict[str, bytes | None] = {}
        self._folders: dict[str, set[str]] = {}
        self._versions: dict[str, int] = {}
        for path, content in files.items():
            self.write(path, content)

    def write(self, path: str, content: str | bytes | None) -> None:
        """Put a file there, or replace it."""
        is_new = path not in self._files
        self._files[path] = content.encode() if isinstance(content, str) else content
        self._versions[path] = self._versions.get(path, 0) + 1
        if is_new:
            self._list_in_folders(path)

    def remove(self, path: str) -> None:
        """Delete a file, and the folders that are empty without it."""
        del self._files[path]
        while path != "/":
            folder, _, name = path.rpartition("/")
            folder = folder or "/"
            names = self._folders[folder]
            names.discard(name)
            self._versions[folder] = self._versions.get(folder, 0) + 1
            if names:
                return
            del self._folders[folder]
            path = folder

    def _list_in_folders(self, path: str) -> None:
        """Enter a new file in the folders around it, up to the first that has it already."""
        while path != "/":
            folder, _, name = path.rpartition("/")
            folder = folder or "/"
            names = self._folders.setdefault(folder, set())
            if name in names:
                return
            names.add(name)
            self._versions[folder] = self._versions.get(folder, 0) + 1
            path = folder

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        real = self._resolve(path)
        if self.find_kind(real) != "folder":
            raise NotADirectoryError(20, "Not a directory", path)
        base = real.rstrip("/") + "/"
        names = set(self._folders.get(real, ()))
        # Links are in no index, because there are few.
        inside = [link for link in self.links if link.startswith(base)]
        names.update(link[len(base) :].split("/")[0] for link in inside)
        return [self._describe(f"{base}{name}", name) for name in sorted(names)]

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file."""
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
        """A stamp that changes whenever the file is written, or what is in the folder changes."""
        real = self._resolve(path)
        version = self._versions.get(real, 0)
        content = self._files.get(real) or b""
        # Other files may be put in place of these ones, so the stamp depends on what is in them.
        return (version, version, len(content), hash((real, content)))

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
        base = real.rstrip("/") + "/"
        has_link_inside = any(link.startswith(base) for link in self.links)
        if real in self._folders or has_link_inside:
            return "folder"
        return None

    def find_link(self, path: str) -> str | None:
        """What a link says, whether it leads anywhere or not; None where there is no link."""
        return self.links.get(posixpath.normpath(path))

    def _describe(self, path: str, name: str) -> FolderItem:
        return FolderItem(name, self.find_kind(path) or "broken", path in self.links)

    def _resolve(self, path: str) -> str:
        path = posixpath.normpath(path)
        for _ in range(_MOST_LINKS):
            link = self._find_link_on(path)
            if link is None:
                return path
            target = posixpath.join(posixpath.dirname(link), self.links[link])
            path = posixpath.normpath(target + path[len(link) :])
        raise OSError(40, "Too many levels of symbolic links", path)

    def _find_link_on(self, path: str) -> str | None:
        """A link that a path is, or passes through."""
        for link in self.links:
            if path == link or path.startswith(f"{link}/"):
                return link
        return None
