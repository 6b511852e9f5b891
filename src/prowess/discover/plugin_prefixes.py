"""Names that plugin manifests give to all skills at or below their folder."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from prowess.discover.plugins.json_tables import find_json, get_text
from prowess.ports import FileSystem


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
        manifest = find_json(self._files, path)
        if manifest is None:
            return ""
        return get_text(manifest, "name") or default
