"""Writing files so that a reader, a crash or Ctrl-C never meets half of one."""

from __future__ import annotations

import os

from prowess.errors import MachineError


def write_aside(path: str, data: bytes, *, mode: int = 0o644, folder_mode: int = 0o755) -> None:
    """Write a file beside its place and rename it into it; the folder is made where it is missing."""
    folder = os.path.dirname(path)
    aside = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(folder, mode=folder_mode, exist_ok=True)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise MachineError("write", path, error.strerror or str(error)) from error
