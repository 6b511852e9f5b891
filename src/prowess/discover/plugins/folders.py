"""Plugins in folders that options and settings name, or that a host keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.plugins.search import (
    Finder,
    FoundPlugin,
    PluginSearch,
    has_file,
    list_folders,
)
from prowess.model.files import FolderItem
from prowess.model.plugin import Owner
from prowess.ports import FileSystem
from prowess.profiles.schema.plugins import PluginRule


def _find_named(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """The folders that options name, then those of the settings."""
    for folder in search.named:
        if search.files.find_kind(folder) == "folder":
            yield from _open_named(folder, "--extension", "user", search, rule)
    for folder in search.settings.plugin_folders:
        yield from _open_configured(folder, search, rule, findings)


def _open_configured(
    folder: str, search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """A folder that a setting names. A file is an extension without anything beside it."""
    settings = search.settings
    kind = search.files.find_kind(folder)
    if kind is None:
        message = "A setting names this folder of a plugin, but it does not exist."
        findings.append(diagnose("root-missing", message, file=folder))
    if kind != "folder":
        return
    origin = settings.entry_origin("plugin_folders", folder).file or folder
    if not settings.is_from_project("plugin_folders"):
        yield from _open_named(folder, origin, "user", search, rule)
        return
    for found in _open_named(folder, origin, "project", search, rule):
        # A project can name any folder, but only one of its own is its plugin.
        found.within = search.places.cwd
        yield found


def _open_named(
    folder: str, origin: str, owner: Owner, search: PluginSearch, rule: PluginRule
) -> Iterator[FoundPlugin]:
    """A folder that is a plugin, or the marketplace of some."""
    if ".claude-plugin/marketplace.json" in rule.manifests:
        from prowess.discover.plugins.registries import open_marketplace

        plugins = open_marketplace(folder, origin, owner, search, rule)
        if plugins is not None:
            yield from plugins
            return
    yield FoundPlugin(folder=folder, origin=origin, owner=owner)


def _find_in_folders(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """Every folder in a folder of plugins."""
    for path in search.expand(rule):
        for folder in list_folders(path, search.files):
            if _has_marker(folder, rule, search.files):
                yield FoundPlugin(folder=folder, origin=path)


def _has_marker(folder: str, rule: PluginRule, files: FileSystem) -> bool:
    """Whether a folder has the file that makes it a plugin, if there is such a file."""
    return not rule.marker or files.find_kind(f"{folder}/{rule.marker}") == "file"


def _find_between_skills(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """Folders between skills that have a manifest of a plugin."""
    files, manifests = search.files, rule.manifests
    first_names = {name.partition("/")[0] for name in manifests}
    for path in search.expand(rule):
        # There may be thousands of skills, and their folders are listed anyway: only those with the
        # right name in them are worth another look.
        for folder in _choose_with_names(list_folders(path, files), first_names, files):
            if has_file(folder, manifests, files):
                yield FoundPlugin(folder=folder, origin=path)


def _choose_with_names(folders: Iterable[str], names: set[str], files: FileSystem) -> Iterator[str]:
    """The folders that have one of these names in them, or cannot be listed."""
    without: list[FolderItem] | None = None
    for folder in folders:
        try:
            items = files.list_folder(folder)
        except OSError:
            yield folder
            continue
        # Most folders of skills have the same items, and then a scan has one list for all of them.
        if items is without:
            continue
        if names.isdisjoint([item.name for item in items]):
            without = items
        else:
            yield folder


FINDERS: dict[str, Finder] = {
    "named": _find_named,
    "folders": _find_in_folders,
    "skills-folders": _find_between_skills,
}
