"""The skills as one conversation sees them now: the latest scan, with what woke awake."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from prowess.activate.resources.file_sample import IgnoredAbove
from prowess.activate.slash.commands import CommandIndex, build_commands
from prowess.conversation.dormant import DormantSkills
from prowess.conversation.services import Services
from prowess.conversation.skill_filter import drop_outcomes
from prowess.gate.permissions import AgentRules
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Caller

_READABLE = (State.READY, State.HIDDEN, State.DORMANT)


class SnapshotView:
    """One snapshot, and what a conversation derives from it, each when it is first needed."""

    def __init__(self, snapshot: Snapshot, services: Services) -> None:
        self.snapshot = snapshot
        self.settings = snapshot.settings
        self.ignored_above: IgnoredAbove = {}
        self._services = services

    @cached_property
    def rules(self) -> AgentRules:
        """The permission rules that apply to the agent."""
        return self._services.project.gather_rules(self.settings)

    @cached_property
    def own_settings(self) -> Settings:
        """Prowess's own settings, whichever host it answers as."""
        return self._services.project.load_own_settings()

    @cached_property
    def commands(self) -> CommandIndex:
        """What the user can type."""
        services = self._services
        return build_commands(self.snapshot, services.profile.commands, taken=services.taken)

    @cached_property
    def readable(self) -> dict[str, Skill]:
        """The skills whose files may be read through `skill://` addresses, by name."""
        return {
            outcome.name: outcome.skill
            for outcome in self.snapshot.outcomes
            if outcome.state in _READABLE and outcome.skill is not None
        }

    def list_usable(self, by: Caller) -> list[str]:
        """The names that may be shown to a caller who mistyped one."""
        states = (State.READY,) if by == "model" else _READABLE
        return [outcome.name for outcome in self.snapshot.outcomes if outcome.state in states]

    def find_claim(self, name: str, location: str) -> Outcome | None:
        """The outcome of the file that claimed a name."""
        for outcome in self.snapshot.outcomes:
            if outcome.name == name and outcome.candidate.location == location:
                return outcome
        return None

    def is_trusted(self, settings: Settings) -> bool:
        """Whether the user wrote, or trusts, every file that these settings come from."""
        services = self._services
        return not settings.project_files or services.trust.is_trusted_folder(services.cwd)


class _LatestView(NamedTuple):
    """The view that was made last, the scan it is made of, and the count of changes then."""

    scanned: Snapshot
    changes: int
    view: SnapshotView


class CurrentSkills:
    """The latest scan as a conversation sees it, for several threads.

    `awake` are the files of skills that woke earlier, and `folders` those below the working folder
    in which skills were found, as a saved conversation keeps them.
    """

    def __init__(
        self, services: Services, *, awake: Iterable[str] = (), folders: Iterable[str] = ()
    ) -> None:
        self._services = services
        self._keep = None if services.chosen is None else services.chosen.allows
        self._lock = threading.RLock()
        self._chosen: tuple[Snapshot, Snapshot] | None = None
        self._latest: _LatestView | None = None
        # Counts what may have woken skills.
        self._changes = 0
        # Most conversations wake nothing, and then the scan is what they see.
        self._dormant: DormantSkills | None = None
        if awake or folders:
            self._dormant = DormantSkills(
                services.project, awake=awake, folders=folders, keep=self._keep
            )

    @property
    def view(self) -> SnapshotView:
        """The current snapshot and what is derived from it."""
        # Read before the rest: what wakes meanwhile makes this view stale, not wrong.
        scanned, changes = self._services.scanner.snapshot, self._changes
        snapshot = self._choose_from(scanned)
        if self._dormant is not None:
            with self._lock:
                snapshot = self._dormant.wake_in(snapshot)
        latest = self._latest
        view = None if latest is None else latest.view
        if view is None or view.snapshot is not snapshot:
            view = SnapshotView(snapshot, self._services)
        self._latest = _LatestView(scanned, changes, view)
        return view

    def find_fresh(self) -> Snapshot | None:
        """The current snapshot, if nothing has to be read or scanned for it."""
        scanned, latest = self._services.scanner.find_fresh(), self._latest
        if scanned is None or latest is None:
            return None
        is_current = latest.scanned is scanned and latest.changes == self._changes
        return latest.view.snapshot if is_current else None

    def _find_base(self) -> Snapshot:
        """The latest scan, with the skills that this conversation has."""
        return self._choose_from(self._services.scanner.snapshot)

    def _choose_from(self, snapshot: Snapshot) -> Snapshot:
        services, chosen = self._services, self._services.chosen
        if chosen is None:
            return snapshot

        def choose() -> Snapshot:
            # Dropping what was found is fast; scanning anew gives names out again.
            dropped = drop_outcomes(snapshot, chosen)
            return dropped or services.project.scan(keep=chosen.allows)[0]

        kept = self._chosen
        if kept is None or kept[0] is not snapshot:
            found = services.project.filtered.get(snapshot, chosen.key, choose)
            # Kept here as well: the project keeps only the latest few hundred.
            kept = self._chosen = (snapshot, found)
        return kept[1]

    @property
    def awake(self) -> frozenset[str]:
        """The files of the skills that woke."""
        with self._lock:
            return self._dormant.awake if self._dormant is not None else frozenset()

    @property
    def folders(self) -> frozenset[str]:
        """The folders below the working folder in which skills were found."""
        with self._lock:
            return self._dormant.folders if self._dormant is not None else frozenset()

    def touch(self, path: str) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke."""
        with self._lock:
            if self._dormant is None:
                self._dormant = DormantSkills(self._services.project, keep=self._keep)
            self._changes += 1
            return self._dormant.touch(path, self._find_base())

    def add(self, *, awake: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
        """What woke and was found elsewhere is awake and known here, too."""
        with self._lock:
            new_awake = frozenset(awake) - self.awake
            new_folders = frozenset(folders) - self.folders
            if not new_awake and not new_folders:
                return
            if self._dormant is None:
                self._dormant = DormantSkills(self._services.project, keep=self._keep)
            self._changes += 1
            self._dormant.add(awake=new_awake, folders=new_folders)

    def refresh(self, *skills: Skill | None) -> bool:
        """Scan again if the file of one of these skills has changed since; whether it has."""
        if not any(self._is_stale(skill) for skill in skills if skill is not None):
            return False
        self._services.scanner.reload()
        return True

    def _is_stale(self, skill: Skill) -> bool:
        if skill.stamp is None:
            return False
        try:
            return self._services.files.get_stamp(skill.location) != skill.stamp
        except OSError:
            # The file is gone. Where changes are not looked for, reading it will say so.
            return self._services.project.is_watched
