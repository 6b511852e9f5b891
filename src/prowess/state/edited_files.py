"""Changes of a user's own files: all checked first, then backed up, then made."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

import msgspec

from prowess.errors import MachineError, UsageError
from prowess.machine.atomic_write import rewrite_aside, write_aside
from prowess.model.facts import Facts
from prowess.state.folders import state_folder

# Settings and memories that people write have a few kilobytes.
_MOST_BYTES = 10_000_000


class FileEdit(msgspec.Struct, frozen=True):
    """One file before and after; None where it does not exist."""

    path: str
    old: str | None
    new: str | None


def backup_folder(facts: Facts, purpose: str) -> str:
    """A new folder for backups, below the state folder; nothing is made yet."""
    moment = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime())
    # Two commands may start within one second.
    fraction = time.time_ns() % 10**9
    name = f"{moment}-{fraction}-{purpose}"
    return os.path.join(state_folder(facts), "backups", name)


def load_text(path: str) -> str | None:
    """The text of a user's file; None where there is none. Raises `UsageError`, `MachineError`."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MachineError.caused_by("read", path, error) from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None


def apply_edits(edits: Iterable[FileEdit], backups: str) -> None:
    """Make changes in their order. What they replace or remove is in the folder `backups` before.

    Raises `UsageError` if a file is no longer what it was when the changes were planned; then
    nothing is changed. Raises `MachineError`.
    """
    wanted = [edit for edit in edits if edit.old != edit.new]
    # Three rounds, so that a file in the way stops everything before anything is written.
    for edit in wanted:
        if load_text(edit.path) != edit.old:
            raise UsageError(f"{edit.path} has changed since; nothing was written.")
    for number, edit in enumerate(wanted):
        if edit.old is None:
            continue
        # The number tells apart files of one name in different folders.
        name = f"{number:03}-{os.path.basename(edit.path)}"
        backup = os.path.join(backups, name)
        write_aside(backup, edit.old.encode(), mode=0o600, folder_mode=0o700)
    for edit in wanted:
        _apply(edit)


def _apply(edit: FileEdit) -> None:
    if edit.new is None:
        _remove(edit.path)
    elif edit.old is None:
        write_aside(edit.path, edit.new.encode())
    else:
        # An old file may be a link into a folder of dotfiles, which stays one.
        rewrite_aside(edit.path, edit.new.encode())


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        # Someone else removed it, which is what was wanted.
        return
    except OSError as error:
        raise MachineError.caused_by("remove", path, error) from error
