"""From the paths that an author names to the SKILL.md files to check."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterable, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.discover.folders import FolderSource
from prowess.discover.repository import find_repository
from prowess.discover.walk import SKILL_FILE
from prowess.errors import UsageError
from prowess.model.facts import Facts
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.ports import FileSystem, Reporter, Search
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import ScanLimits
from prowess.reports.skill_depth import list_nested_readers
from prowess.text.display import escape_line

# Deep enough for `packages/web/.claude/skills/group/name` in a monorepo.
_DEPTH = 12
_MOST_NOTES = 3
_SKIPPED_FOLDERS = ("node_modules", "__pycache__", "site-packages")


class Target(msgspec.Struct, frozen=True):
    """A file to check, the folder of its skill, and problems that are known before it is read."""

    location: str
    folder: str
    problems: tuple[Diagnostic, ...] = ()


class FoundTargets(msgspec.Struct, frozen=True):
    """The files to check, sorted by path, and notes that belong to none of them."""

    targets: tuple[Target, ...]
    notes: tuple[Diagnostic, ...] = ()


class TargetSearch:
    """Finds the SKILL.md files that paths name: a file, a skill's folder, or a folder of skills."""

    def __init__(
        self, cwd: str, facts: Facts, files: FileSystem, reporter: Reporter | None = None
    ) -> None:
        self._cwd = cwd
        self._facts = facts
        self._files = files
        self._reporter = reporter

    def find(self, paths: Sequence[str]) -> FoundTargets:
        """Every file once; those of the working folder if no path is given.

        Raises a `UsageError` that names every path that does not exist, or if there is no skill.
        """
        missing = [path for path in paths if not self._exists(path)]
        if missing:
            raise UsageError(f"No such file or folder: {_join(missing, ', ')}")
        found = self._find_in(paths or (".",), is_named=bool(paths))
        if found.targets:
            return found
        has_wrong_name = any(note.code == "wrong-file-name" for note in found.notes)
        if has_wrong_name:
            # Where nothing else is found, a file with the wrong name is what was meant.
            return FoundTargets((), tuple(map(_raise_severity, found.notes)))
        where = _join(paths or (self._cwd,), " or ")
        reasons = [escape_line(str(note)) for note in found.notes[:_MOST_NOTES]]
        raise UsageError(" ".join([f"No {SKILL_FILE} found in {where}.", *reasons]))

    def _find_in(self, paths: Sequence[str], *, is_named: bool) -> FoundTargets:
        # By the real file: the folders of several hosts are often symlinks to one of them.
        targets: dict[str, Target] = {}
        notes: list[Diagnostic] = []
        for path in paths:
            found = self._find_at(self._resolve(path), is_named=is_named)
            for target in found.targets:
                real = self._files.find_real_path(target.location) or target.location
                targets.setdefault(real, target)
            notes += found.notes
        ordered = sorted(targets.values(), key=lambda target: target.location)
        return FoundTargets(tuple(ordered), tuple(notes))

    def _resolve(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._cwd, path))

    def _exists(self, path: str) -> bool:
        # An empty path, as from an unset variable of a shell, does not mean the working folder.
        if not path:
            return False
        whole = self._resolve(path)
        # A broken symlink is there, too: reading it says what is wrong.
        return self._files.find_kind(whole) is not None or self._files.find_link(whole) is not None

    def _find_at(self, path: str, *, is_named: bool) -> FoundTargets:
        if self._files.find_kind(path) != "folder":
            return FoundTargets((_name_file(path),))
        found = self._walk(path, gitignore=True)
        if is_named and not found.targets:
            # A folder that is ignored by git and named all the same is meant.
            found = self._walk(path, gitignore=False)
        return found

    def _walk(self, path: str, *, gitignore: bool) -> FoundTargets:
        """The skills below a folder by the rules of the standard, hidden folders included."""
        root = Root(
            path=path,
            scope=Scope.ADDED,
            source=Source("path", "added", path, LoadedFrom.SKILLS, "path"),
            order=0,
            min_depth=0,
            max_depth=_DEPTH,
            hidden=True,
            gitignore=gitignore,
            links="known",
            skip_names=_SKIPPED_FOLDERS,
        )
        facts, repository = self._facts, find_repository(path, self._files)
        places = Places(cwd=path, home=facts.home, platform=facts.platform, repository=repository)
        source = FolderSource(
            (root,), places=places, limits=ScanLimits(), clock=time.monotonic, thorough=True
        )
        search = Search(cwd=path, settings=Settings(), files=self._files, reporter=self._reporter)
        found = source.find(search)
        read = [one for one in found.candidates if one.skipped is None]
        skipped = [one for one in found.candidates if one.skipped is not None]
        notes = (*found.diagnostics, *(note for one in skipped for note in _list_notes(one)))
        return FoundTargets(tuple(map(_as_target, read)), notes)


def _join(paths: Iterable[str], separator: str) -> str:
    return separator.join(f"“{escape_line(path)}”" for path in paths)


def _raise_severity(note: Diagnostic) -> Diagnostic:
    if note.code != "wrong-file-name":
        return note
    return msgspec.structs.replace(note, severity=Severity.ERROR)


def _list_notes(candidate: Candidate) -> tuple[Diagnostic, ...]:
    """What is said about a file that is not checked."""
    if candidate.skipped_by != "leaf":
        return candidate.diagnostics
    (found,) = candidate.diagnostics
    readers = ", ".join(list_nested_readers())
    message = f"The skill is inside another skill, so it was not checked; only {readers} read it."
    return (msgspec.structs.replace(found, message=message),)


def _name_file(path: str) -> Target:
    """A file that was named itself: it is checked whatever its name."""
    name = posixpath.basename(path)
    problems: tuple[Diagnostic, ...] = ()
    if name != SKILL_FILE:
        message = f"The file is named {name}; hosts read only {SKILL_FILE}."
        problems = (diagnose("wrong-file-name", message, file=path),)
    return Target(path, posixpath.dirname(path), problems)


def _as_target(candidate: Candidate) -> Target:
    return Target(candidate.location, candidate.folder, candidate.diagnostics)
