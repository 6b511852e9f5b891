"""A marketplace as a value: the plugins that it lists, and where each of them is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.discover.plugins.json_tables import get_list, get_table, get_text

# What has the address of a repository, by the kind of source.
_ADDRESS_FIELDS = {"github": "repo", "url": "url", "git-subdir": "url"}
# More than any marketplace has; a hostile list must not keep us busy.
_MOST_PLUGINS = 5_000


class UnusableEntry(ValueError):
    """A plugin that cannot be installed from where its marketplace says, and why."""


class MarketplacePlugin(msgspec.Struct, frozen=True):
    """A plugin of a marketplace: its name, and its entry as it is written.

    `root` is the folder that relative sources of the marketplace begin at.
    """

    name: str
    entry: Mapping[str, Any]
    root: str

    def find_folder(self) -> str | None:
        """Its folder in the marketplace, "" for the top; None if it is a repository of its own.

        Raises `UnusableEntry` for a folder that is elsewhere.
        """
        source = self.entry.get("source")
        if not isinstance(source, str):
            return None
        folder = posixpath.normpath(posixpath.join(self.root, source))
        if folder.startswith(("/", "..")) or re.search(r"[\\\x00-\x1f\x7f]", folder):
            message = f"its source is {source[:200]!r}, which is not a folder of the marketplace"
            raise UnusableEntry(message)
        return "" if folder == "." else folder

    def get_repository(self) -> tuple[str, str, str]:
        """The repository of a plugin as text, the folder in it, and the ref or commit.

        Raises `UnusableEntry`.
        """
        source = get_table(self.entry, "source")
        kind = get_text(source, "source")
        field = _ADDRESS_FIELDS.get(kind)
        if field is None:
            known = ", ".join(_ADDRESS_FIELDS)
            described = f"its source is “{kind[:40]}”" if kind else "it has no source"
            raise UnusableEntry(f"{described}; Prowess installs from folders, {known}")
        address = get_text(source, field)
        if not address:
            raise UnusableEntry(f"its source “{kind}” has no `{field}`")
        folder = get_text(source, "path") if kind == "git-subdir" else ""
        # A marketplace may pin a commit beside the branch that it comes from.
        ref = get_text(source, "sha") or get_text(source, "ref")
        return address, folder.strip("/"), ref


def parse_marketplace(data: Mapping[str, Any] | None) -> dict[str, MarketplacePlugin] | None:
    """The plugins of a marketplace by name; None for what is no marketplace."""
    if data is None or not isinstance(data.get("plugins"), list):
        return None
    root = get_text(get_table(data, "metadata"), "pluginRoot") or "."
    plugins: dict[str, MarketplacePlugin] = {}
    for entry in get_list(data, "plugins")[:_MOST_PLUGINS]:
        if not isinstance(entry, dict):
            continue
        name = get_text(entry, "name")
        if name:
            # Of two plugins with one name the first counts, as hosts have it.
            plugins.setdefault(name, MarketplacePlugin(name, entry, root))
    return plugins
