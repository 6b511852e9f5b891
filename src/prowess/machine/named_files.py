"""A `FileSystem` of some folders only: what nobody named is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prowess.model.files import FolderItem, Head, Stamp
from prowess.ports import FileSystem


class NamedFiles:
    """The folders that were named, on disk or in memory. Everything else does not exist.

    A symlink out of them leads nowhere, unless into another one of them.
    """

    def __init__(self, folders: Iterable[str], disk: FileSystem) -> None:
        self._folders = tuple(folders)
        self._disk = disk
        self._mounts: dict[str, FileSystem] = {}
        self._memory: dict[str, FileSystem] = {}
        self.find_folders()

    def find_folders(self) -> None:
        """Learn where the named folders really are; a symlink to one may have changed."""
        mounts = dict.fromkeys(self._folders, self._disk)
        for folder in self._folders:
            real = self._disk.find_real_path(folder)
            if real is not None:
                mounts[real] = self._disk
        self._set_mounts({**mounts, **self._memory})

    def _set_mounts(self, mounts: dict[str, FileSystem]) -> None:
        self._mounts = mounts
        self._prefixes = [(f"{folder.rstrip('/')}/", files) for folder, files in mounts.items()]

    def mount(self, folders: Mapping[str, FileSystem]) -> None:
        """Put file systems at these paths, in place of what was there."""
        self._memory |= folders
        self._set_mounts({**self._mounts, **folders})

    def _find(self, path: str) -> FileSystem | None:
        # By its text such a path may begin with a named folder and lead out of it.
        if "/../" in f"{path}/":
            return None
        # With the slash, so that `skills-old` is not inside `skills`.
        as_folder = f"{path}/"
        for prefix, files in self._prefixes:
            if as_folder.startswith(prefix):
                return files
        return None

    def _get(self, path: str) -> FileSystem:
        files = self._find(path)
        if files is None:
            raise FileNotFoundError(2, "No such file or directory", path)
        return files

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        return self._get(path).list_folder(path)

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of a regular file."""
        return self._get(path).read_head(path, limit)

    def list_real_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder whose path has no links."""
        return self._get(path).list_real_folder(path)

    def read_real_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of a regular file whose path has no links."""
        return self._get(path).read_real_head(path, limit)

    def get_stamp(self, path: str) -> Stamp:
        """The stamp of what is there now."""
        return self._get(path).get_stamp(path)

    def find_real_path(self, path: str) -> str | None:
        """The path with every link resolved; None if it leads out of the named folders."""
        files = self._find(path)
        real = None if files is None else files.find_real_path(path)
        if real is None or self._find(real) is None:
            return None
        return real

    def find_kind(self, path: str) -> str | None:
        """`file`, `folder` or `other`, following links; None if nothing is there."""
        files = self._find(path)
        return None if files is None else files.find_kind(path)

    def find_link(self, path: str) -> str | None:
        """The target of a symlink, whether it exists or not; None if there is no link."""
        files = self._find(path)
        return None if files is None else files.find_link(path)
