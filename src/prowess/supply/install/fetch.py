"""Fetch a source into a staging folder, and find the skills in it.

A fetcher puts files below the staging folder, with the paths they have in the source. What is a
skill, and what its files are, is decided here for all of them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Container, Iterable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors.install import RefusedTree, SourceFailed
from prowess.machine.http_client import Watch, measure_progress
from prowess.machine.tree_files import find_tree, read_file
from prowess.model.facts import Facts
from prowess.model.tree import Tree, TreeFile, find_collision, list_blocked
from prowess.parse.header.fast import read_header
from prowess.ports import Reporter
from prowess.profiles.load import load_profile
from prowess.state.unpacked_files import find_refusal, name_folder
from prowess.supply.install.source import InstallSource

File = TypeVar("File")

SKILL_FILE = "SKILL.md"
# Far more than any skill needs. An archive or a server that has more is a mistake or an attack.
MOST_FILES = 5_000
MOST_BYTES = 1 << 27
LIMITS = f"{MOST_FILES:,} files or {MOST_BYTES:,} bytes"
# Only the name is wanted of it.
_MOST_HEADER = 1 << 16


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What a fetcher put into the staging folder.

    `resolved` is the commit, version or digest of the source as a whole; `versions` are those of
    single skills by their folder, where a source has them. `refused` has the folders of skills that
    were not written, with the reason. `diagnostics` are about everything else worth knowing.
    `released_at` and `signer` are as the source says, where it says so. `is_local` if the files
    were on this disk before.
    """

    resolved: str = ""
    is_local: bool = False
    released_at: datetime | None = None
    signer: str = ""
    versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    refused: Mapping[str, str] = msgspec.field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


class FetchContext(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that fetches, and who is told how far it has come.

    `cwd` is the folder whose settings count. `signers_file` has the allowed signers, if somebody
    has to have signed.
    """

    facts: Facts
    cwd: str = "/"
    signers_file: str = ""
    reporter: Reporter | None = None


def list_private_hosts(source: InstallSource, context: FetchContext) -> frozenset[str]:
    """The hosts of a source that may be in a private network."""
    # The user has typed this address, so it may also be one of the own network.
    return frozenset({urlsplit(source.location).hostname or ""})


def watch_download(source: InstallSource, context: FetchContext) -> Watch | None:
    """Report how far a download has come; None if nobody wants to know."""
    reporter = context.reporter
    if reporter is None:
        return None

    def watch(received: int, expected: int | None) -> None:
        unit, done = measure_progress(received, expected)
        reporter.progress(f"downloading {source.text}, {unit}", done)

    return watch


class SourceFetcher(Protocol):
    """Fetches one kind of source."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Put the files of a source into an empty folder.

        Nothing but ordinary files may end up there. Raises `SourceFailed`.
        """
        ...


class FetchedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill in the staging folder: its name, its folder in the source, where it is, its files."""

    name: str
    path: str
    folder: str
    resolved: str
    tree: Tree
    is_local: bool = False
    released_at: datetime | None = None
    signer: str = ""

    @property
    def folder_name(self) -> str:
        """The name of the folder to install it in, which is safe on every disk."""
        safe = name_folder(self.name)
        if safe == self.name:
            return safe
        # A name that cannot be a folder's keeps the one its author gave it.
        own = posixpath.basename(self.path)
        is_safe = bool(own) and name_folder(own) == own
        return own if is_safe else safe


class FetchedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source with the skills that were found in it, sorted by path.

    `refused` are the folders of those that are not installed, with the reason.
    """

    source: InstallSource
    resolved: str
    skills: tuple[FetchedSkill, ...]
    refused: Mapping[str, str] = msgspec.field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def fetch_source(
    source: InstallSource,
    staging: str,
    context: FetchContext,
    fetchers: Mapping[str, SourceFetcher],
) -> FetchedSource:
    """Fetch a source and find its skills. Raises `SourceFailed`."""
    fetched = fetchers[source.kind].fetch(source, staging, context)
    # A fetcher that found nothing has made no folder.
    tree = find_tree(staging) or Tree({})
    skills: list[FetchedSkill] = []
    refused = dict(fetched.refused)
    folders = find_skill_folders(tree.files, within=source.path)
    for folder, inside in group_by_folder(sorted(tree.files.items()), folders).items():
        prefix = f"{folder}/" if folder else ""
        files = {path.removeprefix(prefix): file for path, file in inside}
        problem = find_problem(files)
        if problem is None:
            skills.append(_read_skill(source, staging, folder, files, fetched))
        else:
            refused[folder] = problem
    # One bad skill costs itself; a source without a good one fails with the reason of the first.
    _check_found(source, skills, refused)
    return FetchedSource(
        source=source,
        resolved=fetched.resolved,
        skills=tuple(skills),
        refused=refused,
        diagnostics=fetched.diagnostics,
    )


def _check_found(
    source: InstallSource, skills: list[FetchedSkill], refused: Mapping[str, str]
) -> None:
    if skills:
        return
    for folder, problem in refused.items():
        raise RefusedTree(source.text, f"{folder or 'its only skill'} is refused: {problem}")
    where = f" in {source.path}" if source.path else ""
    raise SourceFailed(source.text, f"there is no {SKILL_FILE}{where}")


def find_problem(files: Mapping[str, TreeFile]) -> str | None:
    """Why the files of a skill are not installed; None if nothing is wrong with them."""
    for path, file in files.items():
        if not file.is_ordinary:
            return f"{path[:200]} is a symlink or a special file"
    return find_path_problem(files)


def find_path_problem(paths: Iterable[str]) -> str | None:
    """What keeps paths from being the same files everywhere; None if nothing does."""
    listed = sorted(paths)
    if len(listed) > MOST_FILES:
        return f"it has more than {MOST_FILES:,} files"
    problem = next(filter(None, map(_find_one_path_problem, listed)), None)
    if problem is not None:
        return problem
    # Two files on Linux are one on macOS and Windows: what is installed would depend on the disk.
    collision = find_collision(listed)
    if collision is not None:
        return f"{collision[0][:200]!r} and {collision[1][:200]!r} differ only by case"
    blocked = list_blocked(listed)
    if blocked:
        return f"{blocked[0][:200]!r} is both a file and a folder"
    return None


def _find_one_path_problem(path: str) -> str | None:
    refusal = find_refusal(path)
    if refusal is not None:
        return f"{path[:200]!r}: {refusal}"
    if "\\" in path:
        return f"{path[:200]!r}: the path has a backslash"
    # A file in `.git` could be a hook, which git runs. Disks that ignore case have `.GIT`, too.
    if ".git" in path.casefold().split("/"):
        return f"{path[:200]!r} would be a part of git's own files"
    return None


def find_skill_folders(paths: Iterable[str], *, within: str = "") -> list[str]:
    """The folders that have a SKILL.md, and none above them; "" is the top."""
    inside = f"{within}/" if within else ""
    skill_files = (path for path in paths if posixpath.basename(path) == SKILL_FILE)
    folders = [posixpath.dirname(path) for path in skill_files if path.startswith(inside)]
    outermost: dict[str, None] = {}
    # In the order of paths a folder comes before those in it.
    for folder in sorted(folders):
        # A SKILL.md inside another skill is one of its files.
        if not is_inside_any(folder, outermost):
            outermost[folder] = None
    return list(outermost)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path of a source is in a folder of it; everything is in the top, ""."""
    return folder == "" or path.startswith(f"{folder}/")


def is_inside_any(path: str, folders: Container[str]) -> bool:
    """Whether a path of a source is in one of these folders."""
    return find_folder(path, folders) is not None


def find_folder(path: str, folders: Container[str]) -> str | None:
    """The nearest of these folders that a path of a source is in; None if it is in none."""
    # The folders around a path are few; those of a source may be thousands.
    above = path
    while True:
        above = above.rpartition("/")[0]
        if above in folders:
            return above
        if not above:
            return None


def group_by_folder(
    files: Iterable[tuple[str, File]], folders: Iterable[str]
) -> dict[str, list[tuple[str, File]]]:
    """The files in each of these folders, with their paths; no folder may be in another one."""
    grouped: dict[str, list[tuple[str, File]]] = {folder: [] for folder in folders}
    for path, file in files:
        folder = find_folder(path, grouped)
        if folder is not None:
            grouped[folder].append((path, file))
    return grouped


def is_too_large(sizes: Collection[int]) -> bool:
    """Whether files of these sizes are more than a source may have; `LIMITS` says what that is."""
    return len(sizes) > MOST_FILES or sum(sizes) > MOST_BYTES


def _read_skill(
    source: InstallSource,
    staging: str,
    folder: str,
    files: Mapping[str, TreeFile],
    fetched: Fetched,
) -> FetchedSkill:
    place = f"{staging}/{folder}".rstrip("/")
    name = read_name(place) or posixpath.basename(folder) or _name_source(source)
    return FetchedSkill(
        name=name,
        path=folder,
        folder=place,
        resolved=fetched.versions.get(folder, fetched.resolved),
        tree=Tree(files),
        is_local=fetched.is_local,
        released_at=fetched.released_at,
        signer=fetched.signer,
    )


def read_name(folder: str) -> str:
    """The name in a header, as the most lenient host reads it; "" where there is none."""
    profile = load_profile("prowess")
    data = read_file(folder, SKILL_FILE, most=_MOST_HEADER)
    reading = read_header(data, rules=profile.header, limits=profile.limits)
    name = reading.frontmatter.get("name")
    return name.strip() if isinstance(name, str) else ""


def _name_source(source: InstallSource) -> str:
    """The name of the source itself, for a skill at its top that has none."""
    last = posixpath.basename(source.location.rstrip("/"))
    return last.removesuffix(".git").split(".")[0] or "skill"
