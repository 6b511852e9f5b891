"""One scan: discover, read, resolve, gate. The one module that knows the order of the stages.

One `Claim` for each candidate travels through them, and ends as an `Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.gate.gate import SkillGate, find_rules
from prowess.model.facts import Facts
from prowess.model.outcome import Claim, Outcome
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.model.source_status import SourceStatus
from prowess.parse.candidates import CandidateReader, Parsed
from prowess.ports import (
    Discovered,
    FileSystem,
    Reporter,
    ScannedProject,
    Search,
    SkillSource,
)
from prowess.profiles.places import Places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.resolve.labels import drop_taken_labels
from prowess.resolve.resolution import Collision, resolve
from prowess.state.cache import ScanCache

_PROGRESS_STEP = 500
_get_name = attrgetter("name")
_get_rank = attrgetter("state.rank")


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """All that a scan needs, as values and ports.

    `sources` are asked in this order; slow ones begin before the first is asked. `limits` are the
    profile's, with the user's changes. What `keep` refuses, and what cannot be read while there is
    one, takes no part. `standard` are the rules for roots that are read strictly, if there may be
    any.
    """

    profile: Profile
    places: Places
    settings: Settings
    limits: ScanLimits
    facts: Facts
    sources: Sequence[SkillSource]
    cache: ScanCache[Parsed]
    files: FileSystem
    agent: str | None = None
    rules: tuple[Rule, ...] = ()
    reporter: Reporter | None = None
    project: ScannedProject | None = None
    keep: Callable[[Skill], bool] | None = None
    standard: Profile | None = None

    def run(self) -> tuple[Snapshot, tuple[Collision, ...]]:
        """How every candidate ends, and the collisions that the host may report."""
        profile, settings = self.profile, self.settings
        claims, found = self._ask_sources()
        diagnostics = list(found.diagnostics)
        if self.keep is not None:
            claims = [one for one in claims if one.skill is not None and self.keep(one.skill)]
            diagnostics = []
        collisions = resolve(claims, rules=profile.resolution, settings=settings, gate=profile.gate)
        drop_taken_labels(claims, profile.resolution)
        self._gate(claims)
        snapshot = Snapshot(
            host=profile.name,
            edition=profile.edition,
            cwd=self.places.cwd,
            repository=self.places.repository,
            settings=settings,
            roots=found.roots,
            outcomes=_conclude(claims),
            listed=frozenset(profile.resolution.listed),
            diagnostics=(*self.facts.diagnostics, *settings.diagnostics, *diagnostics),
            sources=found.statuses,
        )
        return snapshot, collisions

    def _ask_sources(self) -> tuple[list[Claim], Discovered]:
        """What every source found, read; and all else that they found, together."""
        search = Search(
            cwd=self.places.cwd,
            settings=self.settings,
            files=self.cache,
            reporter=self.reporter,
            project=self.project,
        )
        standard = self.standard
        reader = CandidateReader(
            files=self.cache,
            plain_files=self.files,
            readings=self.cache,
            header=self.profile.header,
            fields=self.profile.fields,
            limits=self.limits,
            standard=None if standard is None else (standard.header, standard.fields),
        )
        claims: list[Claim] = []
        roots: list[Root] = []
        diagnostics: list[Diagnostic] = []
        statuses: list[SourceStatus] = []
        for source in self.sources:
            # A `SlowSource`. To ask for the class, newer versions of Python import `inspect`.
            if hasattr(source, "begin"):
                source.begin(search)
        for source in self.sources:
            found = source.find(search)
            roots += found.roots
            diagnostics += found.diagnostics
            statuses += found.statuses
            read = source.read
            for candidate in found.candidates:
                if self.reporter is not None and len(claims) % _PROGRESS_STEP == 0:
                    self.reporter.progress("reading skills", len(claims))
                claims.append(read(candidate, reader))
        together = Discovered((), tuple(diagnostics), tuple(roots), tuple(statuses))
        return claims, together

    def _gate(self, claims: Iterable[Claim]) -> None:
        """Note what keeps each skill from being offered."""
        settings, facts = self.settings, self.facts
        permissions = find_rules(
            settings, self.profile.permissions, facts, agent=self.agent, given=self.rules
        )
        gate = SkillGate(self.profile.gate, facts=facts, settings=settings, permissions=permissions)
        find_notes = gate.find_notes
        for claim in claims:
            skill = claim.skill
            if skill is None:
                continue
            notes = find_notes(skill.declared, claim.name, hidden_because=claim.hidden_because)
            if notes or claim.later:
                claim.notes += (*claim.later, *notes)


def _conclude(claims: Iterable[Claim]) -> tuple[Outcome, ...]:
    """The outcomes in the order of names; of one name, the one that got farthest comes first."""
    outcomes = [claim.conclude() for claim in claims]
    # Three sorts, the weakest first: each keeps the order of the one before among equals. That is
    # faster than one that compares tuples, because most names are in order already.
    outcomes.sort(key=_get_rank, reverse=True)
    outcomes.sort(key=_get_name)
    outcomes.sort(key=lambda outcome: outcome.name.casefold())
    return tuple(outcomes)
