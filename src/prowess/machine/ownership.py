"""Whether a file is the user's alone: nobody else owns it, and nobody else can write it."""

from __future__ import annotations

import os
import stat

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def find_other_writer(path: str) -> str | None:
    """Who besides the user could have written a file, in words; None if nobody could.

    The folder counts too: whoever can write to it can replace the file. Raises OSError if the file
    does not exist.
    """
    # Windows has access lists in place of these bits, and homes are private there.
    if os.name != "posix":
        return None
    for what, checked in (("the file", path), ("its folder", os.path.dirname(path))):
        status = os.stat(checked)
        # root can write everything anyway.
        if status.st_uid not in (os.geteuid(), 0):
            return f"{what} belongs to another user"
        if status.st_mode & _OTHERS_WRITE:
            return f"other users can write to {what}"
    return None
