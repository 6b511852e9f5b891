"""Sets of skills that a program ships, kept up to date in a folder of their user.

Each skill of a set has a `skill.json` with its `version`. At the first scan every skill whose
version differs from the installed one, in whichever direction, is replaced as a whole. A failure
keeps the old skill, is a diagnostic, and never keeps the program from starting.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.machine.files import LocalFiles
from prowess.machine.folder_swap import recover_folder, replace_folder
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.ports import Discovered, FileSystem, ManifestReader, Search

VERSION_FILE = "skill.json"
_MOST_BYTES = 1 << 16
_MOST_SKILLS = 1_000

SyncStatus = Literal["installed", "skipped", "replaced", "failed-keep-old", "failed"]
"""What became of a skill: new, the same version, replaced, or not (with or without an old one)."""


class SyncedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill of a set after it was synchronised.

    - `version`: the version that the set has; `installed` the one that was there before.
    - `is_hidden`: its `skill.json` hides it from screens. A model sees it all the same.
    - `problem`: why it failed.
    """

    name: str
    status: SyncStatus
    version: str | None = None
    installed: str | None = None
    is_hidden: bool = False
    problem: str | None = None


def sync_set(source: str, target: str, files: FileSystem | None = None) -> tuple[SyncedSkill, ...]:
    """Bring every skill of a set up to date. Never raises: what fails is in the answer."""
    files = files or LocalFiles()
    try:
        items = files.list_folder(source)
    except OSError:
        # A program that ships no set for this platform has no such folder.
        return ()
    synced: list[SyncedSkill] = []
    for item in items:
        is_folder = item.kind == "folder" and not item.is_link
        if not is_folder or item.name.startswith("."):
            continue
        name = item.name
        synced.append(_sync(name, f"{source}/{name}", f"{target}/{name}", files))
        if len(synced) == _MOST_SKILLS:
            break
    return tuple(synced)


def _sync(name: str, source: str, target: str, files: FileSystem) -> SyncedSkill:
    try:
        # An earlier program may have been killed between its two renames.
        recover_folder(target)
    except MachineError as error:
        return SyncedSkill(name=name, status="failed", problem=str(error))
    offered = _read_version_file(source, files)
    installed = _read_version_file(target, files)
    version, old = offered.get("version"), installed.get("version")
    is_hidden = offered.get("hidden") is True
    exists = files.find_kind(target) is not None
    synced = SyncedSkill(
        name=name, status="skipped", version=version, installed=old, is_hidden=is_hidden
    )
    if exists and version is not None and version == old:
        return synced
    problem = f"{VERSION_FILE} has no `version`"
    if version is not None:
        problem = _replace(source, target)
    if problem:
        status: SyncStatus = "failed-keep-old" if exists else "failed"
        return msgspec.structs.replace(synced, status=status, problem=problem)
    return msgspec.structs.replace(synced, status="replaced" if exists else "installed")


def _replace(source: str, target: str) -> str:
    """Put a skill in place; returns what went wrong, "" for nothing."""
    try:
        replace_folder(source, target)
    except MachineError as error:
        return str(error).rstrip(".")
    return ""


def _read_version_file(folder: str, files: FileSystem) -> dict[str, Any]:
    """What `skill.json` says; nothing if it cannot be read, or has no version that is text."""
    try:
        content = files.read_head(f"{folder}/{VERSION_FILE}", _MOST_BYTES).data
        data = msgspec.json.decode(content)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Without a version a skill is replaced if the set has one, and reported if not.
        return {}
    if not isinstance(data, dict):
        return {}
    version = data.get("version")
    has_version = isinstance(version, str) and version.strip()
    return data if has_version else {**data, "version": None}


class BundledSetSource:
    """The `SkillSource` of a set that a program ships in the folder `source`.

    Its skills are used from the folder `target`. `synced` says what became of each.
    """

    def __init__(self, source: str, target: str, *, label: str = "bundled") -> None:
        self.name = label
        self.synced: tuple[SyncedSkill, ...] | None = None
        self._source = source
        self._target = target

    def find(self, search: Search) -> Discovered:
        """Synchronise the set at the first scan, then find its skills as they are now."""
        if self.synced is None:
            self.synced = sync_set(self._source, self._target)
        root = Root(
            path=self._target,
            scope=Scope.BUNDLED,
            source=Source(self.name, "bundled", self._target, LoadedFrom.BUNDLED, self.name),
            order=0,
            id="bundled-set",
            group="bundled",
            links="never",
            is_fallback=True,
        )
        # Reported with every scan, because the skills stay as they are until the program starts
        # again.
        trouble = tuple(self._report(skill) for skill in self.synced if skill.problem is not None)
        if search.project is None:
            return Discovered(diagnostics=trouble)
        walked = search.project.walk((root,), search)
        return Discovered(walked.candidates, (*trouble, *walked.diagnostics), walked.roots)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """Read the header of a skill of the set."""
        return reader.read_file(candidate)

    def _report(self, skill: SyncedSkill) -> Diagnostic:
        kept = "the old version is used" if skill.status == "failed-keep-old" else "it is missing"
        message = (
            f"The skill {skill.name} was not updated ({skill.status}): {skill.problem}; {kept}."
        )
        return diagnose("bundle-not-synced", message, file=f"{self._source}/{skill.name}")
