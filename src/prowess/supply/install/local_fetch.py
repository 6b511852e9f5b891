"""Fetch from this disk, and archives from the disk or the web."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

from prowess.errors import MachineError
from prowess.errors.install import RefusedTree, SourceFailed
from prowess.machine.files import LocalFiles
from prowess.machine.http_client import FetchError, HttpSession
from prowess.machine.tree_files import copy_tree, load_tree, measure_files, write_file
from prowess.model.file_content import FileContent
from prowess.model.tree import Tree, TreeFile
from prowess.supply.archives import InvalidArchive, unpack_files
from prowess.supply.install.fetch import (
    MOST_BYTES,
    MOST_FILES,
    SKILL_FILE,
    FetchContext,
    Fetched,
    find_path_problem,
    find_problem,
    find_skill_folders,
    group_by_folder,
    is_inside_any,
    list_private_hosts,
    watch_download,
)
from prowess.supply.install.source import InstallSource

# Other programs write these; they are no part of a skill.
_NOT_COPIED = frozenset({".git", ".hg", ".svn", "__pycache__", ".DS_Store", "node_modules"})
# What is around the skills of a large repository is listed, but not read.
_MOST_LISTED = 500_000
# Archives are unpacked in memory, so that nothing is on the disk if one is refused.
_MOST_ARCHIVE = 1 << 26
_SECONDS = 120.0


class FolderFetcher:
    """Copies the skills of a folder of this disk; with `whole` also the files beside them."""

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Copy what is in the folder, except what programs leave there."""
        # A lock file may name a folder that only its author has.
        if LocalFiles().find_kind(source.location) != "folder":
            raise SourceFailed(source.text, "there is no such folder")
        # A lock file can name any folder of the disk, and to read it could take hours.
        sizes = measure_files(source.location, skip=_NOT_COPIED, most=_MOST_LISTED)
        if sizes is None:
            raise RefusedTree(source.text, f"it has more than {_MOST_LISTED:,} files")
        folders = find_skill_folders(sizes)
        load = _load_whole if self._whole else _load_skills
        wanted, refused = load(source, sizes, folders)
        copy_tree(source.location, Tree(wanted), staging)
        return Fetched(is_local=True, refused=refused)


class ArchiveFetcher:
    """Unpacks a .zip, .skill or .tar.gz file of this disk or of a server."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Unpack the archive; its files are at its top, or in one folder."""
        data = _load_archive(source, context)
        digest = hashlib.sha256(data).hexdigest()
        if source.digest and source.digest != digest:
            cause = f"its SHA-256 is {digest}, not {source.digest}"
            raise RefusedTree(source.text, cause)
        write_files(staging, read_archive(source, data))
        return Fetched(resolved=f"sha256:{digest}", is_local=source.is_local)


_Loaded = tuple[dict[str, TreeFile], dict[str, str]]
"""Files by their paths below the top, and the folders that are refused, with the reason."""


def _load_skills(
    source: InstallSource, sizes: Mapping[str, int], folders: Iterable[str]
) -> _Loaded:
    """The files of the skills in these folders; nothing else of the source is read."""
    wanted: dict[str, TreeFile] = {}
    refused: dict[str, str] = {}
    for folder, inside in group_by_folder(sizes.items(), folders).items():
        problem = _find_excess([size for _, size in inside])
        if problem is None:
            files = _load_folder(source.location, folder)
            # A link would be copied as what it leads to, wherever that is.
            problem = find_problem(files)
        if problem is None:
            wanted |= files
        else:
            refused[folder] = problem
    return wanted, refused


def _load_whole(source: InstallSource, sizes: Mapping[str, int], folders: Iterable[str]) -> _Loaded:
    """All ordinary files, except those of skills that are refused. Raises `RefusedTree`."""
    excess = _find_excess(sizes.values())
    if excess is not None:
        raise RefusedTree(source.text, excess)
    files = _load_folder(source.location, "")
    refused: dict[str, str] = {}
    for folder, inside in group_by_folder(files.items(), folders).items():
        problem = find_problem(dict(inside))
        if problem is not None:
            refused[folder] = problem
    wanted: dict[str, TreeFile] = {}
    for path, file in files.items():
        is_ordinary = find_problem({path: file}) is None
        if is_ordinary and not is_inside_any(path, refused):
            wanted[path] = file
    return wanted, refused


def _find_excess(sizes: Collection[int]) -> str | None:
    """What files of these sizes are too much of; None if they are small and few enough."""
    if len(sizes) > MOST_FILES:
        return f"it has more than {MOST_FILES:,} files"
    if sum(sizes) > MOST_BYTES:
        return f"it has more than {MOST_BYTES:,} bytes"
    return None


def _load_folder(top: str, folder: str) -> dict[str, TreeFile]:
    """The files of a folder, by their paths below the top."""
    prefix = f"{folder}/" if folder else ""
    tree = load_tree(f"{top}/{folder}", skip=_NOT_COPIED)
    return {prefix + path: file for path, file in tree.files.items()}


def read_archive(source: InstallSource, data: bytes) -> dict[str, FileContent]:
    """The files of an archive that has a skill. Raises `RefusedTree` and `SourceFailed`."""
    try:
        unpacked = unpack_files(data, most_bytes=MOST_BYTES, most_files=MOST_FILES)
    except InvalidArchive as error:
        raise RefusedTree(source.text, str(error)) from error
    files = {path: file for path, file in unpacked.items() if not _is_left_by_macos(path)}
    problem = find_path_problem(files)
    if problem is not None:
        raise RefusedTree(source.text, problem)
    if not any(path.rpartition("/")[2] == SKILL_FILE for path in files):
        raise SourceFailed(source.text, f"there is no {SKILL_FILE} in it")
    return files


def write_files(staging: str, files: Mapping[str, FileContent]) -> None:
    """Write the files of an archive into the staging folder."""
    for path, file in files.items():
        # Archives that were made on Windows mark nothing as a program.
        is_program = file.is_executable or file.data.startswith(b"#!")
        write_file(staging, path, file.data, is_executable=is_program)


def _is_left_by_macos(path: str) -> bool:
    return path.startswith("__MACOSX/") or path.rpartition("/")[2] == ".DS_Store"


def _load_archive(source: InstallSource, context: FetchContext) -> bytes:
    if not source.is_local:
        return _download(source, context)
    try:
        head = LocalFiles().read_head(source.location, _MOST_ARCHIVE + 1)
    except OSError as error:
        raise MachineError.caused_by("read", source.location, error) from error
    if head.size > _MOST_ARCHIVE:
        raise RefusedTree(source.text, f"it has more than {_MOST_ARCHIVE:,} bytes")
    return head.data


def _download(source: InstallSource, context: FetchContext) -> bytes:
    hosts = list_private_hosts(source, context)
    watch = watch_download(source, context)
    try:
        with HttpSession(seconds=_SECONDS, private_hosts=hosts, watch=watch) as session:
            return session.get(source.location, most_bytes=_MOST_ARCHIVE).body
    except FetchError as error:
        raise SourceFailed(source.text, error.message) from error
