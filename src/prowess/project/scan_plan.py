"""What a scan of a project needs, read from the disk as it is now."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.folders import FolderSource
from prowess.discover.roots import find_ignored_folders, plan_roots
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.parse.candidates import Parsed
from prowess.ports import FileSystem, SkillSource, TrustPolicy
from prowess.profiles.places import Places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.project.host_view import HostView
from prowess.project.options import Options
from prowess.project.registered import Registered
from prowess.project.scanned_project import ProjectScan
from prowess.resolve.strategies import later_wins
from prowess.scan import Scan
from prowess.state.cache import ScanCache, cache_path
from prowess.state.code_stamp import stamp_code
from prowess.state.folders import store_folder
from prowess.state.profile_cache import load_named_profile
from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.model.plugin import Plugin


class ScanPlan(msgspec.Struct, frozen=True):
    """A scan that can be run, and the files that describe its plugins."""

    scan: Scan
    plugin_files: tuple[str, ...]


class ScanPlanner:
    """Plans the scans of one project.

    `roots` replace those that the profile names; `sources` yield skills from elsewhere.
    """

    def __init__(
        self,
        view: HostView,
        registered: Registered,
        open_trust: Callable[[], TrustPolicy],
        **options: Unpack[Options],
    ) -> None:
        self._view = view
        self._registered = registered
        self._open_trust = open_trust
        self._bare = options.get("bare", False)
        self._thorough = options.get("thorough", False)
        self._packages = options.get("packages", False)
        self._reporter = options.get("reporter")
        self._plugin_dirs = tuple(map(os.path.abspath, options.get("plugins", ())))
        composition = view.composition
        if composition is None:
            self.roots = options.get("roots")
            self.sources = tuple(options.get("sources", ()))
        else:
            self.roots, self.sources = composition.roots, composition.sources

    @property
    def has_only_folders(self) -> bool:
        """Whether skills come from folders alone, so that a scan waits for nobody."""
        return not self.sources and self._registered.skills is None

    def plan(
        self,
        nested: Sequence[Root] = (),
        *,
        keep: Callable[[Skill], bool] | None = None,
        earlier: ScanCache[Parsed] | None = None,
        remember: bool = False,
    ) -> ScanPlan:
        """A scan with the settings, plugins and folders of this moment.

        `nested` are roots that a conversation found below the working folder. What `keep` refuses
        takes no part. What `earlier` has read and is unchanged is not read again.
        """
        view = self._view
        view.check_cwd()
        places, settings, unread = self._load_settings()
        limits = view.profile.limits.change(settings.limits)
        cache = _open_cache(view, limits, earlier=earlier, remember=remember)
        plugins, damaged = self._find_plugins(places, settings, cache, packages=self._packages)
        roots, ignored = self._plan_roots(places, settings, nested, plugins)
        folders = FolderSource(
            roots,
            places=places,
            limits=limits,
            clock=time.monotonic,
            diagnostics=(*unread, *damaged, *ignored),
            thorough=self._thorough,
            # What the user installed once may be linked to from any project.
            trusted=(store_folder(view.facts),),
        )
        scan = Scan(
            profile=view.profile,
            places=places,
            settings=settings,
            limits=limits,
            facts=view.facts,
            sources=self._open_sources(folders),
            standard=_load_standard(plugins),
            cache=cache,
            files=view.files,
            agent=view.agent,
            rules=view.rules,
            reporter=self._reporter,
            project=self._describe_project(places, settings, limits, order=len(roots)),
            keep=keep,
        )
        return ScanPlan(scan, _list_plugin_files(plugins))

    def load_plugins(self, *, packages: bool) -> tuple[Plugin, ...]:
        """Every plugin of the host, on or off; with installed `packages` that nobody turned on."""
        if self._view.composition is not None:
            return ()
        places, settings, _ = self._load_settings()
        return self._find_plugins(places, settings, self._view.files, packages=packages)[0]

    def _load_settings(self) -> tuple[Places, Settings, tuple[Diagnostic, ...]]:
        """The places and settings as they are now, and what sources in memory could not read."""
        view = self._view
        places = view.find_places()
        settings = view.load_settings()
        unread = () if view.composition is None else view.composition.load()
        return view.add_settings(places, settings), settings, unread

    def _find_plugins(
        self, places: Places, settings: Settings, files: FileSystem, *, packages: bool
    ) -> tuple[tuple[Plugin, ...], tuple[Diagnostic, ...]]:
        """The plugins of the host, and what is wrong with them and their lists."""
        view = self._view
        if not view.profile.plugins or self.roots is not None:
            return (), ()
        from prowess.discover.plugins.find import find_plugins
        from prowess.discover.plugins.search import PluginSearch

        search = PluginSearch(view.profile, places, settings, view.facts, files, self._plugin_dirs)
        plugins, findings = find_plugins(search, packages=packages)
        own = [one for plugin in plugins for one in plugin.diagnostics]
        return plugins, (*findings, *own)

    def _plan_roots(
        self,
        places: Places,
        settings: Settings,
        nested: Sequence[Root],
        plugins: tuple[Plugin, ...],
    ) -> tuple[tuple[Root, ...], tuple[Diagnostic, ...]]:
        """The folders that are searched, and what is wrong with the options that name them."""
        if self.roots is not None:
            return (*self.roots, *nested), ()
        profile = self._view.profile
        roots = plan_roots(
            profile,
            places,
            settings,
            self._view.facts,
            bare=self._bare,
            later_wins=later_wins(profile.resolution),
            plugins=plugins,
        )
        return (*roots, *nested), find_ignored_folders(profile, places)

    def _open_sources(self, folders: FolderSource) -> list[SkillSource]:
        """Where skills come from, in the order in which they are asked."""
        sources: list[SkillSource] = [folders]
        if self.sources:
            from prowess.discover.guarded_source import GuardedSource

            sources += map(GuardedSource, self.sources)
        in_code = self._registered.open_source()
        return sources if in_code is None else [*sources, in_code]

    def _describe_project(
        self, places: Places, settings: Settings, limits: ScanLimits, *, order: int
    ) -> ProjectScan:
        view = self._view
        return ProjectScan(
            profile=view.profile,
            facts=view.facts,
            places=places,
            limits=limits,
            order=order,
            settings=settings,
            load_own_settings=view.load_own_settings,
            open_trust=self._open_trust,
        )


def _load_standard(plugins: tuple[Plugin, ...]) -> Profile | None:
    """The rules of the Agent Skills standard, where a plugin must follow them."""
    is_needed = any(plugin.format == "standard" for plugin in plugins)
    return load_named_profile("spec") if is_needed else None


def _list_plugin_files(plugins: tuple[Plugin, ...]) -> tuple[str, ...]:
    """The files that say that there is a plugin and what is in it, each once."""
    described = [path for one in plugins for path in (one.origin, one.manifest)]
    return tuple(dict.fromkeys(path for path in described if path is not None))


def _open_cache(
    view: HostView, limits: ScanLimits, *, earlier: ScanCache[Parsed] | None, remember: bool
) -> ScanCache[Parsed]:
    """What earlier scans read, as far as the same code read it by the same rules."""
    folder = view.cache_folder
    if folder is None and not remember:
        return ScanCache(view.files, None, key="", reading_type=Parsed)
    rules = msgspec.msgpack.encode((view.profile, limits)).hex()
    name = f"{view.cwd}\0{view.host}"
    key = f"{VERSION}\0{stamp_code()}\0{name}\0{rules}"
    if view.composition is not None:
        name = "\0".join((name, *(root.path for root in view.composition.roots)))
    has_same_key = earlier is not None and earlier.key == key
    return ScanCache(
        view.files,
        None if folder is None else cache_path(folder, name),
        key=key,
        reading_type=Parsed,
        remember=remember,
        earlier=earlier if has_same_key else None,
    )
