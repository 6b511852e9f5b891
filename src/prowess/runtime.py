"""Skills: a profile, the ports and the stages wired together. The one module that knows their order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.discover.discovery import discover
from prowess.discover.repository import find_repository
from prowess.discover.roots import make_root, plan_roots
from prowess.errors import UnknownSkill
from prowess.gate.gate import find_rules, gate_skill
from prowess.machine.cache import ScanCache, cache_path
from prowess.machine.dirs import cache_folder
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.machine.profiles import load_added_profiles, load_kept_profile
from prowess.machine.stamps import code_stamp
from prowess.model.facts import Facts
from prowess.model.outcome import STATE_ORDER, Outcome
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, Document, Root, Scope, Skill, Source
from prowess.model.snapshot import Snapshot
from prowess.parse.candidates import Parsed, Read, Reader, read_document
from prowess.ports import FileSystem, Listener, Reporter
from prowess.profiles.load import load_profile
from prowess.profiles.places import Place, Places, expand_user_path, name_places
from prowess.profiles.schema import Header, Profile, RootRule
from prowess.resolve.claims import Claim
from prowess.resolve.resolution import Resolved, resolve
from prowess.settings.load import load_settings

if TYPE_CHECKING:
    from prowess.discover.context import ContextFiles
    from prowess.gate.permissions import Rules
    from prowess.model.catalog import Catalog
    from prowess.ports import Ranker, UsageStore

_MOST_BYTES = 1 << 30


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
            if self._snapshot is None:
                self._snapshot = self._scan()
            return self._snapshot

    def reload(self) -> Snapshot:
        """Scan again; what changed on disk since shows in the new snapshot, the old one stays as it was."""
        with self._scan_lock:
            self._snapshot = self._scan()
            return self._snapshot

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

    def __iter__(self) -> Any:
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

        return find_context_files(self.profile.context, self.find_places(), self._files)

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
        from prowess.gate.permissions import section_removed
        from prowess.present.offer import offer

        permissions = self._find_rules(self.snapshot.settings)
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

    def _scan(self) -> Snapshot:
        """Discover, read, resolve, gate: every candidate ends in one state."""
        profile = self.profile
        first = self.find_places()
        settings = load_settings(profile, first, self.facts, self._files)
        places = _with_settings(first, settings)
        roots = self._given_roots
        if roots is None:
            roots = plan_roots(profile, places, settings, self.facts, bare=self._bare)
        cache = self._open_cache()
        found = discover(
            roots,
            places=places,
            settings=settings,
            limits=profile.limits,
            files=cache,
            clock=time.monotonic,
            reporter=self._reporter,
        )
        reads = self._read_all(found.candidates, cache, settings)
        resolved = self._resolve(found.candidates, reads, settings)
        _rename(reads, resolved.names)
        outcomes = self._conclude(found.candidates, reads, resolved, settings)
        cache.save()
        if self._on_event is not None:
            from prowess.resolve.events import find_events

            for event in find_events(outcomes, resolved.collisions, published=profile.resolution.collisions):
                self._on_event(event)
        return Snapshot(
            host=profile.name,
            edition=profile.edition,
            cwd=self.cwd,
            repository=places.repository,
            settings=settings,
            roots=tuple(roots),
            outcomes=outcomes,
            listed=frozenset(profile.resolution.listed),
            diagnostics=settings.diagnostics + found.diagnostics,
        )

    def _open_cache(self) -> ScanCache[Parsed]:
        path = None
        key = ""
        if self._use_cache:
            rules = msgspec.msgpack.encode(self.profile).hex()
            key = f"{code_stamp(_PARSE_FOLDER)}\0{self.cwd}\0{self.host}\0{rules}"
            path = cache_path(cache_folder(self.facts), f"{self.cwd}\0{self.host}")
        return ScanCache(self._files, path, key=key, reading_type=Parsed)

    def _read_all(self, candidates: Sequence[Candidate], cache: ScanCache[Parsed], settings: Settings) -> list[Read]:
        limits = self.profile.limits
        reader = Reader(
            files=cache,
            readings=cache,
            header=self.profile.header,
            fields=self.profile.fields,
            limits=msgspec.structs.replace(limits, **settings.limits) if settings.limits else limits,
            document=partial(_load_document, self._files, self.profile.header),
        )
        reads = []
        for done, candidate in enumerate(candidates):
            reads.append(reader.read(candidate))
            if self._reporter is not None and done % 500 == 0:
                self._reporter.progress("reading skills", done)
        return reads

    def _resolve(self, candidates: Sequence[Candidate], reads: Sequence[Read], settings: Settings) -> Resolved:
        claims = [
            Claim(place, read.name, candidate, read.skill.manifest)
            for place, (candidate, read) in enumerate(zip(candidates, reads, strict=True))
            if read.skill is not None
        ]
        return resolve(claims, rules=self.profile.resolution, settings=settings, gate=self.profile.gate)

    def _find_rules(self, settings: Settings) -> Rules | None:
        return find_rules(settings, self.profile.permissions, self.facts, agent=self._agent, given=self._rules)

    def _conclude(
        self, candidates: Sequence[Candidate], reads: Sequence[Read], resolved: Resolved, settings: Settings
    ) -> tuple[Outcome, ...]:
        collided: dict[int, tuple[Diagnostic, ...]] = {
            collision.loser.place: (collision.diagnose(),) for collision in resolved.collisions
        }
        permissions = self._find_rules(settings)
        outcomes = []
        for place, (candidate, read) in enumerate(zip(candidates, reads, strict=True)):
            notes = list(resolved.notes.get(place, ()))
            if read.note is not None:
                notes.append(read.note)
            if read.skill is not None:
                notes += gate_skill(
                    read.skill.manifest,
                    name=read.name,
                    rules=self.profile.gate,
                    facts=self.facts,
                    settings=settings,
                    hidden_because=read.hidden_because,
                    permissions=permissions,
                )
            found = read.diagnostics + collided.get(place, ())
            outcomes.append(Outcome.conclude(candidate, read.name, read.skill, notes, found))
        outcomes.sort(key=lambda outcome: (outcome.name.casefold(), outcome.name, STATE_ORDER[outcome.state] * -1))
        return tuple(outcomes)


def _load_document(files: FileSystem, header: Header, skill: Skill) -> Document:
    """The whole of a skill's file. It holds no reference to the scan, so that snapshots can be let go."""
    return read_document(files.read_head(skill.location, _MOST_BYTES).data, header)


def _rename(reads: list[Read], names: Mapping[int, str]) -> None:
    """Give the skills the names that resolution found for them."""
    for place, name in names.items():
        skill = reads[place].skill
        if skill is not None:
            reads[place] = msgspec.structs.replace(
                reads[place], name=name, skill=msgspec.structs.replace(skill, name=name)
            )


def _with_settings(places: Places, settings: Settings) -> Places:
    """The places with the folders that settings name."""
    named = dict(places.named)
    if settings.workspace is not None:
        named["workspace"] = expand_user_path(settings.workspace, base=places.cwd, places=places)
    return msgspec.structs.replace(places, named=named, custom=settings.custom_folders, plugin=settings.plugin_folders)


_PARSE_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parse")
