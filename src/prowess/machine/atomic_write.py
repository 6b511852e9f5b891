"""Writing files so that a reader, a program that breaks off or Ctrl-C never meets half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prowess.errors import MachineError


def write_aside(
    path: str,
    data: bytes,
    *,
    mode: int = 0o644,
    folder_mode: int = 0o755,
    exact_mode: int | None = None,
) -> None:
    """Write a file beside its place and rename it into it; the folder is made where it is missing.

    The umask cuts `mode`; it does not cut `exact_mode`.
    """
    folder = os.path.dirname(path)
    aside = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        os.makedirs(folder, mode=folder_mode, exist_ok=True)
        descriptor = os.open(
            aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
        )
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            if exact_mode is not None:
                os.chmod(aside, exact_mode)
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise MachineError("write", path, error.strerror or str(error)) from error


def rewrite_aside(path: str, data: bytes) -> None:
    """Write a user's file anew: where it is a link its target is written, and the file keeps its
    permissions.
    """
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode & 0o7777
    except OSError:
        mode = None
    write_aside(real, data, exact_mode=mode)


def write_folder_aside(
    path: str, files: Mapping[str, bytes], *, executable: frozenset[str] = frozenset()
) -> None:
    """Make a folder with files in it, whole or not at all; the folders above it are made where they
    are missing.

    `files` has the content of each file by its path below the folder. What is already there is
    never replaced.
    """
    aside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(aside)
        try:
            for name, data in files.items():
                mode = 0o755 if name in executable else 0o644
                write_aside(os.path.join(aside, *name.split("/")), data, mode=mode)
            if os.path.lexists(path):
                raise FileExistsError(0, "something of that name is already there")
            os.rename(aside, path)
        except BaseException:
            _remove_folder(aside)
            raise
    except OSError as error:
        raise MachineError("make", path, error.strerror or str(error)) from error


def make_folder(path: str) -> None:
    """Make a folder and those above it, where they are missing."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise MachineError("make the folder", path, error.strerror or str(error)) from error


@contextmanager
def scratch_folder() -> Iterator[str]:
    """An empty folder that is gone afterwards, whatever happens in between; its path has no links
    in it.
    """
    import tempfile

    try:
        made = tempfile.mkdtemp(prefix="prowess-")
    except OSError as error:
        raise MachineError(
            "make a folder in", tempfile.gettempdir(), error.strerror or str(error)
        ) from error
    try:
        yield os.path.realpath(made)
    finally:
        _remove_folder(made)


def copy_folder(source: str, target: str) -> None:
    """Copy a folder with everything in it to a place where nothing is yet."""
    import shutil

    try:
        shutil.copytree(source, target)
    except OSError as error:
        raise MachineError("copy", source, error.strerror or str(error)) from error


def _remove_folder(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)
