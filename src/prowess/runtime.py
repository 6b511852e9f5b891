"""Skills: what a working folder has, as one host sees it. The surface over scans, catalogs and counts."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from prowess.discover.repository import find_repository
from prowess.discover.roots import make_root
from prowess.errors import NotAFolder, UnknownSkill
from prowess.machine.cache import ScanCache, cache_path
from prowess.machine.dirs import cache_folder
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.machine.profiles import load_added_profiles, load_kept_profile
from prowess.machine.stamps import stamp_code
from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Root, Scope, Skill, Source
from prowess.model.snapshot import Snapshot
from prowess.parse.candidates import Parsed
from prowess.ports import Event, FileSystem, Listener, Reporter
from prowess.profiles.load import load_profile
from prowess.profiles.places import Place, Places, name_places
from prowess.profiles.schema import Profile, RootRule
from prowess.scan import Scan, effective_limits
from prowess.settings.load import load_settings
from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.discover.context import ContextFiles
    from prowess.model.catalog import Catalog
    from prowess.ports import Ranker, UsageStore


class Skills:
    """The skills of one working folder, as one host sees them.

    Nothing is read until it is asked for. `Skills.open` gives the same object for the same folder and host
    until it is closed.
    """

    _open: ClassVar[dict[tuple[Any, ...], Skills]] = {}
    _lock = threading.Lock()

    def __init__(
        self,
        path: str | os.PathLike[str] = ".",
        *,
        host: str = "prowess",
        facts: Facts | None = None,
        files: FileSystem | None = None,
        add_dirs: Iterable[str | os.PathLike[str]] = (),
        bare: bool = False,
        agent: str | None = None,
        rules: Iterable[Rule] = (),
        places: Mapping[str, str] | None = None,
        roots: Sequence[Root] | None = None,
        cache: bool = True,
        on_event: Listener | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self.cwd = os.path.abspath(path)
        self.facts = facts or current_facts()
        self._use_cache = cache and files is None and not self.facts.env.get("PROWESS_NO_CACHE")
        self.host, added = load_added_profiles(self.facts, host)
        if added or not self._use_cache:
            self.profile: Profile = load_profile(self.host, added)
        else:
            self.profile = load_kept_profile(self.host, self.facts)
        self._files = files or LocalFiles()
        # A file system in memory has folders only where it has files; an empty one is no mistake.
        self._kinds_of_cwd = ("folder",) if files is None else ("folder", None)
        self._add_dirs = tuple(os.path.abspath(folder) for folder in add_dirs)
        self._bare = bare
        self._agent = agent
        self._rules = tuple(rules)
        self._given_places = dict(places or {})
        self._given_roots = roots
        self._on_event = on_event
        self._reporter = reporter
        self._snapshot: Snapshot | None = None
        self._scan_lock = threading.Lock()
        self._memo_key: tuple[Any, ...] | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str] = ".", *, host: str = "prowess", **options: Any) -> Skills:
        """The skills of a working folder.

        Kept per folder and host: a second call gives the same object, without a new scan. Calls with options
        of their own (facts, files, listeners …) always give a new one.
        """
        if options:
            return cls(path, host=host, **options)
        key = (os.path.abspath(path), host)
        with cls._lock:
            if key not in cls._open:
                skills = cls(path, host=host)
                skills._memo_key = key
                cls._open[key] = skills
            return cls._open[key]

    @classmethod
    def from_folder(
        cls, folder: str | os.PathLike[str], *, source: str = "custom:user", host: str = "prowess", **options: Any
    ) -> Skills:
        """The skills that lie in one folder, read through the very same scan.

        `source` is `provider:level`, and the label that the skills carry.
        """
        path = os.path.abspath(folder)
        provider, _, level = source.partition(":")
        found = cls(path, host=host, **options)
        rule = found.profile.roots.get("custom") or RootRule(at=(), scope=Scope.ADDED)
        described = Source(provider, level or "user", path, rule.loaded_from, source)
        root = make_root("custom", msgspec.structs.replace(rule, must_exist=True), Place(path, 0))
        root = msgspec.structs.replace(root, source=described)
        found._given_roots = (root,)
        return found

    @property
    def snapshot(self) -> Snapshot:
        """What was found; scanned when it is first asked for, then kept."""
        with self._scan_lock:
            if self._snapshot is not None:
                return self._snapshot
            snapshot, events = self._scan()
            self._snapshot = snapshot
        self._publish(events)
        return snapshot

    def reload(self) -> Snapshot:
        """Scan again; what changed on disk since shows in the new snapshot, the old one stays as it was."""
        with self._scan_lock:
            snapshot, events = self._scan()
            self._snapshot = snapshot
        self._publish(events)
        return snapshot

    def close(self) -> None:
        """Let go of what is held; the next `Skills.open` of this folder scans anew."""
        with Skills._lock:
            if self._memo_key is not None:
                Skills._open.pop(self._memo_key, None)
                self._memo_key = None
        self._snapshot = None

    def __enter__(self) -> Skills:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Skill]:
        return iter(self.snapshot.skills)

    def get(self, name: str) -> Skill:
        """The skill that holds a name, ready or not. Raises `UnknownSkill`, which knows the nearest names."""
        outcome = self.snapshot.find(name)
        if outcome is None or outcome.skill is None:
            raise UnknownSkill(name, [one.name for one in self.snapshot.shown])
        return outcome.skill

    def folders(self) -> tuple[str, ...]:
        """The folder of every skill that was read, sorted; also of those that lost their name to another."""
        return tuple(sorted({one.skill.folder for one in self.snapshot.outcomes if one.skill is not None}))

    def context_files(self) -> ContextFiles:
        """The context files (AGENTS.md and its kin) that hold here, farthest first."""
        from prowess.discover.context import find_context_files

        trusted = self.settings().trusted_links
        return find_context_files(self.profile.context, self.find_places(), self._files, trusted_links=trusted)

    def settings(self) -> Settings:
        """The settings that hold here, each with the place it came from."""
        return load_settings(self.profile, self.find_places(), self.facts, self._files)

    def usage(self) -> UsageStore:
        """How often skills were offered and used on this machine; a store that counts nothing where that is off."""
        from prowess.machine.usage import open_usage

        # Counting is Prowess's own, whichever host it answers as, so its own settings decide.
        own = Skills(self.cwd, facts=self.facts, files=self._files).settings()
        return open_usage(self.facts, wanted=own.usage)

    def catalog(
        self,
        *,
        context_tokens: int | None = None,
        characters: int | None = None,
        format: str | None = None,
        request: str | None = None,
        ranker: Ranker | None = None,
        can_read_skill_urls: bool = True,
    ) -> Catalog:
        """What a model is shown of the skills that are ready, within the host's budget.

        `characters` and `format` replace the host's own. With a `request` and a `ranker`, what fits the request is
        told first.
        """
        from prowess.gate.gate import find_rules
        from prowess.gate.permissions import section_removed
        from prowess.present.offer import offer

        table = self.profile.permissions
        permissions = find_rules(self.snapshot.settings, table, self.facts, agent=self._agent, given=self._rules)
        return offer(
            self.snapshot,
            profile=self.profile,
            facts=self.facts,
            removed=permissions is not None and section_removed(permissions),
            counts=self.usage().load_counts(),
            scores=None if request is None or ranker is None else ranker.score(request, self.snapshot.skills),
            context_tokens=context_tokens,
            characters=characters,
            format=format,
            can_read_skill_urls=can_read_skill_urls,
        )

    def find_places(self) -> Places:
        """The folders that the profile's templates name, before any setting is read."""
        repository = find_repository(self.cwd, self._files, platform=self.facts.platform)
        places = name_places(
            self.profile.places, cwd=self.cwd, facts=self.facts, repository=repository, given=self._given_places
        )
        return msgspec.structs.replace(places, added=self._add_dirs)

    def _scan(self) -> tuple[Snapshot, list[Event]]:
        if self._files.find_kind(self.cwd) not in self._kinds_of_cwd:
            raise NotAFolder(self.cwd)
        places = self.find_places()
        settings = load_settings(self.profile, places, self.facts, self._files)
        cache = self._open_cache(settings)
        scan = Scan(
            profile=self.profile,
            places=places,
            settings=settings,
            facts=self.facts,
            cache=cache,
            files=self._files,
            bare=self._bare,
            agent=self._agent,
            rules=self._rules,
            roots=self._given_roots,
            reporter=self._reporter,
        )
        snapshot, collisions = scan.run()
        cache.save()
        if self._on_event is None:
            return snapshot, []
        from prowess.resolve.events import find_events

        published = self.profile.resolution.collisions
        return snapshot, list(find_events(snapshot.outcomes, collisions, published=published))

    def _publish(self, events: Iterable[Event]) -> None:
        """Tell the listener, with no lock held: it may ask for the snapshot."""
        if self._on_event is not None:
            for event in events:
                self._on_event(event)

    def _open_cache(self, settings: Settings) -> ScanCache[Parsed]:
        if not self._use_cache:
            return ScanCache(self._files, None, key="", reading_type=Parsed)
        limits = effective_limits(self.profile.limits, settings)
        rules = msgspec.msgpack.encode((self.profile, limits)).hex()
        key = f"{VERSION}\0{stamp_code()}\0{self.cwd}\0{self.host}\0{rules}"
        path = cache_path(cache_folder(self.facts), f"{self.cwd}\0{self.host}")
        return ScanCache(self._files, path, key=key, reading_type=Parsed)
