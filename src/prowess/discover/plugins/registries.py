"""Plugins in lists of what is installed, in marketplaces, and in caches by version."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.links import is_inside
from prowess.discover.plugins.json_tables import (
    ManifestError,
    find_json,
    get_table,
    get_text,
    read_json,
)
from prowess.discover.plugins.manifest import ReadPlugin, find_marketplace_entry
from prowess.discover.plugins.search import Finder, FoundPlugin, PluginSearch, list_folders
from prowess.errors import name_cause
from prowess.model.plugin import Owner
from prowess.ports import FileSystem
from prowess.profiles.schema.plugins import PluginRule

_MOST_ENTRIES = 1_000
_PROJECT_SCOPES = ("project", "local")
_NO_NAME = frozenset("/\\\0")


def split_id(id: str) -> tuple[str, str]:
    """The name of a plugin and of its marketplace; two empty texts if it is no id.

    A name that leads to another folder is none.
    """
    name, _, marketplace = id.rpartition("@")
    # Both become folders of a path, and an id may come from the settings of a clone.
    leads_elsewhere = ".." in (name, marketplace) or not _NO_NAME.isdisjoint(id)
    is_complete = bool(name) and bool(marketplace)
    return ("", "") if leads_elsewhere or not is_complete else (name, marketplace)


# Lists of installed plugins


def _find_in_registry(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The plugins in Claude Code's `installed_plugins.json`, which others copy."""
    for path in search.expand(rule):
        data = _load_list(search, path, findings)
        if data and not isinstance(data.get("plugins"), dict):
            message = "The list of installed plugins is ignored: it has no table `plugins`."
            findings.append(diagnose("plugin-list-unreadable", message, file=path))
        reader = _RegistryReader(path, search, rule, findings)
        for id, entries in get_table(data, "plugins").items():
            yield from reader.read(id, entries)


class _RegistryReader:
    """Reads the entries of one list of installed plugins. A bad entry costs only itself."""

    def __init__(
        self, path: str, search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
    ) -> None:
        self._path = path
        self._search = search
        self._rule = rule
        self._findings = findings

    def read(self, id: str, entries: Any) -> Iterator[FoundPlugin]:
        """The installations of one plugin; version 1 of the file has one, version 2 a list."""
        name, marketplace = split_id(id)
        if not name:
            expected = "it must be NAME@MARKETPLACE"
            self._note("plugin-invalid", f"{id[:100]!a} is not the id of a plugin; {expected}.")
            return
        installations = entries if isinstance(entries, list) else [entries]
        for entry in installations:
            folder = self._find_folder(id, entry)
            if folder is None:
                continue
            yield FoundPlugin(
                folder=folder,
                origin=self._path,
                name=name,
                suffix=marketplace,
                owner=self._find_owner(entry),
                entry=find_marketplace_entry(folder, name, self._search.files),
                off=_find_off(entry),
            )

    def _find_folder(self, id: str, entry: Any) -> str | None:
        """Where a plugin is installed for us; None, mostly with a finding, if it is not."""
        folder = entry.get("installPath") if isinstance(entry, dict) else None
        if not _is_absolute(folder, self._search):
            self._note("plugin-invalid", f"The plugin {id[:100]!a} has no `installPath`.")
            return None
        if not _is_for_this_rule(entry, self._rule, self._search, id):
            return None
        folder = posixpath.normpath(folder)
        if self._search.files.find_kind(folder) != "folder":
            message = f"The plugin `{id}` is listed, but its folder does not exist."
            self._note("plugin-missing", message, folder)
            return None
        return folder

    def _find_owner(self, entry: Mapping[str, Any]) -> Owner:
        is_for_project = entry.get("scope") in _PROJECT_SCOPES
        return "project" if is_for_project else self._rule.owner

    def _note(self, code: str, message: str, *related: str) -> None:
        self._findings.append(diagnose(code, message, file=self._path, related=related))


def _is_absolute(folder: Any, search: PluginSearch) -> TypeGuard[str]:
    is_path = isinstance(folder, str) and "\0" not in folder
    return is_path and bool(search.places.paths.isabs(folder))


def _find_off(entry: Mapping[str, Any]) -> str | None:
    is_off = entry.get("enabled") is False
    return "the list of installed plugins turns it off" if is_off else None


def _is_for_this_rule(
    entry: Mapping[str, Any], rule: PluginRule, search: PluginSearch, id: str
) -> bool:
    """Whether an installation has a scope that counts, and is for the project we are in."""
    scope = entry.get("scope") or "user"
    if rule.scopes and scope not in rule.scopes:
        return False
    is_for_project = scope in _PROJECT_SCOPES
    # A list that a project brings is about that project.
    may_be_another = rule.owner != "project" and not rule.any_project
    if not is_for_project or not may_be_another:
        return True
    return _is_turned_on(id, rule, search) or _is_here(entry.get("projectPath"), search)


def _is_here(wanted: Any, search: PluginSearch) -> bool:
    """Whether a path is that of the project we are in, links followed."""
    if not isinstance(wanted, str):
        return False
    find, places = search.files.find_real_path, search.places
    real = find(wanted)
    if real is None:
        return False
    is_here = real == find(places.cwd)
    return is_here or (places.repository is not None and real == find(places.repository))


def _is_turned_on(id: str, rule: PluginRule, search: PluginSearch) -> bool:
    """Whether a setting turns a plugin on, in whichever project it was installed."""
    switches = [search.settings.enabled_plugins]
    switches += [enabled for _, enabled in search.load_switches(rule)]
    # The strongest comes first, and decides even if it turns the plugin off.
    for enabled in switches:
        if id in enabled:
            return enabled[id]
    return False


def _load_list(search: PluginSearch, path: str, findings: list[Diagnostic]) -> dict[str, Any]:
    if search.files.find_kind(path) != "file":
        return {}
    try:
        return read_json(search.files, path)
    except (OSError, ManifestError) as error:
        message = f"The list of plugins is ignored: {name_cause(error)}."
        findings.append(diagnose("plugin-list-unreadable", message, file=path))
        return {}


# Marketplaces


def _find_in_marketplaces(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The plugins of known marketplaces that settings name, whether installed or not."""
    wanted = {split_id(id) for id in search.settings.enabled_plugins}
    marketplaces = {marketplace for _, marketplace in wanted}
    for path in search.expand(rule):
        known = _load_list(search, path, findings)
        # A marketplace may list hundreds of plugins, so only those that somebody names are opened.
        for name in filter(marketplaces.__contains__, known):
            folder = get_table(known, name).get("installLocation")
            if not _is_absolute(folder, search):
                continue
            listed = open_marketplace(folder, path, rule.owner, search, rule, name=name)
            for found in listed or ():
                if (found.name, name) in wanted:
                    yield found


def open_marketplace(
    folder: str,
    origin: str,
    owner: Owner,
    search: PluginSearch,
    rule: PluginRule,
    *,
    name: str | None = None,
) -> Iterator[FoundPlugin] | None:
    """The plugins of a marketplace that are in its own folder; None if it is no marketplace.

    Its `name` is the one that it is known by. What the file itself says counts only where nobody
    knows it yet, so that no marketplace can pretend to be another.
    """
    path = f"{folder}/.claude-plugin/marketplace.json"
    data = find_json(search.files, path)
    if data is None or not isinstance(data.get("plugins"), list):
        return None
    known_as = name or get_text(data, "name")
    root = get_text(get_table(data, "metadata"), "pluginRoot") or "."
    marketplace = _Marketplace(folder, path, known_as, root, search.files)
    entries = filter(_is_on_disk, data["plugins"][:_MOST_ENTRIES])
    return (marketplace.place(entry, origin, owner) for entry in entries)


def _is_on_disk(entry: Any) -> bool:
    """Whether a plugin is in the folder of its marketplace; others have a table as `source`."""
    if not isinstance(entry, dict):
        return False
    return isinstance(entry.get("name"), str) and isinstance(entry.get("source"), str)


class _Marketplace:
    """A marketplace on this disk, known by a name; its plugins are below `root`."""

    def __init__(self, folder: str, path: str, name: str, root: str, files: FileSystem) -> None:
        self._folder = folder
        self._path = path
        self._name = name
        self._root = root
        self._files = files
        self._real = files.find_real_path(folder)

    def place(self, entry: dict[str, Any], origin: str, owner: Owner) -> FoundPlugin:
        """The plugin of an entry, with its folder if that is one of the marketplace."""
        name, source = entry["name"], entry["source"]
        place = posixpath.normpath(posixpath.join(self._folder, self._root, source))
        found = FoundPlugin(
            folder=place,
            origin=origin,
            name=name,
            suffix=self._name,
            owner=owner,
            entry=entry,
            # Nobody chose the plugins of a marketplace one by one yet.
            default=False,
        )
        if not self._is_contained(place):
            message = (
                f"The source of the plugin {name[:64]!a} is {source[:200]!a}, which is"
                " not a folder of the marketplace; it is ignored."
            )
            found.folder = self._folder
            found.off = "its source is not a folder of the marketplace"
            found.parts = ReadPlugin()
            found.diagnostics = (diagnose("plugin-path-outside", message, file=self._path),)
        return found

    def _is_contained(self, place: str) -> bool:
        # Both as written and with links followed: either alone can lead out.
        real = self._files.find_real_path(place)
        is_below = is_inside(place, (self._folder,))
        return is_below and real is not None and is_inside(real, (self._real,))


# Versions


def _find_versions(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The newest version of every plugin that the settings name."""
    for id in sorted(search.settings.enabled_plugins):
        name, marketplace = split_id(id)
        if not name:
            continue
        for place in _list_version_places(name, marketplace, search, rule):
            versions = list_folders(place, search.files)
            if not versions:
                continue
            newest = max(versions, key=_read_version)
            yield FoundPlugin(folder=newest, origin=place, name=name, suffix=marketplace)


def _list_version_places(
    name: str, marketplace: str, search: PluginSearch, rule: PluginRule
) -> Iterator[str]:
    """The folders that may have versions of a plugin."""
    for template in rule.at:
        path = template.replace("{plugin_name}", name).replace("{marketplace}", marketplace)
        yield from search.expand_template(path, rule)


def _read_version(folder: str) -> list[tuple[int, str]]:
    """A sort key for versions: numbers count as such."""
    parts = re.findall(r"\d+|[^\d.]+", folder.rpartition("/")[2])
    # Not `isdigit`, which is also true for `²`: that is no number to `int`.
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


FINDERS: dict[str, Finder] = {
    "registry": _find_in_registry,
    "marketplaces": _find_in_marketplaces,
    "versions": _find_versions,
}
