"""From the paths that an author names to the SKILL.md files behind them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.folders import FolderSource
from prowess.discover.repository import find_repository
from prowess.discover.walk import SKILL_FILE
from prowess.errors import UsageError
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.ports import Reporter, Search
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import Limits
from prowess.text.display import escape_line

# Deep enough for `packages/web/.claude/skills/group/name` in a repository of many parts.
_DEPTH = 12
_MOST_NOTES = 3
_SKIPPED_FOLDERS = ("node_modules", "__pycache__", "site-packages")


class Target(msgspec.Struct, frozen=True):
    """A file to check, the folder it belongs to, and what is wrong with it before it is read."""

    location: str
    folder: str
    problems: tuple[Diagnostic, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """The files to check, in the order of their paths, and what was noticed that belongs to none of
    them.
    """

    targets: tuple[Target, ...]
    notes: tuple[Diagnostic, ...]


def find_targets(paths: Sequence[str], *, reporter: Reporter | None = None) -> Found:
    """Every SKILL.md that the paths name: a file, a skill's folder, or a folder of skills; the
    working folder where no path is given.

    Raises a `UsageError` that names every path at which nothing is, and one where there is no skill
    at all.
    """
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise UsageError(f"There is nothing at {_join(missing, 'or at')}.")
    targets: dict[str, Target] = {}
    notes: list[Diagnostic] = []
    for path in map(os.path.abspath, paths or (".",)):
        found = (
            _search_folder(path, reporter, named=bool(paths))
            if os.path.isdir(path)
            else _name_file(path)
        )
        for target in found.targets:
            targets.setdefault(os.path.realpath(target.location), target)
        notes += found.notes
    if not targets:
        nothing = (
            f"There is no {SKILL_FILE} in {_join(paths or (os.getcwd(),), 'or in')}, so nothing can"
            " be validated."
        )
        raise UsageError(
            " ".join([nothing, *(escape_line(str(note)) for note in notes[:_MOST_NOTES])])
        )
    return Found(tuple(sorted(targets.values(), key=lambda target: target.location)), tuple(notes))


def _join(paths: Iterable[str], word: str) -> str:
    return f" {word} ".join(escape_line(path) for path in paths)


def _name_file(path: str) -> Found:
    """A file that was named itself: it is checked whatever it is called."""
    name = os.path.basename(path)
    problems: tuple[Diagnostic, ...] = ()
    if name != SKILL_FILE:
        message = f"The file is named {name}; hosts read only {SKILL_FILE}."
        problems = (diagnose("wrong-file-name", message, file=path),)
    return Found((Target(path, os.path.dirname(path), problems),), ())


def _search_folder(path: str, reporter: Reporter | None, *, named: bool) -> Found:
    found = _walk(path, reporter, gitignore=True)
    if named and not found.targets:
        # Whoever names a folder that git ignores means it.
        found = _walk(path, reporter, gitignore=False)
    return found


def _walk(path: str, reporter: Reporter | None, *, gitignore: bool) -> Found:
    """The skills below a folder by the rules of the standard, hidden folders included."""
    facts = current_facts()
    files = LocalFiles()
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
    places = Places(
        cwd=path, home=facts.home, platform=facts.platform, repository=find_repository(path, files)
    )
    source = FolderSource((root,), places=places, limits=Limits(), clock=time.monotonic)
    found = source.find(Search(cwd=path, settings=Settings(), files=files, reporter=reporter))
    checked = [one for one in found.candidates if one.skipped is None]
    skipped = [
        finding
        for one in found.candidates
        if one.skipped is not None
        for finding in one.diagnostics
    ]
    return Found(tuple(map(_as_target, checked)), (*found.diagnostics, *skipped))


def _as_target(candidate: Candidate) -> Target:
    return Target(candidate.location, candidate.folder, candidate.diagnostics)
