"""A working folder as one host sees it: its scans, catalogs, rules and trust. It keeps no
snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Unpack

from prowess.discover.changes import ChangeCheck
from prowess.machine.garbage import pause_collection
from prowess.model.facts import Facts
from prowess.model.files import Stamp
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.parse.candidates import Parsed
from prowess.ports import FileSystem, SkillSource
from prowess.profiles.places import Places
from prowess.profiles.schema.profile import Profile
from prowess.project.catalogs import CatalogMaker
from prowess.project.host_view import HostView
from prowess.project.options import CatalogOptions, Options
from prowess.project.registered import Registered
from prowess.project.scan_plan import ScanPlan, ScanPlanner
from prowess.project.snapshot_memo import SnapshotMemo
from prowess.project.usage import ProjectUsage
from prowess.resolve.resolution import Collision
from prowess.state.cache import ScanCache
from prowess.telemetry import observe

if TYPE_CHECKING:
    from prowess.gate.permissions import AgentRules
    from prowess.model.catalog import Catalog
    from prowess.model.plugin import Plugin
    from prowess.model.usage import Uses
    from prowess.ports import TrustPolicy, UsageStore
    from prowess.project.opened_with import OpenedWith


class Project:
    """One working folder and one host.

    `is_watched` says whether changes on disk are looked for, and `seconds` after what time all is
    read anew. `filtered` keeps what conversations of some agents see of a snapshot.
    """

    def __init__(self, view: HostView, **options: Unpack[Options]) -> None:
        self.view = view
        self._options = options
        self.registered = Registered()
        self.filtered = SnapshotMemo[Snapshot](most=256)
        self._trust = options.get("trust")
        self._catalogs = CatalogMaker(view)
        self._usage = ProjectUsage(view, counts=options.get("usage", False))
        self._planner = ScanPlanner(view, self.registered, self.open_trust, **options)
        self._earlier: ScanCache[Parsed] | None = None
        refresh = options.get("refresh", "auto")
        self.is_watched = refresh == "auto"
        self.seconds = None if isinstance(refresh, str) else float(refresh)
        if view.composition is not None:
            self.is_watched = view.composition.has_watched
            self.seconds = view.composition.seconds

    @property
    def opened_with(self) -> OpenedWith | None:
        """The options that another process needs to find the same skills.

        None if that is not possible: what a program trusts, and roots of its own, only it knows.
        """
        from prowess.project.opened_with import OpenedWith

        is_own = self._trust is not None or self._options.get("roots") is not None
        return None if is_own else OpenedWith.of(self._options)

    @property
    def cwd(self) -> str:
        """The working folder, as an absolute path."""
        return self.view.cwd

    @property
    def host(self) -> str:
        """The name of the host, with its edition if one was named."""
        return self.view.host

    @property
    def profile(self) -> Profile:
        """The rules of the host."""
        return self.view.profile

    @property
    def facts(self) -> Facts:
        """What is known of the machine and its user."""
        return self.view.facts

    @property
    def files(self) -> FileSystem:
        """The files that the project can see."""
        return self.view.files

    @property
    def sources(self) -> tuple[SkillSource, ...]:
        """What yields skills beside the host's own folders."""
        return self._planner.sources

    def search_only(self, roots: Sequence[Root]) -> None:
        """Search these folders from now on, and none that the profile names."""
        self._planner.roots = roots

    def find_places(self) -> Places:
        """The folders that the profile's templates name, before any setting is read."""
        return self.view.find_places()

    def load_settings(self) -> Settings:
        """The settings of the host that apply here, each with the file it came from."""
        return self.view.load_settings()

    def load_own_settings(self) -> Settings:
        """Prowess's own settings, which decide what is its own, whichever host it answers as."""
        return self.view.load_own_settings()

    def load_plugins(self, *, packages: bool = True) -> tuple[Plugin, ...]:
        """Every plugin of the host, on or off; with installed `packages` that nobody turned on."""
        return self._planner.load_plugins(packages=packages)

    def scan(
        self, nested: Sequence[Root] = (), *, keep: Callable[[Skill], bool] | None = None
    ) -> tuple[Snapshot, tuple[Collision, ...]]:
        """What is here now, and the collisions that the host may report.

        `nested` are roots that a conversation found below the working folder. What `keep` refuses
        takes no part.
        """
        with self._pause_collection():
            return self._run(self._planner.plan(nested, keep=keep, earlier=self._earlier))

    def scan_watched(self) -> tuple[Snapshot, tuple[Collision, ...], ChangeCheck]:
        """As `scan`, with a check that tells whether anything has changed since."""
        with self._pause_collection():
            plan = self._planner.plan(earlier=self._earlier, remember=True)
            snapshot, collisions = self._run(plan)
        self._earlier = plan.scan.cache
        self._earlier.forget_earlier()
        return snapshot, collisions, self._watch(plan, snapshot)

    def _pause_collection(self) -> AbstractContextManager[None]:
        # Other sources may wait for a server, and other threads need the collector meanwhile.
        return pause_collection() if self._planner.has_only_folders else nullcontext()

    def _run(self, plan: ScanPlan) -> tuple[Snapshot, tuple[Collision, ...]]:
        scan = plan.scan
        with observe("scan", host=self.profile.name) as seen:
            snapshot, collisions = scan.run()
            scan.cache.save()
            if seen:
                seen.note(candidates=len(snapshot.outcomes), skills=len(snapshot.skills))
        return snapshot, collisions

    def _watch(self, plan: ScanPlan, snapshot: Snapshot) -> ChangeCheck:
        """What to look at: the roots, the folders below them, the skills and the settings."""
        cache = plan.scan.cache
        roots = [root.path for root in snapshot.roots]
        composition = self.view.composition
        if composition is not None:
            roots = [path for path in roots if composition.is_watched(path)]
        watched = (*roots, *snapshot.settings.files, *plan.plugin_files)
        stamps = {path: cache.find_seen_stamp(path) for path in watched}
        return ChangeCheck(self.files, stamps, partial(self._list_watched, cache, snapshot))

    def _list_watched(
        self, cache: ScanCache[Parsed], snapshot: Snapshot
    ) -> Mapping[str, Stamp | None]:
        """The folders that were listed and the skills, with the stamps they had."""
        stamps = cache.list_seen_stamps()
        for outcome in snapshot.outcomes:
            skill = outcome.skill
            if skill is None or skill.stamp is None:
                continue
            stamps[skill.location] = skill.stamp
            if outcome.candidate.root.leaf:
                # Nothing else in its folder can become a skill.
                stamps.pop(skill.folder, None)
        composition = self.view.composition
        if composition is None:
            return stamps
        return {path: stamp for path, stamp in stamps.items() if composition.is_watched(path)}

    def offer(
        self,
        snapshot: Snapshot,
        *,
        uses: Uses = frozenset(),
        **options: Unpack[CatalogOptions],
    ) -> Catalog:
        """The catalog of a snapshot, within the host's budget."""
        return self._catalogs.offer(snapshot, uses=uses, **options)

    def open_usage(self) -> UsageStore:
        """How often skills were offered and used on this machine."""
        return self._usage.open()

    def load_uses(self, snapshot: Snapshot) -> Uses:
        """How often the ready skills of a snapshot were used; nothing where that is not counted."""
        return self._usage.load_uses(snapshot)

    def open_trust(self) -> TrustPolicy:
        """Which skills may run commands: what the program says, or else what the user trusts."""
        from prowess.state.trust import GivenTrust, TrustFile

        trust = self._trust
        if callable(trust):
            return GivenTrust(trust)
        if trust is not None:
            return GivenTrust(lambda skill: trust, trusts_project=trust)
        if self.view.composition is not None:
            return GivenTrust(self.view.composition.is_trusted)
        return TrustFile.of(self.facts, cwd=self.cwd)

    @property
    def given_rules(self) -> tuple[Rule, ...]:
        """The rules that came with the request, such as those of the command line."""
        return self.view.rules

    def add_rules(self, rules: Iterable[Rule]) -> None:
        """Give more rules, as those of the command line are given. They count at once for tools,
        and for skills from the next scan on.
        """
        self.view.rules = (*self.view.rules, *rules)

    def gather_rules(self, settings: Settings) -> AgentRules:
        """The permission rules that hold for the agent."""
        from prowess.gate.permissions import gather_rules

        view = self.view
        return gather_rules(
            settings, view.profile.permissions, view.facts, agent=view.agent, given=view.rules
        )

    def unpack(self, skill: Skill) -> str:
        """The folder of a skill, for programs: one in memory is unpacked, anew when it changes.

        Raises `MachineError`.
        """
        return self.registered.unpack(skill, self.files)

    def close(self) -> None:
        """Remove what was unpacked, close what is open, and forget what was read."""
        self._earlier = None
        self._usage.close()
        for source in self.sources:
            getattr(source, "close", lambda: None)()
        self.registered.close()
