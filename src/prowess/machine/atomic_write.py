"""Writes files so that neither a reader nor a crash nor Ctrl-C ever finds half of one."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prowess.errors import MachineError
from prowess.model.facts import NO_HOME

# A writer that was killed leaves its file behind. Nobody writes for as long as this.
_STRAY_SECONDS = 3600.0


def write_aside(
    path: str,
    data: bytes,
    *,
    mode: int = 0o644,
    folder_mode: int = 0o755,
    like: os.stat_result | None = None,
    sync: bool = True,
) -> None:
    """Write a file next to its place and rename it; missing folders are made.

    The umask applies to `mode`. A file written `like` another has its owner and permissions. With
    `sync` the data is on the disk before the rename, so that a crash leaves the old file or the new
    one. Raises `MachineError`.
    """
    folder = os.path.dirname(path)
    make_folder(folder, mode=folder_mode)
    # In the same folder, because a rename to another disk is a copy, which can be cut short.
    aside = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        descriptor = os.open(
            aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
        )
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                if like is not None:
                    _take_after(file.fileno(), like)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
        _remove_strays(folder, os.path.basename(path))
    except OSError as error:
        raise MachineError.caused_by("write", path, error) from error


def rewrite_aside(path: str, data: bytes) -> None:
    """Replace the contents of a user's file. A link stays, and its target is written.

    The file keeps its owner and permissions. Raises `MachineError` where that is not possible.
    """
    real = os.path.realpath(path)
    try:
        like = os.stat(real)
    except FileNotFoundError:
        # A new file, or a link that leads nowhere yet.
        like = None
    except OSError as error:
        raise MachineError.caused_by("write", path, error) from error
    write_aside(real, data, like=like)


def check_writable(path: str) -> None:
    """Raise `MachineError` for a file that could not be written, before anything is at stake."""
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    if os.path.isdir(real):
        raise MachineError("write", path, "it is a folder")
    if not os.path.isdir(folder):
        raise MachineError("write", path, f"there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise MachineError("write", path, f"the folder {folder} is not writable")


def _take_after(descriptor: int, other: os.stat_result) -> None:
    """Give a new file the owner and permissions of the one it replaces."""
    if os.name != "posix":
        return
    new = os.fstat(descriptor)
    has_same_owner = (new.st_uid, new.st_gid) == (other.st_uid, other.st_gid)
    if not has_same_owner:
        try:
            os.fchown(descriptor, other.st_uid, other.st_gid)
        except PermissionError:
            # Renaming would work, and quietly take the file away from its owner.
            raise PermissionError(0, "it belongs to another user or group") from None
    # After the owner: a change of owner clears some bits of the mode.
    os.fchmod(descriptor, stat.S_IMODE(other.st_mode))


def _remove_strays(folder: str, name: str) -> None:
    """Remove what killed writers of a file left next to it."""
    stray = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{12}}\.tmp")
    with os.scandir(folder) as items:
        strays = [item for item in items if stray.fullmatch(item.name)]
    for item in strays:
        # Another writer may be renaming its own file, or removing the same stray.
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - item.stat(follow_symlinks=False).st_mtime
            if age > _STRAY_SECONDS:
                os.unlink(item.path)


def write_folder_aside(
    path: str, files: Mapping[str, bytes], *, executable: frozenset[str] = frozenset()
) -> None:
    """Make a folder with files in it, whole or not at all; missing parent folders are made too.

    `files` has the content of each file by its path inside the folder. Nothing that already exists
    is replaced.
    """
    parent, name = os.path.split(path)
    # Folders that begin with a dot are not searched for skills.
    aside = os.path.join(parent, f".{name}.{os.getpid()}.tmp")
    try:
        os.makedirs(parent, exist_ok=True)
        os.mkdir(aside)
        try:
            for file, data in files.items():
                mode = 0o755 if file in executable else 0o644
                write_aside(os.path.join(aside, *file.split("/")), data, mode=mode)
            # A rename replaces an empty folder without a word.
            if os.path.lexists(path):
                raise FileExistsError(0, "it already exists")
            os.rename(aside, path)
        except BaseException:
            _remove_folder(aside)
            raise
    except OSError as error:
        raise MachineError.caused_by("create the folder", path, error) from error


def make_folder(path: str, *, mode: int = 0o755) -> None:
    """Make a folder and those above it where they are missing. Raises `MachineError`."""
    if f"{path}/".startswith(f"{NO_HOME}/"):
        # A person may have named this folder, too, so the message does not say whose home it is.
        cause = f"{NO_HOME} stands for no home folder, and nothing is written there"
        raise MachineError("create the folder", path, cause)
    try:
        os.makedirs(path, mode=mode, exist_ok=True)
    except OSError as error:
        raise MachineError.caused_by("create the folder", path, error) from error


@contextmanager
def scratch_folder() -> Iterator[str]:
    """An empty folder that is removed afterwards in any case; its path has no links."""
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="prowess-")
    except OSError as error:
        raise MachineError.caused_by("create a folder in", tempfile.gettempdir(), error) from error
    try:
        yield os.path.realpath(folder)
    finally:
        _remove_folder(folder)


def copy_folder(source: str, target: str) -> None:
    """Copy a folder with everything in it to a path that does not exist yet."""
    import shutil

    try:
        shutil.copytree(source, target)
    except OSError as error:
        raise MachineError.caused_by("copy", source, error) from error


def _remove_folder(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def remove_file(path: str, *, empty_up_to: str) -> None:
    """Remove a file, if it is there, and folders that are empty then, below `empty_up_to`.

    Raises `MachineError`.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        _remove_empty_folders(os.path.dirname(path), below=empty_up_to)
    except OSError as error:
        raise MachineError.caused_by("remove", path, error) from error


def _remove_empty_folders(folder: str, *, below: str) -> None:
    """Remove a folder and those above it, as far as they are empty and below another one."""
    while folder.startswith(f"{below}{os.sep}") and os.path.isdir(folder):
        if os.listdir(folder):
            return
        os.rmdir(folder)
        folder = os.path.dirname(folder)
