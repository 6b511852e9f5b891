"""The files of a project for an agent's tools: places, text, lists. No link leads out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

import msgspec

from prowess.errors import MachineError, name_cause
from prowess.machine.files import LocalFiles, open_real
from prowess.model.files import FolderItem
from prowess.text.ignore_files import IGNORE_FILE, IgnoreChain

MOST_BYTES = 1 << 24
_GIT = ".git"


class FilePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a path really leads: absolute, with every link resolved.

    `shown` is how people call it: relative where it is inside the project.
    """

    path: str
    shown: str
    is_inside: bool


class FileText(msgspec.Struct, frozen=True):
    """The text of a file, and how it is written: whether its lines end as on Windows."""

    text: str
    has_crlf: bool = False


class ProjectFiles:
    """The files below a root. Relative paths start at the working folder."""

    def __init__(self, root: str, cwd: str, *, home: str) -> None:
        self.root = os.path.realpath(root)
        self._cwd = cwd
        self._home = home
        self._files = LocalFiles()

    def locate(self, path: str) -> FilePlace:
        """Where a path leads. It need not exist; links on the way count."""
        # A model writes paths as in a shell, which would expand this.
        if path == "~" or path.startswith("~/"):
            path = self._home + path[1:]
        return self._describe(os.path.realpath(os.path.join(self._cwd, path)))

    def find_kind(self, place: FilePlace) -> str | None:
        """`file`, `folder` or `other`; None if nothing is there."""
        return self._files.find_kind(place.path)

    def load_bytes(self, place: FilePlace) -> bytes:
        """All of a file. Raises `MachineError`."""
        try:
            head = self._files.read_real_head(place.path, MOST_BYTES)
        except OSError as error:
            raise MachineError("read", place.shown, _name_cause(error)) from error
        if head.size > MOST_BYTES:
            raise MachineError("read", place.shown, f"it has more than {MOST_BYTES:,} bytes")
        return head.data

    def load_text(self, place: FilePlace) -> FileText:
        """The text of a file. Raises `MachineError`, also for a file that is not text."""
        data = self.load_bytes(place)
        # Valid in UTF-8, but in no file that people write; git goes by it, too.
        if b"\0" in data:
            raise MachineError("read", place.shown, "it is a binary file")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise MachineError("read", place.shown, "it is not UTF-8 text") from None
        return FileText(text.replace("\r\n", "\n"), has_crlf="\r\n" in text)

    def find_text(self, place: FilePlace) -> FileText | None:
        """As `load_text`; None where there is no file."""
        return self.load_text(place) if self.find_kind(place) is not None else None

    def write_text(self, place: FilePlace, text: FileText) -> None:
        """Write a file aside and rename it, so that nobody finds half of it.

        Missing folders are made. A folder that became a link since `locate` is refused. Raises
        `MachineError`.
        """
        with_ends = text.text.replace("\n", "\r\n") if text.has_crlf else text.text
        folder, name = os.path.split(place.path)
        try:
            os.makedirs(folder, exist_ok=True)
            flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
            # Everything below happens in the folder that is open, wherever its path leads by then.
            descriptor = open_real(folder, flags)
            try:
                _replace(name, with_ends.encode("utf-8", "surrogateescape"), descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise MachineError("write", place.shown, _name_cause(error)) from error

    def list_files(
        self, place: FilePlace, *, is_cancelled: Callable[[], bool] | None = None
    ) -> Iterator[FilePlace]:
        """Every file below a folder, sorted; a file is itself the list.

        `.git`, links, and what git ignores are left out.
        """
        if self.find_kind(place) != "folder":
            yield place
            return
        waiting = [(place.path, self._learn_above(place.path))]
        while waiting:
            if is_cancelled is not None and is_cancelled():
                return
            folder, ignored = waiting.pop()
            try:
                items = self._files.list_real_folder(folder)
            except OSError:
                # One folder without permission must not hide all the others.
                continue
            if any(item.name == IGNORE_FILE for item in items):
                ignored = ignored.learn(folder, self._files.read_head)
            inner = []
            for item in items:
                path = os.path.join(folder, item.name)
                if _is_left_out(item, path, ignored):
                    continue
                if item.kind == "folder":
                    inner.append((path, ignored))
                elif item.kind == "file":
                    yield self._describe(path)
            # The last one is taken next, so the list is reversed.
            waiting += reversed(inner)

    def _learn_above(self, folder: str) -> IgnoreChain:
        """The ignore files between the root and a folder."""
        ignored = IgnoreChain()
        if not _is_below(folder, self.root):
            return ignored
        at = self.root
        for part in os.path.relpath(folder, self.root).split(os.sep):
            ignored = ignored.learn(at, self._files.read_head)
            at = os.path.join(at, part)
        return ignored

    def _describe(self, path: str) -> FilePlace:
        is_inside = _is_below(path, self.root)
        shown = os.path.relpath(path, os.path.realpath(self._cwd)) if is_inside else path
        return FilePlace(path=path, shown=shown, is_inside=is_inside)


def _is_left_out(item: FolderItem, path: str, ignored: IgnoreChain) -> bool:
    if item.is_link or item.name == _GIT:
        return True
    return ignored.find_pattern(path, is_folder=item.kind == "folder") is not None


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _replace(name: str, data: bytes, folder: int) -> None:
    """Write a file in an open folder; an old one of that name keeps its permissions."""
    # Cut, because a name near the limit of 255 bytes has no room for the rest.
    aside = f".{name[:100]}.{os.urandom(6).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(aside, flags, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            mode = _find_mode(name, folder)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(aside, dir_fd=folder)
        raise


def _find_mode(name: str, folder: int) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is not a regular file")
    return stat.S_IMODE(found.st_mode)


def _name_cause(error: OSError) -> str:
    return name_cause(error).rstrip(".")
