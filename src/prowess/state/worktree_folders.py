"""Folders for the worktrees of batches, in the cache: they hold nothing that is not on a branch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from prowess.errors import MachineError
from prowess.machine.atomic_write import make_folder, write_aside
from prowess.model.facts import Facts
from prowess.state.folders import cache_folder


def worktree_folder(facts: Facts, name: str) -> str:
    """The folder of a worktree, which may not exist; those above it do."""
    above = os.path.join(cache_folder(facts), "worktrees")
    make_folder(above, mode=0o700)
    # Without links, because git notes the real path of a worktree.
    return os.path.join(os.path.realpath(above), name)


def remove_folder(path: str) -> None:
    """Remove a folder with everything in it, if it exists. Raises `MachineError`."""
    _remove(shutil.rmtree, path)


def remove_file(path: str) -> None:
    """Remove a file, if it exists. Raises `MachineError`."""
    _remove(os.unlink, path)


def _remove(remove: Callable[[str], None], path: str) -> None:
    try:
        remove(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MachineError.caused_by("remove", path, error) from error


def write_text(path: str, text: str) -> None:
    """Write a file, with the folders above it. Raises `MachineError`."""
    make_folder(os.path.dirname(path))
    write_aside(path, text.encode("utf-8", "backslashreplace"))
