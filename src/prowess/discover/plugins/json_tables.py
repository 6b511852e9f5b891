"""JSON files of plugins: untrusted, so bounded in size, and read by the type that is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.ports import FileSystem

# A manifest has a name, a few other fields, and perhaps some hooks.
MOST_BYTES = 1 << 18


class ManifestError(ValueError):
    """A file that is no JSON table, or that breaks a rule which rejects the whole plugin."""


def read_json(files: FileSystem, path: str) -> dict[str, Any]:
    """The table in a JSON file. Raises OSError and `ManifestError`."""
    head = files.read_head(path, MOST_BYTES)
    if head.size > MOST_BYTES:
        raise ManifestError(f"it has {head.size:,} bytes; at most {MOST_BYTES:,} are read")
    try:
        data = msgspec.json.decode(head.data)
    except RecursionError:
        raise ManifestError("it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"it is not valid JSON ({error})") from None
    if not isinstance(data, dict):
        raise ManifestError("it must be a table")
    return data


def find_json(files: FileSystem, path: str) -> dict[str, Any] | None:
    """The table in a JSON file; None if there is none that can be read."""
    if files.find_kind(path) != "file":
        return None
    try:
        return read_json(files, path)
    except (OSError, ManifestError):
        # Whoever asks has something else to go on with.
        return None


# What a table has under a key; empty where it is of another type


def get_table(data: Mapping[str, Any] | None, key: str) -> dict[str, Any]:
    """The table under a key."""
    value = (data or {}).get(key)
    return value if isinstance(value, dict) else {}


def get_list(data: Mapping[str, Any] | None, key: str) -> list[Any]:
    """The list under a key."""
    value = (data or {}).get(key)
    return value if isinstance(value, list) else []


def get_text(data: Mapping[str, Any] | None, key: str) -> str:
    """The text under a key, without blanks around it."""
    value = (data or {}).get(key)
    return value.strip() if isinstance(value, str) else ""
