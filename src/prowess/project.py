"""A working folder as one host sees it: profile, settings, scans, catalogs and tools. It keeps no
snapshot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.changes import ChangeCheck
from prowess.discover.folders import FolderSource
from prowess.discover.repository import find_main_checkout, find_repository
from prowess.discover.roots import (
    add_settings,
    find_ignored_folders,
    plan_roots,
)
from prowess.errors import NotAFolder
from prowess.machine.facts import current_facts, isolated_facts
from prowess.machine.files import LocalFiles
from prowess.machine.garbage import pause_collection
from prowess.model.catalog import Catalog
from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.parse.candidates import Parsed
from prowess.ports import FileSystem, Reporter, SkillSource, Stamp
from prowess.profiles.load import load_profile
from prowess.profiles.places import Places, name_places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import Limits
from prowess.project_scan import ProjectScan
from prowess.resolve.resolution import Collision
from prowess.resolve.strategies import later_wins
from prowess.scan import Scan
from prowess.settings.load import load_settings
from prowess.snapshot_memo import SnapshotMemo
from prowess.state.cache import ScanCache, cache_path
from prowess.state.code_stamp import stamp_code
from prowess.state.folders import cache_folder, store_folder
from prowess.state.profile_cache import (
    load_added_profiles,
    load_kept_profile,
    load_named_profile,
)
from prowess.telemetry import observe
from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkills
    from prowess.activate.slash.dispatch import CommandTools
    from prowess.gate.permissions import AgentRules
    from prowess.model.plugin import Plugin
    from prowess.model.usage import Uses
    from prowess.ports import Ranker, TrustPolicy, UsageStore
    from prowess.sources import AnySource, Composition, Refresh
    from prowess.state.unpacked_files import PrivateUnpacker


class Project:
    """One working folder and one host."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        host: str,
        *,
        facts: Facts | None = None,
        files: FileSystem | None = None,
        add_dirs: Iterable[str | os.PathLike[str]] = (),
        plugins: Iterable[str | os.PathLike[str]] = (),
        bare: bool = False,
        agent: str | None = None,
        rules: Iterable[Rule] = (),
        places: Mapping[str, str] | None = None,
        roots: Sequence[Root] | None = None,
        sources: Iterable[SkillSource] = (),
        cache: bool | str | os.PathLike[str] = True,
        usage: bool | UsageStore = False,
        trust: bool | Callable[[Skill], bool] | None = None,
        refresh: Refresh = "auto",
        reporter: Reporter | None = None,
        composed: Iterable[AnySource] | None = None,
        thorough: bool = False,
        packages: bool = False,
    ) -> None:
        self.cwd = os.path.abspath(path)
        self.roots = roots
        self.sources = tuple(sources)
        # A file system in memory has folders only where it has files; an empty one is no mistake.
        self._kinds_of_cwd = ("folder",) if files is None else ("folder", None)
        if composed is None:
            self.facts = facts or current_facts()
            is_off = not cache or files is not None or bool(self.facts.env.get("PROWESS_NO_CACHE"))
            self._use_cache = not is_off
            self._cache_folder = None if is_off else cache_folder(self.facts)
            self.host, added = load_added_profiles(self.facts, host)
            self.profile = self._load_profile(self.host, added)
            self.files = files or LocalFiles()
            self._composition: Composition | None = None
        else:
            self.facts = facts or isolated_facts()
            self._use_cache = False
            self._cache_folder = None if isinstance(cache, bool) else os.path.abspath(cache)
            self.host = host
            self._composition = self._compose(composed)
        # Agents ask for these settings at every call of a tool; profiles are read once.
        self._own_profile: Profile | None = None
        self._trust = trust
        # Whether changes on disk are looked for, and after how many seconds all is read anew.
        self.is_watched = refresh == "auto"
        self.seconds = None if isinstance(refresh, str) else float(refresh)
        if self._composition is not None:
            self.is_watched = self._composition.has_watched
            self.seconds = self._composition.seconds
        self._add_dirs = tuple(os.path.abspath(folder) for folder in add_dirs)
        self._plugin_dirs = tuple(os.path.abspath(folder) for folder in plugins)
        self._plugin_files: tuple[str, ...] = ()
        self._bare = bare
        self._agent = agent
        self._rules = tuple(rules)
        self._given_places = dict(places or {})
        self._reporter = reporter
        self._thorough = thorough
        self._packages = packages
        self._defined: DefinedSkills | None = None
        self._tools: CommandTools | None = None
        self._earlier: ScanCache[Parsed] | None = None
        self._unpacker: PrivateUnpacker | None = None
        self._counts_usage = usage
        self._usage: tuple[bool | None, UsageStore] | None = None
        # Agents ask with the same few options in every request; a budget that differs each time
        # must not fill the memory.
        self._catalogs = SnapshotMemo[Catalog](most=32)
        self.filtered = SnapshotMemo[Snapshot](most=256)

    def find_places(self) -> Places:
        """The folders that the profile's templates name, before any setting is read."""
        return self._name_places(self.profile)

    def _compose(self, sources: Iterable[AnySource]) -> Composition:
        """Take skills from these sources only, and read nothing else."""
        from prowess.sources import Composition

        profile = load_named_profile(self.host)
        # Folders beside a touched file are not among the sources.
        conditions = msgspec.structs.replace(profile.conditions, below=())
        self.profile = msgspec.structs.replace(profile, conditions=conditions)
        composition = Composition(sources, profile, LocalFiles())
        self.files = composition.files
        self.roots = composition.roots
        self.sources = composition.sources
        self._kinds_of_cwd = ("folder", None)
        return composition

    def load_settings(self) -> Settings:
        """The settings of the host that apply here, each with the file it came from."""
        if self._composition is not None:
            return Settings()
        settings = load_settings(self.profile, self.find_places(), self.facts, self.files)
        return settings.choose_agent(self._agent)

    def load_own_settings(self) -> Settings:
        """Prowess's own settings, which decide what is its own, whichever host it answers as."""
        if self._composition is not None:
            return Settings()
        profile = self._load_own_profile()
        return load_settings(profile, self._name_places(profile), self.facts, self.files)

    def find_own_places(self) -> Places:
        """The folders that are Prowess's own, whichever host it answers as."""
        return self._name_places(self._load_own_profile())

    def _load_own_profile(self) -> Profile:
        if self._own_profile is None:
            self._own_profile = self._load_profile(*load_added_profiles(self.facts, "prowess"))
        return self._own_profile

    def scan_watched(self) -> tuple[Snapshot, tuple[Collision, ...], ChangeCheck]:
        """As `scan`, with a check that tells whether anything has changed since."""
        snapshot, collisions, cache = self._scan(remember=True)
        listed = cache.finish()
        self._earlier = cache
        return snapshot, collisions, self._watch(snapshot, listed)

    def _watch(self, snapshot: Snapshot, listed: Mapping[str, Stamp | None]) -> ChangeCheck:
        """What to look at: the roots, the folders below them, the skills and the settings."""
        others = dict(listed)
        for outcome in snapshot.outcomes:
            skill = outcome.skill
            if skill is None or skill.stamp is None:
                continue
            others[skill.location] = skill.stamp
            if outcome.candidate.root.leaf:
                # Nothing else in its folder can become a skill.
                others.pop(skill.folder, None)
        roots = [root.path for root in snapshot.roots]
        composition = self._composition
        if composition is not None:
            roots = [path for path in roots if composition.is_watched(path)]
            others = {path: stamp for path, stamp in others.items() if composition.is_watched(path)}
        watched = (*roots, *snapshot.settings.files, *self._plugin_files)
        return ChangeCheck(self.files, watched, others)

    def scan(
        self, nested: Sequence[Root] = (), *, keep: Callable[[Skill], bool] | None = None
    ) -> tuple[Snapshot, tuple[Collision, ...]]:
        """What is here now, and the collisions that the host may report.

        `nested` are roots that a conversation found below the working folder. What `keep` refuses
        takes no part.
        """
        snapshot, collisions, _ = self._scan(nested, keep=keep)
        return snapshot, collisions

    def _scan(
        self,
        nested: Sequence[Root] = (),
        *,
        keep: Callable[[Skill], bool] | None = None,
        remember: bool = False,
    ) -> tuple[Snapshot, tuple[Collision, ...], ScanCache[Parsed]]:
        scan, cache = self._plan_scan(nested, keep=keep, remember=remember)
        # Other sources may wait for a server, and other threads need the collector meanwhile.
        paused = pause_collection() if len(scan.sources) == 1 else nullcontext()
        with observe("scan", host=self.profile.name) as seen, paused:
            snapshot, collisions = scan.run()
            cache.save()
            if seen:
                seen.note(candidates=len(snapshot.outcomes), skills=len(snapshot.skills))
        return snapshot, collisions, cache

    def _plan_scan(
        self, nested: Sequence[Root], *, keep: Callable[[Skill], bool] | None, remember: bool
    ) -> tuple[Scan, ScanCache[Parsed]]:
        """Everything that a scan needs to know, read from the disk as it is now."""
        if self.files.find_kind(self.cwd) not in self._kinds_of_cwd:
            raise NotAFolder(self.cwd)
        places = self.find_places()
        settings = self.load_settings()
        found_before = () if self._composition is None else self._composition.load()
        places = self._add_settings(places, settings)
        if settings.root_markers is not None:
            places = self._move_repository(places, settings.root_markers)
        limits = self.profile.limits.change(settings.limits)
        cache = self._open_cache(limits, remember=remember)
        plugins, found_in_lists = self._find_plugins(
            places, settings, cache, packages=self._packages
        )
        found_before += found_in_lists
        roots, diagnostics = self._plan_roots(places, settings, nested, plugins)
        folders = FolderSource(
            roots,
            places=places,
            limits=limits,
            clock=time.monotonic,
            diagnostics=(*found_before, *diagnostics),
            thorough=self._thorough,
            # What the user installed once may be linked to from any project.
            trusted=(store_folder(self.facts),),
        )
        scan = Scan(
            profile=self.profile,
            places=places,
            settings=settings,
            limits=limits,
            facts=self.facts,
            sources=self._open_sources(folders),
            standard=self._load_standard(plugins),
            cache=cache,
            files=self.files,
            agent=self._agent,
            rules=self._rules,
            reporter=self._reporter,
            project=ProjectScan(
                profile=self.profile,
                facts=self.facts,
                places=places,
                limits=limits,
                order=len(roots),
                settings=settings,
                load_own_settings=self.load_own_settings,
                open_trust=self.open_trust,
            ),
            keep=keep,
        )
        return scan, cache

    def load_plugins(self, *, packages: bool = True) -> tuple[Plugin, ...]:
        """Every plugin of the host, on or off; with installed `packages` that nobody turned on."""
        if self._composition is not None:
            return ()
        settings = self.load_settings()
        places = self._add_settings(self.find_places(), settings)
        return self._find_plugins(places, settings, self.files, packages=packages)[0]

    def _add_settings(self, places: Places, settings: Settings) -> Places:
        has_plugins = bool(self.profile.plugins)
        return add_settings(places, settings, agent=self._agent, has_plugins=has_plugins)

    def _find_plugins(
        self, places: Places, settings: Settings, files: FileSystem, *, packages: bool
    ) -> tuple[tuple[Plugin, ...], tuple[Diagnostic, ...]]:
        """The plugins of the host, and what is wrong with them and their lists."""
        if not self.profile.plugins or self.roots is not None:
            return (), ()
        from prowess.discover.plugins.find import find_plugins
        from prowess.discover.plugins.search import PluginSearch

        search = PluginSearch(self.profile, places, settings, self.facts, files, self._plugin_dirs)
        plugins, findings = find_plugins(search, packages=packages)
        own = [one for plugin in plugins for one in plugin.diagnostics]
        self._plugin_files = tuple(
            dict.fromkeys(one for plugin in plugins for one in _list_described(plugin))
        )
        return plugins, (*findings, *own)

    def _load_standard(self, plugins: tuple[Plugin, ...]) -> Profile | None:
        """The rules of the Agent Skills standard, where a plugin must follow them."""
        is_needed = any(plugin.format == "standard" for plugin in plugins)
        return load_named_profile("spec") if is_needed else None

    def offer(
        self,
        snapshot: Snapshot,
        *,
        uses: Uses = frozenset(),
        request: str | None = None,
        ranker: Ranker | None = None,
        context_tokens: int | None = None,
        characters: int | None = None,
        format: str | None = None,
        can_read_skill_urls: bool = True,
    ) -> Catalog:
        """The catalog of a snapshot, within the host's budget.

        It is built once and kept for as long as the snapshot is, unless it depends on a request.
        """
        build = partial(
            self._build_catalog,
            snapshot,
            uses=uses,
            context_tokens=context_tokens,
            characters=characters,
            format=format,
            can_read_skill_urls=can_read_skill_urls,
        )
        if request is not None and ranker is not None:
            return build(scores=ranker.score(request, snapshot.skills))
        return self._catalogs.get(snapshot, tuple(build.keywords.values()), build)

    def _build_catalog(self, snapshot: Snapshot, **options: Any) -> Catalog:
        from prowess.gate.gate import find_rules
        from prowess.gate.permissions import section_removed
        from prowess.model.catalog import Shown
        from prowess.present.offer import offer

        table = self.profile.permissions
        permissions = find_rules(
            snapshot.settings, table, self.facts, agent=self._agent, given=self._rules
        )
        with observe("catalog", host=self.profile.name) as seen:
            catalog = offer(
                snapshot,
                profile=self.profile,
                facts=self.facts,
                removed=permissions is not None and section_removed(permissions),
                **options,
            )
            if seen:
                left_out = catalog.counts().get(Shown.LEFT_OUT, 0)
                seen.note(skills=len(catalog.lines), left_out=left_out, tokens=catalog.tokens)
        return catalog

    def open_usage(self) -> UsageStore:
        """How often skills were offered and used on this machine; a store that counts nothing where
        that is off.

        All conversations of a project have one store: opening it costs more than using it.
        """
        from prowess.state.usage import NoUsage, open_usage

        if self._counts_usage is False:
            return NoUsage()
        if self._counts_usage is not True:
            return self._counts_usage
        wanted = self.load_own_settings().usage
        if self._usage is None or self._usage[0] != wanted:
            self._usage = (wanted, open_usage(self.facts, wanted=wanted))
        return self._usage[1]

    def load_uses(self, snapshot: Snapshot) -> Uses:
        """How often the ready skills of a snapshot were used; nothing where that is not counted."""
        if self._counts_usage is False:
            return frozenset()
        counts = self.open_usage().load_counts(snapshot.skills).values()
        return frozenset(
            (used.name, used.location, used.activated) for used in counts if used.activated
        )

    def open_trust(self) -> TrustPolicy:
        """Which skills may run commands: what the program says, or else what the user trusts."""
        from prowess.state.trust import GivenTrust, TrustFile

        trust = self._trust
        if callable(trust):
            return GivenTrust(trust)
        if trust is not None:
            return GivenTrust(lambda skill: trust, trusts_project=trust)
        if self._composition is not None:
            return GivenTrust(self._composition.is_trusted)
        return TrustFile.of(self.facts, cwd=self.cwd)

    @property
    def given_rules(self) -> tuple[Rule, ...]:
        """The rules that came with the request, such as those of the command line."""
        return self._rules

    def add_rules(self, rules: Iterable[Rule]) -> None:
        """Give more rules, as those of the command line are given. They count at once for tools,
        and for skills from the next scan on.
        """
        self._rules = (*self._rules, *rules)

    def gather_rules(self, settings: Settings) -> AgentRules:
        """The permission rules that hold for the agent."""
        from prowess.gate.permissions import gather_rules

        return gather_rules(
            settings, self.profile.permissions, self.facts, agent=self._agent, given=self._rules
        )

    @property
    def defined(self) -> DefinedSkills:
        """The skills that are defined in code."""
        from prowess.activate.code_skills import DefinedSkills

        if self._defined is None:
            self._defined = DefinedSkills()
        return self._defined

    def define(self, skills: DefinedSkills) -> None:
        """Have these skills in code from now on."""
        self._defined = skills
        # Another skill of the same name may have other files. What earlier snapshots unpacked is
        # removed with them.
        self._unpacker = None

    @property
    def tools(self) -> CommandTools:
        """The tools that were registered for commands to go to."""
        from prowess.activate.slash.dispatch import CommandTools

        if self._tools is None:
            self._tools = CommandTools()
        return self._tools

    @tools.setter
    def tools(self, tools: CommandTools) -> None:
        self._tools = tools

    @property
    def availability(self) -> tuple[bool, ...]:
        """Which of the skills that are defined in code are there just now."""
        return (
            tuple(skill.is_available for skill in self._defined)
            if self._defined is not None
            else ()
        )

    @property
    def unpacker(self) -> PrivateUnpacker:
        """Where the files of skills that are defined in code are unpacked."""
        from prowess.state.unpacked_files import PrivateUnpacker

        if self._unpacker is None:
            self._unpacker = PrivateUnpacker(version=VERSION)
        return self._unpacker

    def unpack(self, skill: Skill) -> str:
        """The folder of a skill, for programs: one in memory is unpacked, anew when it changes.

        Raises `MachineError`.
        """
        if not skill.is_in_memory:
            return skill.folder
        import hashlib

        from prowess.state.unpacked_files import collect_files

        files = collect_files(self.files, skill.folder)
        digest = hashlib.sha256(msgspec.msgpack.encode(sorted(files.items()))).hexdigest()
        return self.unpacker.unpack(f"{skill.name}-{digest[:16]}", files)

    def close(self) -> None:
        """Remove what was unpacked, close what is open, and forget what was read."""
        self._earlier = None
        self._usage = None
        for source in self.sources:
            getattr(source, "close", lambda: None)()
        if self._unpacker is not None:
            self._unpacker.close()
            self._unpacker = None

    def _load_profile(self, name: str, added: Mapping[str, Any]) -> Profile:
        if added or not self._use_cache:
            return load_profile(name, added)
        return load_kept_profile(name, self.facts)

    def _move_repository(self, places: Places, markers: tuple[str, ...]) -> Places:
        """The places with the project's folder where the settings name other marks than `.git`."""
        repository = find_repository(
            self.cwd, self.files, platform=self.facts.platform, markers=markers
        )
        named = {name: path for name, path in places.named.items() if name != "repository"}
        if repository is not None:
            named["repository"] = repository
        return msgspec.structs.replace(places, repository=repository, named=named)

    def _name_places(self, profile: Profile) -> Places:
        # The files of composed sources include no folder around them.
        repository = find_repository(self.cwd, self.files, platform=self.facts.platform)
        places = name_places(
            profile.places,
            cwd=self.cwd,
            facts=self.facts,
            repository=repository,
            given=self._given_places,
        )
        main = None if repository is None else find_main_checkout(repository, self.files)
        return msgspec.structs.replace(places, added=self._add_dirs, main_checkout=main)

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
        roots = plan_roots(
            self.profile,
            places,
            settings,
            self.facts,
            bare=self._bare,
            later_wins=later_wins(self.profile.resolution),
            plugins=plugins,
        )
        return (*roots, *nested), find_ignored_folders(self.profile, places)

    def _open_sources(self, folders: FolderSource) -> list[SkillSource]:
        """Where skills come from, in the order in which they are asked."""
        sources: list[SkillSource] = [folders]
        if self.sources:
            from prowess.discover.guarded_source import GuardedSource

            sources += map(GuardedSource, self.sources)
        if self._defined is not None:
            from prowess.activate.code_skills import CodeSource
            from prowess.machine.event_loop import wait_for

            sources.append(CodeSource(self._defined, self.unpacker, wait_for))
        return sources

    def _open_cache(self, limits: Limits, *, remember: bool) -> ScanCache[Parsed]:
        if self._cache_folder is None and not remember:
            return ScanCache(self.files, None, key="", reading_type=Parsed)
        rules = msgspec.msgpack.encode((self.profile, limits)).hex()
        key = f"{VERSION}\0{stamp_code()}\0{self.cwd}\0{self.host}\0{rules}"
        name = f"{self.cwd}\0{self.host}"
        if self._composition is not None:
            name = "\0".join((name, *(root.path for root in self._composition.roots)))
        earlier = self._earlier
        return ScanCache(
            self.files,
            None if self._cache_folder is None else cache_path(self._cache_folder, name),
            key=key,
            reading_type=Parsed,
            remember=remember,
            earlier=earlier if earlier is not None and earlier.key == key else None,
        )


def _list_described(plugin: Plugin) -> tuple[str, ...]:
    """The files that say that there is a plugin and what is in it."""
    return (plugin.origin,) if plugin.manifest is None else (plugin.origin, plugin.manifest)
