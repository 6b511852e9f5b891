"""The time zone of this machine, by its name in the tz database."""

from __future__ import annotations

import os
import zoneinfo
from collections.abc import Mapping

_LOCAL = "/etc/localtime"
_FOLDER = "zoneinfo/"


def find_time_zone(env: Mapping[str, str]) -> str:
    """The zone that `TZ` or the system names; `UTC` where neither names a known one."""
    # POSIX allows a colon before the name of a zone.
    named = env.get("TZ", "").removeprefix(":")
    candidates = [name for name in (named, _read_link()) if name]
    return next(filter(is_time_zone, candidates), "UTC")


def is_time_zone(name: str) -> bool:
    """Whether a zone has that name."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        # Also for names that are paths, which the library refuses, and for folders.
        return False
    return True


def _read_link() -> str:
    try:
        return os.readlink(_LOCAL).rpartition(_FOLDER)[2]
    except OSError:
        # No link: a copy of the zone's file, which does not say its name, or no zone at all.
        return ""
