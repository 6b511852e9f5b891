"""Compare the versions of a registry."""

from __future__ import annotations

import re

# What semantic versions and those of Python order in the same way.
_COMPARABLE = re.compile(r"\d+\.\d+\.\d+(-(alpha|beta|rc)(\.\d+)?)?(\+[\w.-]+)?")


def is_older(version: str, than: str) -> bool:
    """Whether a version comes before another; False where that cannot be said."""
    if not _COMPARABLE.fullmatch(version) or not _COMPARABLE.fullmatch(than):
        return False
    # Imported late: most sources have commits and digests instead.
    from packaging.version import Version

    # Build metadata has no place in the order.
    return Version(version.partition("+")[0]) < Version(than.partition("+")[0])
