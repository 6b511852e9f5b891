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
