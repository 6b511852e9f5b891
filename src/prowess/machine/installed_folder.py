"""Put an installed skill into its folder, or take it away, in one step each.

What is new is made next to the folder, under a name that hosts do not search, and then changes
places with it. Whenever the program is killed, the old or the new version is there as a whole.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable

from prowess.errors import MachineError
from prowess.machine.folder_swap import recover_folder, swap_in
from prowess.machine.tree_files import remove_tree

_STAGED = "prowess-staged"
_STAGED_NAME = re.compile(rf"\.(.+)\.[0-9a-f]{{8}}\.{_STAGED}", re.DOTALL)


def name_staged(folder: str) -> str:
    """A new path next to a folder, on the same disk, that no host searches for skills."""
    parent, name = os.path.split(folder)
    return os.path.join(parent, f".{name}.{os.urandom(4).hex()}.{_STAGED}")


def make_parent(folder: str) -> None:
    """Make the folder that a skill's folder goes into. Raises `MachineError`."""
    parent = os.path.dirname(folder)
    try:
        os.makedirs(parent, exist_ok=True)
    except OSError as error:
        raise MachineError.caused_by("create the folder", parent, error) from error


def stage_link(target: str, staged: str) -> None:
    """Make a symlink to be put in place later. Raises `MachineError`."""
    try:
        os.symlink(target, staged)
    except OSError as error:
        raise MachineError.caused_by("create the link", staged, error) from error


def put_in_place(staged: str, folder: str) -> None:
    """Let a staged folder or link take the place of a folder. Raises `MachineError`.

    What was there is removed.
    """
    try:
        swap_in(staged, folder)
    except OSError as error:
        raise MachineError.caused_by("replace the folder", folder, error) from error
    remove_tree(staged)


def take_away(folder: str) -> None:
    """Remove an installed folder or link: first out of sight in one step. Raises `MachineError`."""
    if not os.path.lexists(folder):
        return
    is_folder_or_link = os.path.islink(folder) or os.path.isdir(folder)
    if not is_folder_or_link:
        raise MachineError("remove", folder, "it is a file, not a folder")
    # Renamed first: deleting many files takes a while, in which hosts would find half a skill.
    staged = name_staged(folder)
    try:
        os.rename(folder, staged)
    except OSError as error:
        raise MachineError.caused_by("remove", folder, error) from error
    remove_tree(staged)


def back_up(folder: str, backup: str) -> None:
    """Copy a folder as it is, links as links. Raises `MachineError`."""
    try:
        os.makedirs(os.path.dirname(backup), mode=0o700, exist_ok=True)
        shutil.copytree(folder, backup, symlinks=True)
    except (OSError, shutil.Error) as error:
        raise MachineError("back up", folder, str(error)) from error


def recover(folders: Iterable[str]) -> None:
    """Finish or remove what a killed program left next to folders. Raises `MachineError`."""
    names: dict[str, set[str]] = {}
    for folder in folders:
        recover_folder(folder)
        parent, name = os.path.split(folder)
        names.setdefault(parent, set()).add(name)
    for parent, wanted in names.items():
        for stray in _list_strays(parent, wanted):
            remove_tree(os.path.join(parent, stray))


def _list_strays(parent: str, names: set[str]) -> list[str]:
    try:
        listed = os.listdir(parent)
    except (FileNotFoundError, NotADirectoryError):
        return []
    strays = []
    for entry in listed:
        # Only of our own skills: another program may be at work on its own next to them.
        match = _STAGED_NAME.fullmatch(entry)
        if match is not None and match[1] in names:
            strays.append(entry)
    return strays
