"""What `prowess import` takes over from other installers, as a value that is shown before."""

from __future__ import annotations

from typing import Any

import msgspec

# Not every installer records digests, so sometimes nobody can say whether files were changed.
UNCHANGED = "unchanged"
CHANGED = "changed"
UNKNOWN = "unknown"


class AdoptedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that another installer put there.

    `tool` is that installer, and `record` the file in which it says so. `links` are symlinks to one
    of the `folders`. `files` says whether they are as that installer wrote them: `unchanged`,
    `changed` or `unknown`. `upstream` is what the source has now: `same`, `different`, `gone`,
    `failed` where it could not be asked, for which `problem` says why, or `not-asked`. `pinned` is
    the reason not to update it.
    """

    name: str
    tool: str
    record: str
    source: str
    ref: str
    path: str
    resolved: str
    tree: str
    folders: tuple[str, ...]
    links: tuple[str, ...] = ()
    files: str = UNKNOWN
    upstream: str = "not-asked"
    problem: str = ""
    pinned: str | None = None

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shape: dict[str, Any] = msgspec.to_builtins(self)
        return shape


class NotAdopted(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that stays as it is, and why: a record without a folder has no `folder`."""

    name: str
    tool: str
    record: str
    folder: str | None
    reason: str


class Adoption(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that other installers left.

    `left_out` cannot be taken over, `missing` are records without a folder, `unrecorded` are
    folders of skills that no installer recorded, and `unusable` are lock files with the reason why
    they are ignored. `known` counts the folders that prowess.lock has already.
    """

    scope: str
    lock: str
    skills: tuple[AdoptedSkill, ...] = ()
    left_out: tuple[NotAdopted, ...] = ()
    missing: tuple[NotAdopted, ...] = ()
    unrecorded: tuple[str, ...] = ()
    unusable: tuple[tuple[str, str], ...] = ()
    known: int = 0

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "scope": self.scope,
            "lock": self.lock,
            "skills": [one.shape() for one in self.skills],
            "left_out": msgspec.to_builtins(self.left_out),
            "missing": msgspec.to_builtins(self.missing),
            "unrecorded": list(self.unrecorded),
            "unusable": [{"file": file, "reason": why} for file, why in self.unusable],
            "known": self.known,
        }
