"""A file system in memory that records what was asked of it."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.machine.memory_files import FilesInMemory
from prowess.model.files import FolderItem, Head


class MemoryFiles(FilesInMemory):
    """Files by absolute path; `listed` and `read` are the folders and files asked for, in order."""

    def __init__(
        self, files: Mapping[str, str | bytes | None], links: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(files, links)
        self.listed: list[str] = []
        self.read: list[str] = []

    def list_folder(self, path: str) -> list[FolderItem]:
        """What is in a folder, sorted by name."""
        self.listed.append(path)
        return super().list_folder(path)

    def read_head(self, path: str, limit: int) -> Head:
        """At most `limit` bytes from the start of an ordinary file."""
        self.read.append(path)
        return super().read_head(path, limit)
