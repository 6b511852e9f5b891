"""Put downloaded programs into a folder, whole or not at all, and link them for PATH."""

from __future__ import annotations

import os
from collections.abc import Mapping

from prowess.errors import MachineError
from prowess.machine.atomic_write import copy_folder, make_folder, scratch_folder, write_aside
from prowess.machine.folder_swap import recover_folder, replace_folder
from prowess.model.file_content import FileContent


def add_files(folder: str, files: Mapping[str, FileContent]) -> None:
    """Add files to a folder by their paths inside it; it may be missing, and keeps its other files.

    The folder is swapped as a whole. Raises `MachineError`.
    """
    recover_folder(folder)
    with scratch_folder() as scratch:
        staged = os.path.join(scratch, "staged")
        if os.path.isdir(folder):
            copy_folder(folder, staged)
        for path, file in files.items():
            mode = 0o755 if file.is_executable else 0o644
            write_aside(os.path.join(staged, *path.split("/")), file.data, mode=mode, sync=False)
        replace_folder(staged, folder)


def link_program(link: str, program: str) -> None:
    """Make a symlink to a program, or a link that is there lead to it; nothing else is replaced.

    The link is relative, so that both can be moved together. Raises `MachineError`.
    """
    folder = os.path.dirname(link)
    make_folder(folder)
    is_something_else = os.path.lexists(link) and not os.path.islink(link)
    if is_something_else:
        raise MachineError("link", link, "there is a file of that name")
    # A link cannot be changed, only replaced, and PATH must not miss the program meanwhile.
    aside = f"{link}.{os.urandom(6).hex()}.tmp"
    try:
        os.symlink(os.path.relpath(program, folder), aside)
        try:
            os.replace(aside, link)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise MachineError.caused_by("link", link, error) from error
