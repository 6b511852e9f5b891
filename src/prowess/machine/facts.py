"""What this machine is."""

from __future__ import annotations

import os
import sys

from prowess.model.facts import Facts


def current_facts() -> Facts:
    """The facts of the machine and environment we run in."""
    return Facts(
        home=os.path.expanduser("~"),
        platform="linux" if sys.platform.startswith("linux") else sys.platform,
        env=dict(os.environ),
        find_bin=_find_bin,
    )


def _find_bin(name: str) -> bool:
    import shutil

    return shutil.which(name) is not None


def find_repository(folder: str) -> str | None:
    """The nearest folder at or above this one that holds `.git`; a file counts too, since worktrees have one."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
