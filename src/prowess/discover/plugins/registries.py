"""Plugins in lists of what is installed, in marketplaces, and in caches by version."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.links import is_inside
from prowess.discover.plugins.manifest import (
    ManifestError,
    PluginParts,
    find_json,
    find_marketplace_entry,
    read_json,
)
from prowess.discover.plugins.search import Finder, FoundPlugin, PluginSearch, list_folders
from prowess.model.plugin import Owner
from prowess.profiles.schema.plugins import PluginRule

_MOST_ENTRIES = 1_000


def split_id(id: str) -> tuple[str, str]:
    """The name of a plugin and of its marketplace; two empty texts if it is no id.

    A name that leads to another folder is none.
    """
    name, _, marketplace = id.rpartition("@")
    is_id = name and marketplace and not {"/", "\\", "\0"} & set(id)
    return (name, marketplace) if is_id and ".." not in (name, marketplace) else ("", "")


# Lists of installed plugins


def _find_in_registry(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The plugins in Claude Code's `installed_plugins.json`, which others copy."""
    for path in search.expand(rule):
        data = _load_list(search, path, findings)
        plugins = data.get("plugins")
        if not data:
            continue
        if not isinstance(plugins, dict):
            message = "The list of installed plugins is ignored: it has no table `plugins`."
            findings.append(diagnose("plugin-list-unreadable", message, file=path))
            continue
        for id, entries in plugins.items():
            yield from _read_installed(id, entries, path, search, rule, findings)


def _read_installed(
    id: str,
    entries: Any,
    path: str,
    search: PluginSearch,
    rule: PluginRule,
    findings: list[Diagnostic],
) -> Iterator[FoundPlugin]:
    """The installations of one plugin; version 1 of the file has one, version 2 a list."""
    name, marketplace = split_id(id)
    if not name:
        message = f"{id[:100]!a} is not the id of a plugin; it must be NAME@MARKETPLACE."
        findings.append(diagnose("plugin-invalid", message, file=path))
        return
    for entry in entries if isinstance(entries, list) else [entries]:
        folder = entry.get("installPath") if isinstance(entry, dict) else None
        if not _is_absolute(folder, search):
            message = f"The plugin {id[:100]!a} has no `installPath`."
            findings.append(diagnose("plugin-invalid", message, file=path))
            continue
        if not _is_for_this_rule(entry, rule, search, id):
            continue
        folder = posixpath.normpath(folder)
        if search.files.find_kind(folder) != "folder":
            message = f"The plugin `{id}` is listed, but its folder does not exist."
            findings.append(diagnose("plugin-missing", message, file=path, related=(folder,)))
            continue
        is_project = entry.get("scope") in ("project", "local")
        owner: Owner = "project" if is_project or rule.owner == "project" else rule.owner
        yield FoundPlugin(
            folder=folder,
            origin=path,
            name=name,
            suffix=marketplace,
            owner=owner,
            entry=find_marketplace_entry(folder, name, search.files),
            off="the list of installed plugins turns it off" if _is_off(entry) else None,
        )


def _is_absolute(folder: Any, search: PluginSearch) -> TypeGuard[str]:
    is_path = isinstance(folder, str) and "\0" not in folder
    return is_path and bool(search.places.paths.isabs(folder))


def _is_off(entry: Mapping[str, Any]) -> bool:
    return entry.get("enabled") is False


def _is_for_this_rule(
    entry: Mapping[str, Any], rule: PluginRule, search: PluginSearch, id: str
) -> bool:
    """Whether an installation has a scope that counts, and is for the project we are in."""
    scope = entry.get("scope") or "user"
    if rule.scopes and scope not in rule.scopes:
        return False
    # A list that a project brings is about that project.
    is_bound = scope in ("project", "local") and rule.owner != "project" and not rule.any_project
    if not is_bound or _is_turned_on(id, rule, search):
        return True
    wanted = entry.get("projectPath")
    if not isinstance(wanted, str):
        return False
    places = search.places
    find = search.files.find_real_path
    here = {find(folder) for folder in (places.cwd, places.repository) if folder is not None}
    return find(wanted) in here - {None}


def _is_turned_on(id: str, rule: PluginRule, search: PluginSearch) -> bool:
    """Whether a setting turns a plugin on, in whichever project it was installed."""
    given = search.settings.enabled_plugins.get(id)
    if given is not None:
        return given
    return next((enabled[id] for _, enabled in search.load_switches(rule) if id in enabled), False)


def _load_list(search: PluginSearch, path: str, findings: list[Diagnostic]) -> dict[str, Any]:
    if search.files.find_kind(path) != "file":
        return {}
    try:
        return read_json(search.files, path)
    except (OSError, ManifestError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        message = f"The list of plugins is ignored: {cause}."
        findings.append(diagnose("plugin-list-unreadable", message, file=path))
        return {}


# Marketplaces


def _find_in_marketplaces(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The plugins of known marketplaces that settings name, whether installed or not."""
    wanted = {split_id(id) for id in search.settings.enabled_plugins}
    names = {marketplace for _, marketplace in wanted}
    for path in search.expand(rule):
        for name, entry in _load_list(search, path, findings).items():
            folder = entry.get("installLocation") if isinstance(entry, dict) else None
            if name not in names or not _is_absolute(folder, search):
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
    plugins = None if data is None else data.get("plugins")
    if data is None or not isinstance(plugins, list):
        return None
    given = data.get("name")
    known_as = name or (given if isinstance(given, str) else "")
    metadata = data.get("metadata")
    base = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    root = base if isinstance(base, str) else "."
    entries = [one for one in plugins[:_MOST_ENTRIES] if isinstance(one, dict)]
    return _list_entries(folder, path, origin, owner, known_as, root, entries, search)


def _list_entries(
    folder: str,
    path: str,
    origin: str,
    owner: Owner,
    marketplace: str,
    root: str,
    entries: list[dict[str, Any]],
    search: PluginSearch,
) -> Iterator[FoundPlugin]:
    real = search.files.find_real_path(folder)
    for entry in entries:
        name, source = entry.get("name"), entry.get("source")
        # The others have to be fetched: they are on no disk yet.
        if not isinstance(name, str) or not isinstance(source, str):
            continue
        place = posixpath.normpath(posixpath.join(folder, root, source))
        target = search.files.find_real_path(place)
        is_contained = is_inside(place, (folder,)) and target and is_inside(target, (real,))
        findings: tuple[Diagnostic, ...] = ()
        if not is_contained:
            message = (
                f"The source of the plugin {name[:64]!a} is {source[:200]!a}, which is"
                " not a folder of the marketplace; it is ignored."
            )
            findings = (diagnose("plugin-path-outside", message, file=path),)
            place = folder
        yield FoundPlugin(
            folder=place,
            origin=origin,
            name=name,
            suffix=marketplace,
            owner=owner,
            entry=entry,
            off=None if is_contained else "its source is not a folder of the marketplace",
            # Nobody chose the plugins of a marketplace one by one yet.
            default=False,
            parts=None if is_contained else PluginParts(),
            diagnostics=findings,
        )


# Versions


def _find_versions(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The newest version of every plugin that the settings name."""
    for id in sorted(search.settings.enabled_plugins):
        name, marketplace = split_id(id)
        if not name:
            continue
        for template in rule.at:
            path = template.replace("{plugin_name}", name).replace("{marketplace}", marketplace)
            for place in search.expand_template(path, rule):
                versions = list_folders(place, search.files)
                if versions:
                    newest = max(versions, key=_read_version)
                    yield FoundPlugin(folder=newest, origin=place, name=name, suffix=marketplace)


def _read_version(folder: str) -> list[tuple[int, str]]:
    """A sort key for versions: numbers count as such."""
    parts = re.findall(r"\d+|[^\d.]+", folder.rpartition("/")[2])
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


FINDERS: dict[str, Finder] = {
    "registry": _find_in_registry,
    "marketplaces": _find_in_marketplaces,
    "versions": _find_versions,
}
