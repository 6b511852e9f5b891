"""Whether a file is the user's alone: nobody else owns it, and nobody else can write it."""

from __future__ import annotations

import os
import stat

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def find_other_writer(path: str) -> str | None:
    """Who besides the user could have written a file, in words; None where nobody could.

    The folder counts too: whoever can write it can put another file in the place of this one.
    Raises OSError where the file is not there.
    """
    if os.name != "posix":
        return None
    for what, place in (("it", path), ("its folder", os.path.dirname(path))):
        found = os.stat(place)
        if found.st_uid not in (os.geteuid(), 0):
            return f"{what} belongs to another user"
        if found.st_mode & _OTHERS_WRITE:
            return f"other users can write {'to ' if what != 'it' else ''}{what}"
    return None
