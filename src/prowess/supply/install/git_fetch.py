"""Fetch the skills of a git repository: what git has at one commit, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors.install import RefusedTree, SourceFailed
from prowess.machine.atomic_write import scratch_folder
from prowess.machine.git import GitEntry, GitFailed, GitRepository, Watch
from prowess.machine.tree_files import write_file
from prowess.supply.install.fetch import (
    LIMITS,
    FetchContext,
    Fetched,
    find_folder,
    find_path_problem,
    find_skill_folders,
    group_by_folder,
    is_inside,
    is_inside_any,
    is_too_large,
)
from prowess.supply.install.source import InstallSource

# Those of ordinary files; links and submodules have their own.
_FILE_MODES = ("100644", "100755")
_EXECUTABLE = "100755"
_LINK = "120000"
_LFS = b"version https://git-lfs.github.com/spec/"


ReadBlob = Callable[[GitEntry], bytes]
"""Reads one file of a commit."""
Choice = tuple[list[GitEntry], dict[str, str]]
"""The files that are written, and the folders of skills that are refused, with the reason."""
Choose = Callable[[InstallSource, list[GitEntry], ReadBlob], Choice]
"""Chooses among the files of a commit."""


class GitFetcher:
    """Fetches one commit with the git program: its skills, or what else somebody chooses."""

    def __init__(self, choose: Choose | None = None) -> None:
        self._choose = choose or _choose_skills

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Write the chosen files at the commit that the source means now."""
        with scratch_folder() as scratch:
            # Bare, and read by its objects: a checkout would convert line ends and run filters.
            repository = GitRepository(f"{scratch}/repository", context.facts)
            try:
                repository.create()
                commit = repository.fetch(
                    source.location, source.ref, source.protocols, _watch(source, context)
                )
                entries = repository.list_files(commit)
                chosen, refused = self._choose(source, entries, partial(_read_blob, repository))
                diagnostics = _write(repository, chosen, staging)
                released_at = repository.find_date(commit)
                signer = repository.find_signer(commit, context.signers_file)
            except GitFailed as error:
                raise SourceFailed(source.text, error.cause) from error
        return Fetched(
            resolved=commit,
            is_local=source.is_local,
            released_at=released_at,
            signer=signer,
            refused=refused,
            diagnostics=tuple(diagnostics),
        )


def _watch(source: InstallSource, context: FetchContext) -> Watch | None:
    reporter = context.reporter
    if reporter is None:
        return None
    return lambda doing, percent: reporter.progress(f"{source.text}: {doing}, percent", percent)


def _choose_skills(source: InstallSource, entries: list[GitEntry], read: ReadBlob) -> Choice:
    """The files of the skills in the wanted folder, and the skills that are refused, with why."""
    chosen: list[GitEntry] = []
    refused: dict[str, str] = {}
    by_path = [(entry.path, entry) for entry in entries]
    folders = find_skill_folders((path for path, _ in by_path), within=source.path)
    for folder, inside in group_by_folder(by_path, folders).items():
        files = [entry for _, entry in inside]
        problem = _find_odd_mode(files) or find_path_problem(path for path, _ in inside)
        if problem is None:
            chosen += files
        else:
            refused[folder] = problem
    _check_size(source, chosen)
    return chosen, refused


def choose_ordinary(source: InstallSource, entries: list[GitEntry]) -> Choice:
    """All ordinary files; a skill that has anything else is refused."""
    refused: dict[str, str] = {}
    folders = frozenset(find_skill_folders(entry.path for entry in entries))
    ordinary: list[GitEntry] = []
    for entry in entries:
        problem = _find_odd_mode([entry]) or find_path_problem((entry.path,))
        if problem is None:
            ordinary.append(entry)
            continue
        folder = find_folder(entry.path, folders)
        if folder is not None:
            refused[folder] = problem
    chosen = [entry for entry in ordinary if not is_inside_any(entry.path, refused)]
    _check_size(source, chosen)
    return chosen, refused


def list_inside(entries: Iterable[GitEntry], folder: str) -> list[GitEntry]:
    """The files of a commit that are in a folder; all of them for the top, ""."""
    return [entry for entry in entries if is_inside(entry.path, folder)]


def _check_size(source: InstallSource, chosen: list[GitEntry]) -> None:
    if is_too_large([entry.size for entry in chosen]):
        raise RefusedTree(source.text, f"its skills have more than {LIMITS}; name one with a path")


def _read_blob(repository: GitRepository, entry: GitEntry) -> bytes:
    return b"".join(data for _, data in repository.read_blobs([entry]))


def _find_odd_mode(entries: list[GitEntry]) -> str | None:
    # What a link leads to is not part of the commit, and a submodule is only the name of one.
    for entry in entries:
        if entry.mode == _LINK:
            return f"{entry.path[:200]} is a symlink"
        if entry.mode not in _FILE_MODES:
            return f"{entry.path[:200]} is a submodule"
    return None


def _write(repository: GitRepository, entries: list[GitEntry], staging: str) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    for entry, data in repository.read_blobs(entries):
        write_file(staging, entry.path, data, is_executable=entry.mode == _EXECUTABLE)
        # LFS would run a program of its own and ask a server that the user has not named.
        if data.startswith(_LFS):
            message = (
                f"{entry.path} is stored with Git LFS; what is installed is the pointer to it."
            )
            findings.append(diagnose("install-lfs-pointer", message, file=entry.path))
    return findings
