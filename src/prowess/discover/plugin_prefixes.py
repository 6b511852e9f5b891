"""Names that plugin manifests give to all skills at or below their folder."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import msgspec

from prowess.ports import FileSystem

# A manifest has a name and a few other fields.
_MOST_BYTES = 1 << 18


class PluginPrefixes:
    """The name that the nearest manifest at or above a folder gives; each folder is asked once."""

    def __init__(self, manifests: Sequence[str], files: FileSystem) -> None:
        self._manifests = manifests
        self._files = files
        self._known: dict[str, str] = {}

    def find(self, folder: str) -> str:
        """What comes before the name of a skill in a folder; "" if there is no manifest."""
        asked: list[str] = []
        while folder not in self._known:
            found = self._find_own(folder)
            parent = posixpath.dirname(folder)
            if found is not None or parent == folder:
                self._known[folder] = found or ""
                break
            asked.append(folder)
            folder = parent
        prefix = self._known[folder]
        self._known.update(dict.fromkeys(asked, prefix))
        return prefix

    def _find_own(self, folder: str) -> str | None:
        """The name in the manifest of this very folder: its own name if the manifest has none, and
        "" if the manifest cannot be read. None without a manifest.
        """
        for manifest in self._manifests:
            path = f"{folder}/{manifest}"
            if self._files.find_kind(path) == "file":
                return self._load_name(path, posixpath.basename(folder))
        return None

    def _load_name(self, path: str, default: str) -> str:
        try:
            data = msgspec.json.decode(self._files.read_head(path, _MOST_BYTES).data)
        except (OSError, msgspec.DecodeError):
            return ""
        if not isinstance(data, dict):
            return ""
        name = data.get("name")
        return name.strip() if isinstance(name, str) and name.strip() else default
