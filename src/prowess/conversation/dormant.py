"""What woke in a conversation: skills that waited for a file, and folders of skills found beside
one.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prowess.activate.dormant.conditions import Conditions, Watch, find_conditions, wake
from prowess.activate.dormant.nested_roots import FolderBelow, find_folders_below
from prowess.conversation.services import Ground
from prowess.diagnostics import Diagnostic
from prowess.discover.roots import make_root
from prowess.model.outcome import State
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.places import Place


class Waking:
    """The files that a conversation touched, and the snapshot as it is after that.

    `awake` are the files of skills that woke earlier, `folders` those below the working folder that
    skills were found beside; both are what an earlier part of the conversation kept.
    """

    def __init__(
        self, ground: Ground, *, awake: Iterable[str] = (), folders: Iterable[str] = ()
    ) -> None:
        self._ground = ground
        self._watch = Watch(frozenset(awake))
        self._kept = tuple(folders)
        self._below: tuple[Root, ...] = ()
        self._scanned: tuple[Snapshot, Snapshot] | None = None
        self._known: tuple[Snapshot, Conditions] | None = None
        self._placed: tuple[Snapshot, dict[str, int]] | None = None
        self._shown: tuple[Snapshot, Watch, Snapshot] | None = None

    @property
    def awake(self) -> frozenset[str]:
        """The files of the skills that woke."""
        return self._watch.awake

    @property
    def folders(self) -> frozenset[str]:
        """The folders below the working folder that skills were found beside."""
        return frozenset(
            (*self._kept, *(root.within for root in self._below if root.within is not None))
        )

    @property
    def snapshot(self) -> Snapshot:
        """What there is, with what woke awake."""
        return self._wake_in(self._scan())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Patterns that skills wait for and that nothing can match."""
        return self._find_conditions(self._scan()).diagnostics

    def touch(self, path: str) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that this woke or brought to light, by
        name.
        """
        ground = self._ground
        before = self._scan()
        has_new = self._look_below(path)
        # Others may look for skills again at any time; from here on one snapshot counts.
        base = self._scan()
        conditions, places = self._find_conditions(base), self._find_places(base)
        woken = wake(self._watch, conditions, path, cwd=ground.cwd, platform=ground.facts.platform)
        self._watch = woken.watch
        found = {condition.location for condition in woken.conditions}
        if has_new:
            found |= places.keys() - {outcome.candidate.location for outcome in before.outcomes}
        if not found:
            return ()
        outcomes = self._wake_in(base).outcomes
        shown = [outcomes[place] for place in sorted(places[location] for location in found)]
        return tuple(
            one.skill for one in shown if one.state is State.READY and one.skill is not None
        )

    def _wake_in(self, base: Snapshot) -> Snapshot:
        """A snapshot with what woke awake, made once for each watch."""
        if not self._watch.awake:
            return base
        if self._shown is None or self._shown[0] is not base or self._shown[1] is not self._watch:
            outcomes = list(base.outcomes)
            places = self._find_places(base)
            for place in (places[location] for location in self._watch.awake if location in places):
                outcomes[place] = outcomes[place].without(State.DORMANT)
            self._shown = (
                base,
                self._watch,
                msgspec.structs.replace(base, outcomes=tuple(outcomes)),
            )
        return self._shown[2]

    def _scan(self) -> Snapshot:
        if self._kept:
            # A conversation that goes on knows the folders that its earlier part found; each is
            # judged anew.
            kept, self._kept = self._kept, ()
            for folder in kept:
                self._look_below(f"{folder}/SKILL.md")
        base = self._ground.snapshot
        if not self._below:
            return base
        if self._scanned is None or self._scanned[0] is not base:
            self._scanned = (base, self._ground.scan_with(self._below))
        return self._scanned[1]

    def _find_places(self, snapshot: Snapshot) -> dict[str, int]:
        """Where the outcome of each file stands, found once for each snapshot."""
        if self._placed is None or self._placed[0] is not snapshot:
            places = {one.candidate.location: place for place, one in enumerate(snapshot.outcomes)}
            self._placed = (snapshot, places)
        return self._placed[1]

    def _find_conditions(self, snapshot: Snapshot) -> Conditions:
        """What skills wait for, made ready once for each snapshot."""
        if self._known is None or self._known[0] is not snapshot:
            profile = self._ground.profile
            dormant = [
                outcome.skill
                for outcome in snapshot.outcomes
                if outcome.skill is not None and outcome.asks_for(State.DORMANT)
            ]
            conditions = find_conditions(dormant, profile.gate.dormant_by)
            self._known = (
                snapshot,
                Conditions(conditions, most_patterns=profile.conditions.most_patterns),
            )
        return self._known[1]

    def _look_below(self, path: str) -> bool:
        """Whether folders of skills were found on the way to a file that were not known before."""
        ground = self._ground
        rules = ground.profile.conditions
        if not rules.below:
            return False
        base = ground.snapshot
        found = find_folders_below(
            path,
            ground.cwd,
            rules={id: ground.profile.roots[id] for id in rules.below},
            watch=self._watch,
            files=ground.files,
            repository=base.repository,
            platform=ground.facts.platform,
            skip_names=rules.below_skips,
        )
        self._watch = found.watch
        if not found.folders:
            return False
        known = {root.path for root in (*base.roots, *self._below)}
        new = [self._make_root(one) for one in found.folders if one.path not in known]
        self._below += tuple(new)
        if new:
            self._scanned = None
        return bool(new)

    def _make_root(self, found: FolderBelow) -> Root:
        """The root of a folder below; it is farther from the working folder than any above it is
        near.
        """
        profile = self._ground.profile
        made = make_root(
            found.rule, profile.roots[found.rule], Place(found.path, 0), template=found.template
        )
        ignored = (
            made.ignored_fields
            if profile.conditions.below_waits
            else (*made.ignored_fields, "paths")
        )
        return msgspec.structs.replace(
            made,
            qualifier=found.qualifier,
            within=found.holder,
            ignored_fields=ignored,
            order=len(self._below),
        )
