"""Skills that wake in a conversation, and folders of skills found beside a touched file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import msgspec

from prowess.activate.dormant.conditions import ConditionIndex, WatchState, find_conditions, wake
from prowess.activate.dormant.nested_roots import NestedRoot, find_nested_roots
from prowess.discover.roots import make_root
from prowess.model.outcome import State
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.places import Place
from prowess.profiles.schema.profile import Profile
from prowess.project.project import Project


class DormantSkills:
    """What the files that a conversation touched brought up. It is not safe for several threads.

    `awake` are the files of skills that woke earlier, and `folders` those below the working folder
    in which skills were found, as a saved conversation keeps them. Only skills that `keep` accepts
    are in it.
    """

    def __init__(
        self,
        project: Project,
        *,
        awake: Iterable[str] = (),
        folders: Iterable[str] = (),
        keep: Callable[[Skill], bool] | None = None,
    ) -> None:
        self._project = project
        self._keep = keep
        self._watch = WatchState(frozenset(awake))
        self._saved_folders = tuple(folders)
        self._nested: tuple[Root, ...] = ()
        self._scanned: tuple[Snapshot, _ScannedSkills] | None = None
        self._woken: tuple[Snapshot, WatchState, Snapshot] | None = None

    @property
    def awake(self) -> frozenset[str]:
        """The files of the skills that woke."""
        return self._watch.awake

    @property
    def folders(self) -> frozenset[str]:
        """The folders below the working folder in which skills were found."""
        found = (root.within for root in self._nested if root.within is not None)
        return frozenset((*self._saved_folders, *found))

    def wake_in(self, base: Snapshot) -> Snapshot:
        """A scan as the conversation sees it: with nested skills, and what woke is awake."""
        return self._wake(self._scan(base))

    def touch(self, path: str, base: Snapshot) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke or were found, by name."""
        project = self._project
        before = self._scan(base)
        has_new = self._find_nested(path, base)
        scanned = self._scan(base)
        woken = wake(
            self._watch,
            scanned.conditions,
            path,
            cwd=project.cwd,
            platform=project.facts.platform,
        )
        self._watch = woken.watch
        changed = {condition.location for condition in woken.conditions}
        if has_new:
            changed |= scanned.positions.keys() - before.positions.keys()
        if not changed:
            return ()
        outcomes = self._wake(scanned).outcomes
        positions = sorted(scanned.positions[location] for location in changed)
        ready = [outcomes[at] for at in positions if outcomes[at].state is State.READY]
        return tuple(outcome.skill for outcome in ready if outcome.skill is not None)

    def add(self, *, awake: Iterable[str], folders: Iterable[str]) -> None:
        """Files of skills that woke elsewhere, and folders in which skills were found."""
        self._watch = msgspec.structs.replace(self._watch, awake=self._watch.awake.union(awake))
        self._saved_folders += tuple(folders)

    def _wake(self, scanned: _ScannedSkills) -> Snapshot:
        """The snapshot with what woke awake, made once for each watch."""
        snapshot, watch = scanned.snapshot, self._watch
        if not watch.awake:
            return snapshot
        if self._woken is not None and self._woken[:2] == (snapshot, watch):
            return self._woken[2]
        outcomes = list(snapshot.outcomes)
        for location in watch.awake & scanned.positions.keys():
            at = scanned.positions[location]
            awake, loser = outcomes[at].wake()
            outcomes[at] = awake
            if loser is not None and loser in scanned.positions:
                taken = scanned.positions[loser]
                outcomes[taken] = outcomes[taken].shadow(awake)
        woken = msgspec.structs.replace(snapshot, outcomes=tuple(outcomes))
        self._woken = (snapshot, watch, woken)
        return woken

    def _scan(self, base: Snapshot) -> _ScannedSkills:
        """What the base snapshot and the nested folders hold, scanned once for each base."""
        if self._saved_folders:
            # A resumed conversation knows the folders that its earlier part found. They are judged
            # again, because the project may have changed.
            saved, self._saved_folders = self._saved_folders, ()
            for folder in saved:
                self._find_nested(f"{folder}/SKILL.md", base)
        if self._scanned is None or self._scanned[0] is not base:
            snapshot = base
            if self._nested:
                snapshot = self._project.scan(self._nested, keep=self._keep)[0]
            self._scanned = (base, _ScannedSkills(snapshot, self._project.profile))
        return self._scanned[1]

    def _find_nested(self, path: str, base: Snapshot) -> bool:
        """Whether folders of skills were found on the way to a file that were not known before."""
        project, profile = self._project, self._project.profile
        rules = profile.conditions
        if not rules.below:
            return False
        found = find_nested_roots(
            path,
            project.cwd,
            rules={id: profile.roots[id] for id in rules.below},
            watch=self._watch,
            files=project.files,
            repository=base.repository,
            platform=project.facts.platform,
            skip_names=rules.below_skips,
        )
        self._watch = found.watch
        if not found.roots:
            return False
        known = {root.path for root in (*base.roots, *self._nested)}
        first = len(base.roots) + len(self._nested)
        new = tuple(self._make_root(root, first) for root in found.roots if root.path not in known)
        if new:
            self._nested += new
            self._scanned = None
        return bool(new)

    def _make_root(self, nested: NestedRoot, order: int) -> Root:
        """The root of a nested folder; it comes after every root above the working folder."""
        profile = self._project.profile
        rule = profile.roots[nested.rule]
        root = make_root(nested.rule, rule, Place(nested.path, 0), template=nested.template)
        ignored = root.ignored_fields
        if not profile.conditions.below_waits:
            ignored += ("paths",)
        return msgspec.structs.replace(
            root,
            qualifier=nested.qualifier,
            within=nested.holder,
            ignored_fields=ignored,
            order=order,
        )


class _ScannedSkills:
    """One snapshot, with what touching a file needs of it."""

    def __init__(self, snapshot: Snapshot, profile: Profile) -> None:
        self.snapshot = snapshot
        self._profile = profile

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each file's outcome."""
        outcomes = enumerate(self.snapshot.outcomes)
        return {outcome.candidate.location: position for position, outcome in outcomes}

    @cached_property
    def conditions(self) -> ConditionIndex:
        """What the dormant skills wait for."""
        dormant = [
            outcome.skill
            for outcome in self.snapshot.outcomes
            if outcome.skill is not None and outcome.asks_for(State.DORMANT)
        ]
        gate, rules = self._profile.gate, self._profile.conditions
        conditions = find_conditions(dormant, gate.dormant_by, unconditional=gate.unconditional)
        return ConditionIndex(
            conditions, most_patterns=rules.most_patterns, ignore_case=rules.ignore_case
        )
