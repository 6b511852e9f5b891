"""A claim: a candidate that was read and stands for a name."""

from __future__ import annotations

import msgspec

from prowess.model.skill import Candidate, Manifest, Scope


class Claim(msgspec.Struct, frozen=True, gc=False):
    """What resolution needs of a candidate. `place` is its number in the order of discovery."""

    place: int
    name: str
    candidate: Candidate
    manifest: Manifest

    @property
    def key(self) -> str:
        """The name under which settings speak of this skill."""
        return self.manifest.skill_key or self.name

    @property
    def is_bundled(self) -> bool:
        """Whether the skill ships with the host."""
        return self.candidate.root.scope is Scope.BUNDLED
