"""The skills that ship with Prowess, as a source for its own agent.

They are folders in `prowess/bundled`. Which of them exist is decided here, in the order of
registration: a skill behind a feature that is off is not registered at all. A builtin plugin turns
several features on together.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from prowess.machine.chromium import PROGRAMS as BROWSERS
from prowess.machine.package_files import find_disk_path, find_package_folder
from prowess.model.outcome import Claim
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.ports import Discovered, ManifestReader, Search

_OWN_HOST = "prowess"


class Shipped(NamedTuple):
    """A skill that ships: the feature that turns it on, and programs of which it needs one."""

    name: str
    feature: str | None = None
    programs: tuple[str, ...] = ()


SHIPPED = (
    Shipped("update-config"),
    Shipped("keybindings", feature="keybindings"),
    Shipped("verify"),
    Shipped("debug"),
    Shipped("lorem-ipsum"),
    Shipped("skillify"),
    Shipped("remember"),
    Shipped("simplify"),
    Shipped("batch"),
    Shipped("stuck"),
    Shipped("dream", feature="dream"),
    Shipped("hunter", feature="hunter"),
    Shipped("loop", feature="loop"),
    Shipped("schedule-remote-agents", feature="schedule-remote-agents"),
    Shipped("claude-api", feature="claude-api"),
    Shipped("claude-in-chrome", feature="claude-in-chrome", programs=BROWSERS),
    Shipped("run-skill-generator", feature="run-skill-generator"),
)
"""Every skill that ships, in the order of registration."""


class BuiltinPlugin(NamedTuple):
    """A set that is switched together: features with their skills, and what its folder has.

    The folder, in `prowess/bundled/plugins`, has the manifest, and hooks and MCP servers if any.
    """

    name: str
    features: tuple[str, ...]

    @property
    def id(self) -> str:
        """What settings switch it by."""
        return f"{self.name}@builtin"


BUILTIN_PLUGINS = (
    BuiltinPlugin("planning", ("dream", "hunter")),
    BuiltinPlugin("automation", ("loop", "schedule-remote-agents")),
    BuiltinPlugin("claude", ("claude-api", "claude-in-chrome")),
    BuiltinPlugin("authoring", ("run-skill-generator",)),
)


def find_plugins_folder() -> str | None:
    """The folder with the builtin plugins; None where the package is in an archive."""
    return find_disk_path(find_package_folder("prowess", "bundled/plugins"))


def find_shipped_places(host: str) -> dict[str, str]:
    """The folder of the builtin plugins; other hosts have some of their own, or none."""
    folder = find_plugins_folder()
    if folder is None or host != _OWN_HOST:
        return {}
    return {"builtin_plugins": folder}


def find_features(settings: Settings) -> dict[str, str]:
    """The features that are on, each with the id of the builtin plugin that turns it on, or ""."""
    features = {name: "" for name, is_on in settings.features.items() if is_on}
    for plugin in BUILTIN_PLUGINS:
        if _is_plugin_on(plugin, settings):
            features |= dict.fromkeys(plugin.features, plugin.id)
    return features


def _is_plugin_on(plugin: BuiltinPlugin, settings: Settings) -> bool:
    for key in (plugin.id, plugin.name):
        if key in settings.enabled_plugins:
            # A project must not turn on what starts jobs or a browser.
            is_users = not settings.is_from_project(f"enabled_plugins.{key}")
            return is_users and settings.enabled_plugins[key]
    return False


class BundledSource:
    """The `SkillSource` of the skills that ship."""

    name = "bundled"

    def find(self, search: Search) -> Discovered:
        """The skills that are on, in the order of registration; those of builtin plugins last."""
        folder = find_disk_path(find_package_folder("prowess", "bundled"))
        project = search.project
        if project is None or folder is None:
            # Programs cannot run the files of a package that is in an archive.
            return Discovered()
        features = find_features(project.load_own_settings())
        has_program = project.facts.find_bin
        # Those of no plugin first: this order decides between equal names.
        by_plugin: dict[str, list[Shipped]] = {"": []}
        for shipped in SHIPPED:
            if _is_on(shipped, features, has_program):
                plugin = features.get(shipped.feature or "", "")
                by_plugin.setdefault(plugin, []).append(shipped)
        roots: list[Root] = []
        candidates: list[Candidate] = []
        for plugin, skills in by_plugin.items():
            root = _make_root(folder, plugin)
            roots.append(root)
            candidates += [_make_candidate(skill, root) for skill in skills]
        return Discovered(tuple(candidates), roots=tuple(roots))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a skill that ships."""
        return reader.read_file(candidate)


def _make_root(folder: str, plugin: str) -> Root:
    """The folder of the skills that ship, for those of a builtin plugin or for all others."""
    return Root(
        path=folder,
        scope=Scope.BUNDLED,
        source=Source("prowess", "bundled", folder, LoadedFrom.BUNDLED, "bundled"),
        order=1 if plugin else 0,
        id=plugin or "shipped",
        group="builtin-plugin" if plugin else "bundled",
        is_fallback=True,
        plugin=plugin,
    )


def _is_on(shipped: Shipped, features: Container[str], has_program: Callable[[str], bool]) -> bool:
    if shipped.feature is not None and shipped.feature not in features:
        return False
    return not shipped.programs or any(map(has_program, shipped.programs))


def _make_candidate(shipped: Shipped, root: Root) -> Candidate:
    folder = f"{root.path}/{shipped.name}"
    location = f"{folder}/SKILL.md"
    return Candidate(location, folder, shipped.name, root, location)
