"""Read and write the trees of skills: every byte that is copied was hashed on the way."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator

from prowess.errors import MachineError
from prowess.machine.files import LocalFiles
from prowess.model.tree import LINK, SPECIAL, Tree, TreeFile

_EXECUTABLE = 0o100
# A file may be swapped for a link or a pipe between the listing and the opening: the one is not
# followed, and the other does not block.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CREATE |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CHUNK = 1 << 20

Mode = Callable[[TreeFile], int]


class DamagedFile(MachineError):
    """A file whose content is not what its digest says."""

    def __init__(self, path: str) -> None:
        super().__init__("use", path, "its content is not what was installed")


def keep_mode(file: TreeFile) -> int:
    """The mode of a file that its user may edit."""
    return 0o755 if file.is_executable else 0o644


def read_only_mode(file: TreeFile) -> int:
    """The mode of a file that nobody should write."""
    return 0o555 if file.is_executable else 0o444


def load_tree(folder: str, *, skip: frozenset[str] = frozenset()) -> Tree:
    """Hash every file below a folder. Links are not followed. Raises `MachineError`.

    Files and folders whose names are in `skip` are left out.
    """
    files: dict[str, TreeFile] = {}
    try:
        for path, entry in _walk(folder, skip):
            files[path] = _load_file(entry)
    except OSError as error:
        raise MachineError.caused_by("read", folder, error) from error
    return Tree(files)


def list_entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; nothing where there is no folder. Raises `MachineError`."""
    try:
        with os.scandir(folder) as items:
            return sorted(items, key=lambda item: item.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise MachineError.caused_by("read", folder, error) from error


def measure_files(folder: str, *, skip: frozenset[str], most: int) -> dict[str, int] | None:
    """The size of every file below a folder, none of which is opened; None if there are more.

    Raises `MachineError`.
    """
    sizes: dict[str, int] = {}
    try:
        for path, entry in _walk(folder, skip):
            sizes[path] = entry.stat(follow_symlinks=False).st_size
            if len(sizes) > most:
                return None
    except OSError as error:
        raise MachineError.caused_by("read", folder, error) from error
    return sizes


def find_tree(folder: str) -> Tree | None:
    """As `load_tree`; None where there is nothing. A link to a folder is followed.

    Raises `MachineError` where a file is in the way.
    """
    if os.path.isdir(folder):
        return load_tree(folder)
    if os.path.exists(folder):
        raise MachineError("use", folder, "it is a file, not a folder")
    return None


def copy_tree(source: str, tree: Tree, target: str, *, mode: Mode = keep_mode) -> None:
    """Copy the files of a tree into an empty folder, and nothing else that is in the source.

    Raises `DamagedFile` for a file that is not what the tree says, and `MachineError`. What was
    copied until then stays; the target is a staging folder.
    """
    made = {""}
    try:
        os.makedirs(target, exist_ok=True)
        for path, file in tree.files.items():
            _make_folders(target, path, made)
            _copy_file(f"{source}/{path}", f"{target}/{path}", file, mode(file))
    except FileNotFoundError as error:
        # The tree names a file that the store no longer has.
        raise DamagedFile(source) from error
    except OSError as error:
        raise MachineError.caused_by("copy to", target, error) from error


def write_file(folder: str, path: str, data: bytes, *, is_executable: bool = False) -> None:
    """Write a new file below a staging folder. Raises `MachineError`."""
    target = os.path.join(folder, *path.split("/"))
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write_new(target, data, 0o755 if is_executable else 0o644)
    except OSError as error:
        raise MachineError.caused_by("write", target, error) from error


def read_file(folder: str, path: str, *, most: int = 1 << 28) -> bytes:
    """The content of an ordinary file of a tree. Raises `MachineError`."""
    place = os.path.join(folder, *path.split("/"))
    try:
        return LocalFiles().read_head(place, most).data
    except OSError as error:
        raise MachineError.caused_by("read", place, error) from error


def remove_tree(folder: str) -> None:
    """Remove a folder with all that is in it, read-only or not; what is gone is fine.

    Raises `MachineError` where something stays.
    """
    # Of a link only the link: what it leads to may be the user's.
    if os.path.islink(folder):
        os.unlink(folder)
        return
    if not os.path.lexists(folder):
        return
    try:
        # Nothing can be removed from a folder that is read-only.
        make_writable(folder)
        shutil.rmtree(folder)
    except OSError as error:
        raise MachineError.caused_by("remove", folder, error) from error


def make_writable(folder: str) -> None:
    """Let the owner write into a folder and all folders in it. Raises OSError."""
    os.chmod(folder, 0o755)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            inner = os.path.join(path, name)
            # `chmod` follows links, and one of a skill may lead anywhere.
            if not os.path.islink(inner):
                os.chmod(inner, 0o755)


def _walk(folder: str, skip: frozenset[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below a folder except folders."""
    waiting = [(folder, "")]
    while waiting:
        inner, below = waiting.pop()
        with os.scandir(inner) as items:
            for item in items:
                if item.name in skip:
                    continue
                path = below + item.name
                if item.is_dir(follow_symlinks=False):
                    waiting.append((item.path, f"{path}/"))
                else:
                    yield path, item


def _load_file(entry: os.DirEntry[str]) -> TreeFile:
    if not entry.is_file(follow_symlinks=False):
        return TreeFile(LINK if entry.is_symlink() else SPECIAL)
    descriptor = os.open(entry.path, _READ)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            # Swapped since the folder was listed.
            return TreeFile(SPECIAL)
        # Most files fit into one read. A larger buffer than needed costs more than the read itself.
        data = os.read(descriptor, min(status.st_size + 1, _CHUNK))
        size = len(data)
        engine = hashlib.sha256(data)
        # More than was measured means that the file grows; all that is there is hashed.
        while size > status.st_size or len(data) == _CHUNK:
            data = os.read(descriptor, _CHUNK)
            if not data:
                break
            engine.update(data)
            size += len(data)
    finally:
        os.close(descriptor)
    return TreeFile(engine.hexdigest(), size, bool(status.st_mode & _EXECUTABLE))


def _make_folders(target: str, path: str, made: set[str]) -> None:
    folder = path.rpartition("/")[0]
    if folder not in made:
        os.makedirs(f"{target}/{folder}", exist_ok=True)
        made.add(folder)


def _copy_file(source: str, target: str, file: TreeFile, mode: int) -> None:
    descriptor = os.open(source, _READ)
    try:
        size = os.fstat(descriptor).st_size
        data = os.read(descriptor, size + 1)
        # A read may stop early; where the file is short or has grown, the digest says so.
        while len(data) < size and (more := os.read(descriptor, size - len(data))):
            data += more
    finally:
        os.close(descriptor)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise DamagedFile(source)
    _write_new(target, data, mode)


def _write_new(path: str, data: bytes, mode: int) -> None:
    descriptor = os.open(path, _CREATE, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)
