"""A source that someone else wrote: whatever it raises costs only its own skills."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from prowess.diagnostics import diagnose
from prowess.errors import MachineError, ProwessError
from prowess.model.outcome import Claim, Note, State
from prowess.model.skill import Candidate, Document, Skill, SkillCall
from prowess.model.source_status import SourceStatus
from prowess.ports import Discovered, ManifestReader, Search, SkillSource


class GuardedSource:
    """A `SkillSource` around another one, which turns its failures into diagnostics."""

    def __init__(self, source: SkillSource) -> None:
        self._source = source
        self.name = str(getattr(source, "name", type(source).__name__))
        self._failure: Exception | None = None

    def begin(self, search: Search) -> None:
        """Let the source begin, if it is one that can; a failure is reported by `find`."""
        self._failure = None
        try:
            if hasattr(self._source, "begin"):
                self._source.begin(search)
        except Exception as error:
            # Kept for `find`: a diagnostic has no other way out.
            self._failure = error

    def find(self, search: Search) -> Discovered:
        """What the source found; nothing, and a diagnostic, where it fails."""
        try:
            if self._failure is not None:
                raise self._failure
            found = self._source.find(search)
            candidates = tuple(map(_check_candidate, found.candidates))
            diagnostics, roots = tuple(found.diagnostics), tuple(found.roots)
            return Discovered(candidates, diagnostics, roots, tuple(found.statuses))
        except Exception as error:
            finding = diagnose("source-failed", f"{self._describe(error)}; its skills are missing.")
            status = SourceStatus(
                name=self.name, kind="other", location="", state="failed", diagnostics=(finding,)
            )
            return Discovered(diagnostics=(finding,), statuses=(status,))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """What the source says of a candidate; an invalid one, where it fails."""
        try:
            claim = self._source.read(candidate, reader)
            if claim.skill is not None:
                loader = partial(self._load, claim.skill.loader)
                claim.skill = msgspec.structs.replace(claim.skill, loader=loader)
            return claim
        except Exception as error:
            # Its other skills may still be readable.
            failure = self._describe(error)
            note = Note(State.INVALID, failure, rule="source-failed")
            finding = diagnose("source-failed", f"{failure}.", file=candidate.location)
            return Claim(candidate, candidate.default_name, None, [note], (finding,))

    def _load(
        self, load: Callable[[Skill, SkillCall], Document], skill: Skill, call: SkillCall
    ) -> Document:
        """Load a skill, and raise only what callers of `Skill.load` expect."""
        try:
            return load(skill, call)
        except ProwessError:
            raise
        except Exception as error:
            failure = self._describe(error)
            # The message goes on with it: “Could not read …: the source … failed”.
            cause = failure[0].lower() + failure[1:]
            raise MachineError("read", skill.location, cause) from error

    def _describe(self, error: Exception) -> str:
        cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return f"The source “{self.name}” failed ({cause})"


def _check_candidate(candidate: object) -> Candidate:
    if not isinstance(candidate, Candidate):
        raise TypeError(f"it returned {type(candidate).__name__}; it must return candidates")
    return candidate
