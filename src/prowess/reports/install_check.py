"""Whether installed skills are what the lock file says, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.model.tree import TreeChanges

OK = "ok"
MISSING = "missing"
OLDER = "older"
CHANGED = "changed"
UNKNOWN = "unknown"

_ADVICE = {
    MISSING: "Run `prowess sync` to restore it, or `prowess remove` to forget it.",
    OLDER: "An update did not finish; run `prowess sync`.",
    CHANGED: (
        "Run `prowess sync --theirs` to restore what was installed. `prowess update` keeps your"
        " changes with --ours or --merge."
    ),
    UNKNOWN: (
        "Install it with `prowess install`, or delete it. If the project's own skills are there,"
        " name the folder with --own."
    ),
}
# Only for what no update changes; what is outdated is updated without advice.
_VERSION_ADVICE = {
    "gone": "It stays installed; `prowess remove` removes it.",
    "renamed": "It stays as it is; install it under its new name and remove this one.",
}


class CheckedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of an installed skill and its state.

    `missing`: there is no folder. `older`: it is another version, which was installed before.
    `changed`: somebody edited it, as `changes` says. `unknown`: a skill that is not in the lock
    file.
    """

    name: str
    source: str
    folder: str
    state: str
    changes: TreeChanges = TreeChanges()

    @property
    def advice(self) -> str:
        """What to do about it."""
        return _ADVICE.get(self.state, "")

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shape: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "folder": self.folder,
            "state": self.state,
        }
        if self.changes:
            shape["changes"] = msgspec.to_builtins(self.changes)
        if self.advice:
            shape["advice"] = self.advice
        return shape


class InstallCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Every folder of every installed skill."""

    lock: str
    targets: tuple[CheckedTarget, ...]
    files: int = 0

    @property
    def problems(self) -> tuple[CheckedTarget, ...]:
        """The folders that are not as the lock file says."""
        return tuple(one for one in self.targets if one.state != OK)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "lock": self.lock,
            "checked": len(self.targets),
            "files": self.files,
            "problems": [one.shape() for one in self.problems],
        }


class SkillVersion(msgspec.Struct, frozen=True, kw_only=True):
    """An installed skill beside what its source has now.

    `state` is `current`, `outdated`, `pinned`, `gone` if the source no longer has it, `renamed` if
    it has another name there, `refused` if a policy does not allow the new version, or `failed` if
    the source could not be asked or the new version has another signer; `problem` says why.
    """

    name: str
    source: str
    ref: str
    installed: str
    latest: str = ""
    state: str = "current"
    problem: str = ""

    @property
    def advice(self) -> str:
        """What to do if there will be no update; "" otherwise."""
        return _VERSION_ADVICE.get(self.state, "")

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shape = {**msgspec.to_builtins(self), "advice": self.advice}
        return {key: value for key, value in shape.items() if value != ""}
