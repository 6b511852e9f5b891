"""What an install would write, as a value that is shown before anything is written."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.tree import TreeChanges
from prowess.reports.json_output import shape_diagnostic


class PlannedFile(msgspec.Struct, frozen=True):
    """A file of a skill: its path, size, digest, and whether it can be run as a program."""

    path: str
    size: int
    sha256: str
    is_script: bool = False


class SkillContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill brings: what it is for, its files, and what it can do.

    `commands` are the shell commands that run whenever it is loaded, `tools` those it asks to use
    without a question, `network` the hosts that its files name, `hooks` what runs at events, and
    `findings` what the checks found.
    """

    description: str = ""
    files: tuple[PlannedFile, ...] = ()
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()

    @property
    def scripts(self) -> tuple[str, ...]:
        """The files that can be run."""
        return tuple(file.path for file in self.files if file.is_script)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "description": self.description,
            "size": self.size,
            "files": [msgspec.to_builtins(file) for file in self.files],
            "scripts": list(self.scripts),
            "commands": list(self.commands),
            "tools": list(self.tools),
            "hooks": list(self.hooks),
            "network": list(self.network),
            "findings": [shape_diagnostic(one) for one in self.findings],
        }


class PlannedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that a skill goes into, and what happens there.

    `action` is `create`, `replace`, `unchanged`, or `edited` where the folder has changes of its
    user, which are in `changes`. `target` is the folder as the lock file has it, and `tree` the
    digest of what is in it now.
    """

    target: str
    folder: str
    action: str
    tree: str = ""
    changes: TreeChanges = TreeChanges()

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        # Neither the digest nor the target as the lock file has it: those are for the installer.
        shape: dict[str, Any] = {"folder": self.folder, "action": self.action}
        if self.changes:
            shape["changes"] = msgspec.to_builtins(self.changes)
        return shape


class PlannedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """One skill of a plan: what it is, where it comes from, where it goes, what it brings.

    `method` is `copy` or `link`. `replaces` is the version that was installed before, "" for a new
    skill. `signer` is who signed it, "" for nobody who is known here, and `signed_before` who
    signed the version before.
    """

    name: str
    source: str
    path: str
    ref: str
    resolved: str
    tree: str
    method: str = "copy"
    replaces: str = ""
    signer: str = ""
    signed_before: str = ""
    targets: tuple[PlannedTarget, ...]
    contents: SkillContents

    @property
    def is_change(self) -> bool:
        """Whether something would be written."""
        return any(one.action != "unchanged" for one in self.targets)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "source": self.source,
            "path": self.path,
            "ref": self.ref,
            "resolved": self.resolved,
            "tree": self.tree,
            "method": self.method,
            "replaces": self.replaces or None,
            "signer": self.signer or None,
            "targets": [one.shape() for one in self.targets],
            **self.contents.shape(),
        }


class InstallPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All skills that would be installed; `refused` are those that would not, with the reason."""

    scope: str
    lock: str
    skills: tuple[PlannedSkill, ...]
    refused: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether something would be written."""
        return any(skill.is_change for skill in self.skills)

    @property
    def edited(self) -> tuple[PlannedSkill, ...]:
        """The skills whose folders have changes of their user."""
        return tuple(
            skill
            for skill in self.skills
            if any(target.action == "edited" for target in skill.targets)
        )

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "scope": self.scope,
            "lock": self.lock,
            "skills": [skill.shape() for skill in self.skills],
            "refused": [{"path": path, "reason": why} for path, why in self.refused],
            "diagnostics": [shape_diagnostic(one) for one in self.diagnostics],
        }
