"""Files of skills defined in code, on disk in a private folder that nobody can guess or replace.

Every folder on the way has to be our own and closed to others. Each is opened once, without
following a symlink, and what is in it is reached through that opened folder, so nothing can be
swapped in on the way. What is already there is never removed or overwritten.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import threading
import weakref
from collections.abc import Mapping

from prowess.errors import MachineError
from prowess.ports import FileSystem

_CAN_OPEN_FOLDERS = (
    os.open in os.supports_dir_fd and os.mkdir in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
)
_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NOT_PLAIN = re.compile(r"[^a-z0-9_-]+")

# No file of a skill that a program needs is as large as this.
_MOST_BYTES = 1 << 28
# Far below what any system refuses, so that a path fits behind every folder it is written to.
_MOST_DEPTH = 64
_MOST_CHARACTERS = 512
_MOST_NAME_BYTES = 255

FOLDER_MODE = 0o700
FILE_MODE = 0o600

# A file is always new. Where the system can, a symlink in its place is refused as well; Windows has
# no such flag, and exclusive creation alone refuses whatever is in the way.
_POSIX_FLAGS = ("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC")
_WINDOWS_FLAGS = ("O_WRONLY", "O_CREAT", "O_EXCL", "O_BINARY", "O_NOINHERIT")


def list_write_flags(platform: str) -> tuple[str, ...]:
    """The names of the flags that open a new file on a platform (`linux`, `darwin`, `win32`)."""
    return _WINDOWS_FLAGS if platform == "win32" else _POSIX_FLAGS


def find_refusal(path: str) -> str | None:
    """Why a path is not unpacked; None if it is inside the skill's folder on every platform.

    Both separators count everywhere, and so does `..`, even if it cancels out.
    """
    parts = _SEPARATORS.split(path)
    names_a_file = path.strip() and parts[-1] not in ("", ".")
    if not names_a_file:
        return "the path does not name a file"
    is_absolute = parts[0] == "" or _DRIVE.match(path)
    if is_absolute:
        return "the path is absolute and points outside the skill's folder"
    if ".." in parts:
        return "the path points outside the skill's folder"
    if "\0" in path:
        return "the path contains a NUL character"
    if len(parts) > _MOST_DEPTH:
        return f"the path is more than {_MOST_DEPTH} folders deep"
    if len(path) > _MOST_CHARACTERS:
        return f"the path has more than {_MOST_CHARACTERS} characters"
    # A character has at most four bytes, so shorter paths cannot have such a name, and every file
    # of a lock file comes through here.
    may_be_too_long = len(path) > _MOST_NAME_BYTES // 4
    if may_be_too_long and _find_longest(parts) > _MOST_NAME_BYTES:
        return f"a name in it has more than {_MOST_NAME_BYTES} bytes"
    return None


def _find_longest(names: list[str]) -> int:
    return max(len(name.encode("utf-8", "surrogatepass")) for name in names)


def split_path(path: str) -> tuple[tuple[str, ...], str]:
    """The folders of a path that is not refused, and the name of its file."""
    *folders, name = (part for part in _SEPARATORS.split(path) if part not in ("", "."))
    return tuple(folders), name


def name_folder(name: str) -> str:
    """A name for the folder of a skill: the skill's own if every file system allows it.

    Otherwise it is made from that name, with a digest that keeps it unique.
    """
    if _PLAIN.fullmatch(name):
        return name
    import hashlib

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = _NOT_PLAIN.sub("-", name.lower())[:40].strip("-")
    return f"{readable or 'skill'}-{digest}"


def collect_files(files: FileSystem, folder: str) -> dict[str, bytes]:
    """The files below a folder by their relative paths. Raises `MachineError`."""
    contents: dict[str, bytes] = {}
    waiting = [""]
    try:
        while waiting:
            below = waiting.pop()
            place = f"{folder}/{below}".rstrip("/")
            for item in files.list_folder(place):
                path = f"{below}{item.name}"
                if item.kind == "folder":
                    waiting.append(f"{path}/")
                elif item.kind == "file":
                    contents[path] = files.read_head(f"{folder}/{path}", _MOST_BYTES).data
    except OSError as error:
        raise MachineError.caused_by("read", folder, error) from error
    return contents


class PrivateUnpacker:
    """The `Unpacker` of this machine. One object has one folder, made when first needed."""

    def __init__(
        self, *, version: str, temporary: str | None = None, nonce: str | None = None
    ) -> None:
        self._temporary = temporary
        self._parts = (f"prowess-{_user()}", "bundled-skills", version)
        self._nonce = nonce or secrets.token_hex(16)
        self._lock = threading.Lock()
        self._remove: weakref.finalize[[str, int], PrivateUnpacker] | None = None
        self._is_closed = False
        self._done: dict[str, str | MachineError] = {}

    @property
    def root(self) -> str:
        """The folder around those of all skills; it may not exist yet."""
        return os.path.join(self._find_temporary(), *self._parts, self._nonce)

    def find_folder(self, name: str) -> str:
        """Where the files of a skill are or will be; nothing is written yet."""
        return os.path.join(self.root, name_folder(name))

    def unpack(self, name: str, files: Mapping[str, str | bytes]) -> str:
        """The folder with the files of a skill, written at the first call.

        A failure is remembered and raised again as a `MachineError`.
        """
        with self._lock:
            if name not in self._done:
                self._done[name] = self._try(name, files)
            done = self._done[name]
        if isinstance(done, MachineError):
            raise MachineError(done.doing, done.path, done.cause)
        return done

    def close(self) -> None:
        """Remove what was unpacked; so does the end of the program. No files follow."""
        with self._lock:
            if self._remove is not None:
                self._remove()
            self._done.clear()
            self._is_closed = True

    def _try(self, name: str, files: Mapping[str, str | bytes]) -> str | MachineError:
        if self._is_closed:
            return MachineError("unpack the files of", name, "their folder is already closed")
        # All of them first: a skill is unpacked as a whole or not at all.
        for path in files:
            refusal = find_refusal(path)
            if refusal is not None:
                return MachineError("unpack", path, refusal)
        try:
            with self._open_root() as root, root.make(name_folder(name)) as folder:
                for path, content in files.items():
                    _write(folder, path, content)
        except (OSError, ValueError) as error:
            return MachineError.caused_by("unpack the files of", name, error)
        return self.find_folder(name)

    def _open_root(self) -> _Folder:
        folder = _Folder.open_existing(self._find_temporary())
        for part in self._parts:
            with folder:
                folder = folder.make_or_enter(part)
        with folder:
            # Once it was made, whatever has that name must still be our own folder.
            if self._remove is not None:
                return folder.enter(self._nonce)
            root = folder.make(self._nonce)
        self._remove = weakref.finalize(self, _remove, self.root, os.getpid())
        return root

    def _find_temporary(self) -> str:
        if self._temporary is None:
            import tempfile

            self._temporary = os.path.realpath(tempfile.gettempdir())
        return self._temporary


class _Folder:
    """A folder that is kept open if the system can, so that names are looked up nowhere else."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def open_existing(cls, path: str) -> _Folder:
        if not _CAN_OPEN_FOLDERS:
            return cls(path, None)
        return cls(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))

    def make(self, name: str) -> _Folder:
        """A new folder in this one; fails if anything has that name."""
        os.mkdir(self._place(name), FOLDER_MODE, dir_fd=self._descriptor)
        return self.enter(name)

    def make_or_enter(self, name: str) -> _Folder:
        """A folder in this one, new or our own."""
        try:
            return self.make(name)
        except FileExistsError:
            return self.enter(name)

    def write(self, name: str, data: bytes) -> None:
        """A new file in this folder; fails if anything has that name."""
        flags = 0
        for flag in list_write_flags(sys.platform):
            flags |= getattr(os, flag, 0)
        descriptor = os.open(self._place(name), flags, FILE_MODE, dir_fd=self._descriptor)
        with open(descriptor, "wb") as file:
            file.write(data)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _place(self, name: str) -> str:
        # A bare name is looked up in the opened folder.
        return name if self._descriptor is not None else os.path.join(self._path, name)

    def enter(self, name: str) -> _Folder:
        """An existing folder in this one, which has to be our own."""
        path = os.path.join(self._path, name)
        if self._descriptor is None:
            _check_own(os.lstat(path), path)
            return _Folder(path, None)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=self._descriptor)
        try:
            # What was opened is checked, and not the name, which may be another folder by now.
            _check_own(os.fstat(descriptor), path)
        except OSError:
            os.close(descriptor)
            raise
        return _Folder(path, descriptor)


def _write(folder: _Folder, path: str, content: str | bytes) -> None:
    data = content.encode("utf-8") if isinstance(content, str) else content
    folders, name = split_path(path)
    opened: list[_Folder] = []
    try:
        for part in folders:
            folder = folder.make_or_enter(part)
            opened.append(folder)
        folder.write(name, data)
    finally:
        for each in reversed(opened):
            each.close()


def _check_own(status: os.stat_result, path: str) -> None:
    """Refuse a folder that is not ours alone: whoever made it first could change what is in it."""
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(0, f"{path} is not a folder")
    # Windows has no such bits, and its folder for temporary files is the user's own.
    if os.name != "posix":
        return
    if status.st_uid != os.getuid():
        raise PermissionError(0, f"{path} belongs to another user")
    is_open_to_others = stat.S_IMODE(status.st_mode) & 0o077 != 0
    if is_open_to_others:
        raise PermissionError(0, f"{path} can be accessed by other users")


def _remove(folder: str, maker: int) -> None:
    import shutil

    # A forked process must not remove the files of its parent when it ends.
    if maker == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"
