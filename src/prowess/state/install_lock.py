"""`prowess.lock`: what is installed, from where, and every file of it by its digest.

JSON, sorted, with one fact per line, so that a merge conflict shows what happened. A file that was
edited by hand, or that comes with a clone, is checked before anything is done with it.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise

import msgspec

from prowess.errors import MachineError
from prowess.errors.install import InvalidLock
from prowess.machine.atomic_write import write_aside
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.model.tree import Tree, TreeFile, find_collision, fold_path, list_blocked
from prowess.state.folders import state_folder
from prowess.state.known_locks import KnownLocks
from prowess.state.locks import hold_lock
from prowess.state.skill_store import SkillStore
from prowess.state.unpacked_files import find_refusal

LOCK_NAME = "prowess.lock"
_VERSION = 1
_MOST_BYTES = 1 << 28
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class LockedSkill(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One installed skill.

    `source` is what the user asked for, without a ref or a skill; `kind` says how it is fetched.
    `resolved` is the commit, version or digest that was fetched, `path` the skill's folder in the
    source. `targets` are the folders it is in: relative to the lock file in a project, absolute or
    with `~` for a user. `method` is `copy` or `link`. `files` has the SHA-256 of each file and
    `executable` the paths of programs; `tree` is the digest of both. `pinned` is the reason not to
    update it. `signer` is who signed this version, as far as whoever installed it could tell.
    """

    name: str
    source: str
    kind: str
    ref: str = ""
    resolved: str = ""
    path: str = ""
    tree: str
    method: str = "copy"
    pinned: str | None = None
    signer: str = ""
    installed_at: str = ""
    targets: tuple[str, ...]
    executable: tuple[str, ...] = ()
    files: Mapping[str, str]

    @property
    def identity(self) -> tuple[str, str, str]:
        """What makes it one skill from one version to the next; its name alone does not."""
        return self.name, self.source, self.path

    @property
    def label(self) -> str:
        """The skill as people can name it where two have the same name."""
        return f"{self.source}@{self.name}"

    def get_tree(self) -> Tree:
        """The files as a tree; sizes are not known."""
        programs = frozenset(self.executable)
        files: dict[str, TreeFile] = {}
        for path, digest in self.files.items():
            files[path] = TreeFile(digest, is_executable=path in programs)
        return Tree(files)


class LockContent(msgspec.Struct, frozen=True, kw_only=True):
    """All skills of a lock file, sorted by name, source and path."""

    version: int = _VERSION
    skills: tuple[LockedSkill, ...] = ()

    @property
    def trees(self) -> frozenset[str]:
        """The digests of all trees in it."""
        return frozenset(one.tree for one in self.skills)

    def find_named(self, text: str) -> list[LockedSkill]:
        """The skills that somebody may mean: by name, by `SOURCE@NAME`, or by a target."""
        wanted = text.rstrip("/")
        return [one for one in self.skills if wanted in (one.name, one.label, *one.targets)]

    def find_same(self, identity: tuple[str, str, str]) -> LockedSkill | None:
        """The skill with this name, source and path."""
        return next((one for one in self.skills if one.identity == identity), None)

    def find_owner(self, target: str) -> LockedSkill | None:
        """The skill that a target belongs to."""
        return next((one for one in self.skills if target in one.targets), None)

    def replace(
        self, removed: tuple[LockedSkill, ...], added: tuple[LockedSkill, ...]
    ) -> LockContent:
        """The same without some skills and with others."""
        replaced = {one.identity for one in (*removed, *added)}
        kept = [one for one in self.skills if one.identity not in replaced]
        skills = sorted((*kept, *added), key=lambda one: one.identity)
        return LockContent(skills=tuple(skills))


class _LockDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as a whole. Any other JSON object would be a lock file without skills."""

    version: int
    skills: tuple[LockedSkill, ...]


class InstallLock:
    """The lock file of a project or of a user."""

    def __init__(self, path: str, facts: Facts) -> None:
        self.path = path
        self._facts = facts
        self._known = KnownLocks(SkillStore.of(facts))

    @property
    def base(self) -> str:
        """The folder that relative targets begin at."""
        return os.path.dirname(self.path)

    @property
    def _exists(self) -> bool:
        return LocalFiles().find_kind(self.path) is not None

    @property
    def _real_path(self) -> str:
        return os.path.realpath(self.path)

    @contextmanager
    def hold(self, *, seconds: float = 30.0) -> Iterator[None]:
        """Be the only process that installs here. Raises `InvalidLock` and `MachineError`."""
        # In the project it would be one more file for git to ignore.
        digest = hashlib.sha256(os.fsencode(self._real_path)).hexdigest()[:32]
        folder = os.path.join(state_folder(self._facts), "installs")
        with hold_lock(os.path.join(folder, digest), seconds=seconds):
            # Before anything is written, so that `prune` never misses a project.
            self._known.begin()
            content = self.load()
            if self._exists:
                self._known.add(self._real_path, content.trees)
            yield
            # Not after a failure: folders may still be links to the versions before.
            if self._exists:
                self._known.replace(self._real_path, self.load().trees)

    def load(self) -> LockContent:
        """What is installed; nothing where there is no file. Raises `InvalidLock`."""
        try:
            data = LocalFiles().read_head(self.path, _MOST_BYTES).data
        except FileNotFoundError:
            return LockContent()
        except OSError as error:
            raise MachineError.caused_by("read", self.path, error) from error
        try:
            document = msgspec.json.decode(data, type=_LockDocument)
            content = LockContent(version=document.version, skills=document.skills)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidLock(self.path, str(error)) from error
        problem = _find_problem(content)
        if problem is not None:
            raise InvalidLock(self.path, problem)
        return content

    def save(self, content: LockContent) -> None:
        """Write the file as a whole. Raises `MachineError`."""
        # First, so that a crash in between leaves a tree too many and never one too few.
        self._known.add(self._real_path, content.trees)
        data = msgspec.json.encode(content, order="deterministic")
        write_aside(self.path, msgspec.json.format(data, indent=2) + b"\n")


def _find_problem(content: LockContent) -> str | None:
    if content.version != _VERSION:
        return f"it has version {content.version}; this Prowess reads version {_VERSION}"
    owners: dict[str, str] = {}
    for skill in content.skills:
        problem = _find_skill_problem(skill)
        if problem is not None:
            return f"“{skill.name[:100]}”: {problem}"
        for target in skill.targets:
            # Case does not count: on many disks it is the same folder.
            folded = fold_path(target)
            if folded in owners:
                return f"“{owners[folded][:100]}” and “{skill.name[:100]}” have the same target"
            owners[folded] = skill.name
    # Sorted with a slash, a folder comes right before what is inside it.
    for one, next_one in pairwise(sorted(f"{target}/" for target in owners)):
        if next_one.startswith(one):
            return f"the target {next_one[:-1][:100]!r} is inside the target {one[:-1][:100]!r}"
    return None


def _find_skill_problem(skill: LockedSkill) -> str | None:
    if not skill.targets:
        return "it has no targets"
    for target in skill.targets:
        problem = find_target_problem(target)
        if problem is not None:
            return f"the target {target[:100]!r} {problem}"
    problem = _find_file_problem(skill.files)
    if problem is not None:
        return problem
    if skill.installed_at and not _is_time(skill.installed_at):
        return f"`installed_at` is not a time with a time zone: {skill.installed_at[:100]!r}"
    # A digest of digests: it costs nothing, and a merge by hand rarely gets both right.
    if skill.get_tree().digest != skill.tree:
        return "`tree` is not the digest of `files`; somebody edited one of them"
    return None


def _find_file_problem(files: Mapping[str, str]) -> str | None:
    for path, digest in files.items():
        refusal = find_refusal(path)
        # On Windows a backslash makes folders; everywhere else it is part of a name.
        if refusal is None and "\\" in path:
            refusal = "the path has a backslash"
        if refusal is not None:
            return f"the file {path[:100]!r}: {refusal}"
        if not _DIGEST.fullmatch(digest):
            return f"the digest of {path[:100]!r} is not 64 hex digits"
    # Two such files are one on the disks of macOS and Windows.
    collision = find_collision(files)
    if collision is not None:
        return f"{collision[0]!r} and {collision[1]!r} differ only by case"
    blocked = list_blocked(files)
    if blocked:
        return f"{blocked[0][:100]!r} is both a file and a folder"
    return None


def find_target_problem(target: str) -> str | None:
    """Why nothing is installed in a folder of that name; None if nothing is wrong with it.

    A clone cannot bring files of git itself, which run programs; its lock file must not either.
    """
    # Such characters steer the terminal on which the target is shown.
    if _CONTROL.search(target):
        return "has control characters"
    is_plain = posixpath.normpath(target) == target and target not in ("", ".", "..")
    if not is_plain:
        return "is not a plain path"
    # In any case: `.GIT` is the same folder on many disks.
    if ".git" in target.casefold().split("/"):
        return "is part of git's own files"
    return None


def format_moment(seconds: float) -> str:
    """A moment as lock files have it, from seconds since 1970."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        # What is no moment at all has no time zone, either.
        return False
