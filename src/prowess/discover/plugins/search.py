"""What the finders of plugins share: what they may know, and what they yield."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.plugins.json_tables import find_json, get_table
from prowess.discover.plugins.manifest import ReadPlugin
from prowess.model.facts import Facts
from prowess.model.plugin import Owner
from prowess.model.settings import Settings
from prowess.ports import FileSystem
from prowess.profiles.places import Places, ancestors, expand
from prowess.profiles.schema.plugins import PluginRule
from prowess.profiles.schema.profile import Profile


class FoundPlugin(msgspec.Struct, kw_only=True):
    """A plugin on its way: where it is, and what its list says of it.

    `suffix` and `owner` replace those of the rule, `entry` is what a marketplace says, `off` why
    the list itself has it turned off, and `within` the folder that it must really be in. `parts`
    are given if its folder needs no reading.
    """

    folder: str
    origin: str
    name: str = ""
    suffix: str | None = None
    owner: Owner | None = None
    entry: Mapping[str, Any] | None = None
    off: str | None = None
    default: bool | None = None
    within: str | None = None
    parts: ReadPlugin | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


class PluginSearch(msgspec.Struct, frozen=True):
    """What finders may know. `named` are the folders that options name."""

    profile: Profile
    places: Places
    settings: Settings
    facts: Facts
    files: FileSystem
    named: tuple[str, ...] = ()

    def expand(self, rule: PluginRule) -> list[str]:
        """The paths that the templates of a rule stand for."""
        return [path for template in rule.at for path in self.expand_template(template, rule)]

    def expand_template(self, template: str, rule: PluginRule) -> list[str]:
        """The paths that one template stands for."""
        places = self.places
        if not rule.anchor or "{ancestor}" not in template:
            found = expand(template, places, up_to="folder", without_repository="folder")
            return [place.path for place in found]
        folder = self._find_anchor(rule.anchor)
        return [] if folder is None else [template.replace("{ancestor}", folder)]

    def load_switches(self, rule: PluginRule) -> Iterator[tuple[str, Mapping[str, bool]]]:
        """What the files of another host turn on and off, the strongest file first."""
        paths: list[str] = []
        for template in rule.switches:
            paths += self.expand_template(template, rule)
        for path in dict.fromkeys(reversed(paths)):
            listed = get_table(find_json(self.files, path), "enabledPlugins")
            enabled = {id: is_on for id, is_on in listed.items() if isinstance(is_on, bool)}
            yield path, enabled

    def _find_anchor(self, name: str) -> str | None:
        """The nearest folder above the working folder that has an entry, or the repository."""
        places = self.places
        for folder in ancestors(places, up_to="home"):
            # What is in the home folder is the user's own.
            if folder == places.home:
                break
            if self.files.find_kind(f"{folder}/{name}") == "folder":
                return folder
        return places.repository


Finder = Callable[[PluginSearch, PluginRule, list[Diagnostic]], Iterator[FoundPlugin]]
"""Yields plugins for a rule, and adds what is wrong with their lists to the diagnostics."""


def list_folders(path: str, files: FileSystem) -> list[str]:
    """The folders in a folder; none if it cannot be listed."""
    if files.find_kind(path) != "folder":
        return []
    try:
        base = f"{path}/"
        return [base + item.name for item in files.list_folder(path) if item.kind == "folder"]
    except OSError:
        # A plugin nobody can list has no skills that anybody could miss.
        return []


def has_file(folder: str, names: Iterable[str], files: FileSystem) -> bool:
    """Whether a folder has a file with one of these names."""
    return any(files.find_kind(f"{folder}/{name}") == "file" for name in names)
