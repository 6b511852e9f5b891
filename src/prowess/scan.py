"""One scan: discover, read, resolve, gate. The one module that knows the order of the stages."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.discovery import discover
from prowess.discover.roots import plan_roots
from prowess.errors import MachineError
from prowess.gate.gate import find_rules, gate_skill
from prowess.model.facts import Facts
from prowess.model.outcome import STATE_ORDER, Note, Outcome
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, Document, Root, Skill
from prowess.model.snapshot import Snapshot
from prowess.parse.candidates import MOST_BYTES, Parsed, Read, Reader, read_document
from prowess.ports import FileSystem, Reporter
from prowess.profiles.places import Places, expand_user_path
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import Limits
from prowess.resolve.claims import Claim
from prowess.resolve.resolution import Collision, Resolved, resolve
from prowess.state.cache import ScanCache


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """All that a scan needs, as values and ports.

    `roots` replace those of the profile, `further` are searched after them. `defined` are skills
    that lie nowhere, with the note that keeps one away where there is any.
    """

    profile: Profile
    places: Places
    settings: Settings
    facts: Facts
    cache: ScanCache[Parsed]
    files: FileSystem
    bare: bool = False
    agent: str | None = None
    rules: tuple[Rule, ...] = ()
    roots: Sequence[Root] | None = None
    further: Sequence[Root] = ()
    defined: Sequence[tuple[Candidate, Skill, Note | None]] = ()
    reporter: Reporter | None = None

    def run(self) -> tuple[Snapshot, tuple[Collision, ...]]:
        """Every candidate's end, and the collisions that the host may speak of."""
        profile, settings = self.profile, self.settings
        places = _with_settings(self.places, settings)
        roots = self.roots
        if roots is None:
            roots = plan_roots(profile, places, settings, self.facts, bare=self.bare)
        roots = (*roots, *self.further)
        found = discover(
            roots,
            places=places,
            settings=settings,
            limits=profile.limits,
            files=self.cache,
            clock=time.monotonic,
            reporter=self.reporter,
        )
        candidates, reads = self._add_defined(found.candidates, self._read_all(found.candidates))
        resolved = self._resolve(candidates, reads)
        _rename(reads, resolved.names)
        outcomes = self._conclude(candidates, reads, resolved)
        snapshot = Snapshot(
            host=profile.name,
            edition=profile.edition,
            cwd=places.cwd,
            repository=places.repository,
            settings=settings,
            roots=roots,
            outcomes=outcomes,
            listed=frozenset(profile.resolution.listed),
            diagnostics=settings.diagnostics + self._find_ignored() + found.diagnostics,
        )
        return snapshot, resolved.collisions

    def _find_ignored(self) -> tuple[Diagnostic, ...]:
        """Whether folders were added for a host that has no such roots."""
        profile, added = self.profile, self.places.added
        if not added or self.roots is not None:
            return ()
        planned = [
            id for named in profile.order for id in ((named,) if isinstance(named, str) else named)
        ]
        if any("{added}" in template for id in planned for template in profile.roots[id].at):
            return ()
        message = (
            f"{profile.title or profile.name} has no added folders, so `--add-dir` has no effect."
        )
        return (diagnose("option-ignored", message, file=added[0], related=added[1:]),)

    def _read_all(self, candidates: Sequence[Candidate]) -> list[Read]:
        limits = effective_limits(self.profile.limits, self.settings)
        reader = Reader(
            files=self.cache,
            readings=self.cache,
            header=self.profile.header,
            fields=self.profile.fields,
            limits=limits,
            document=partial(
                load_document,
                self.files,
                self.profile.header,
                min(limits.file_bytes or MOST_BYTES, MOST_BYTES),
            ),
        )
        reads = []
        for done, candidate in enumerate(candidates):
            reads.append(reader.read(candidate))
            if self.reporter is not None and done % 500 == 0:
                self.reporter.progress("reading skills", done)
        return reads

    def _add_defined(
        self, candidates: Sequence[Candidate], reads: list[Read]
    ) -> tuple[Sequence[Candidate], list[Read]]:
        """What was found with what is defined in code, at the end of the order where that is the
        weakest.
        """
        if not self.defined:
            return candidates, reads
        defined = [candidate for candidate, _, _ in self.defined]
        read = [Read(skill.name, skill, note) for _, skill, note in self.defined]
        if self.profile.resolution.strategy == "last":
            return (*defined, *candidates), [*read, *reads]
        return (*candidates, *defined), [*reads, *read]

    def _resolve(self, candidates: Sequence[Candidate], reads: Sequence[Read]) -> Resolved:
        claims = [
            Claim(place, read.name, candidate, read.skill.declared)
            for place, (candidate, read) in enumerate(zip(candidates, reads, strict=True))
            # What is defined in code and not available now is not there for the others.
            if read.skill is not None and read.note is None
        ]
        return resolve(
            claims, rules=self.profile.resolution, settings=self.settings, gate=self.profile.gate
        )

    def _conclude(
        self, candidates: Sequence[Candidate], reads: Sequence[Read], resolved: Resolved
    ) -> tuple[Outcome, ...]:
        collided: dict[int, tuple[Diagnostic, ...]] = {
            collision.loser.place: (collision.diagnose(),) for collision in resolved.collisions
        }
        permissions = find_rules(
            self.settings, self.profile.permissions, self.facts, agent=self.agent, given=self.rules
        )
        outcomes = []
        for place, (candidate, read) in enumerate(zip(candidates, reads, strict=True)):
            notes = list(resolved.notes.get(place, ()))
            if read.note is not None:
                notes.append(read.note)
            if read.skill is not None:
                notes += gate_skill(
                    read.skill.declared,
                    name=read.name,
                    rules=self.profile.gate,
                    facts=self.facts,
                    settings=self.settings,
                    hidden_because=read.hidden_because,
                    permissions=permissions,
                )
            found = read.diagnostics + collided.get(place, ())
            outcomes.append(Outcome.conclude(candidate, read.name, read.skill, notes, found))
        outcomes.sort(
            key=lambda outcome: (outcome.name.casefold(), outcome.name, -STATE_ORDER[outcome.state])
        )
        return tuple(outcomes)


def effective_limits(limits: Limits, settings: Settings) -> Limits:
    """The profile's limits with what the settings change."""
    return limits.change(settings.limits) if settings.limits else limits


def load_document(files: FileSystem, header: HeaderRules, most: int, skill: Skill) -> Document:
    """The whole of a skill's file. It holds no reference to the scan, so that snapshots can be let
    go.

    A file that became a link since, or lies behind one, was never judged: it is not read. Neither
    is one of more bytes than `most`, since a part of it could mean something else.
    """
    real = files.find_real_path(skill.location)
    if None not in (skill.real, real) and skill.real != real:
        cause = (
            f"it was {skill.real} when skills were looked for and leads to {real} now; look for"
            " skills again"
        )
        raise MachineError("read", skill.location, cause)
    try:
        head = files.read_head(real or skill.location, most)
    except OSError as error:
        raise MachineError("read", skill.location, error.strerror or str(error)) from error
    if head.size > most:
        raise MachineError(
            "read", skill.location, f"it has {head.size:,} bytes; at most {most:,} are read"
        )
    return read_document(head.data, header)


def _rename(reads: list[Read], names: Mapping[int, str]) -> None:
    """Give the skills the names that resolution found for them."""
    for place, name in names.items():
        skill = reads[place].skill
        if skill is not None:
            renamed = msgspec.structs.replace(skill, name=name)
            reads[place] = msgspec.structs.replace(reads[place], name=name, skill=renamed)


def _with_settings(places: Places, settings: Settings) -> Places:
    """The places with the folders that settings name."""
    named = dict(places.named)
    if settings.workspace is not None:
        named["workspace"] = expand_user_path(settings.workspace, base=places.cwd, places=places)
    return msgspec.structs.replace(
        places, named=named, custom=settings.custom_folders, plugin=settings.plugin_folders
    )
