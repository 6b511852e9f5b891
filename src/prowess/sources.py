"""Where skills come from, composed: folders, packages, files in memory, and sources of your own.

A composition reads only what it names. Nothing of the user or the machine is in it: no home, no
settings files, no cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.roots import find_rule, make_root
from prowess.errors import UsageError
from prowess.machine.memory_files import FilesInMemory
from prowess.machine.named_files import NamedFiles
from prowess.machine.package_files import (
    find_disk_path,
    find_package_folder,
    read_package_files,
)
from prowess.model.skill import IN_MEMORY, Root, Scope, Skill, Source
from prowess.ports import FileSystem, Refresh, SkillSource
from prowess.profiles.places import Place
from prowess.profiles.schema.profile import Profile
from prowess.state.unpacked_files import find_refusal, split_path

Contents: TypeAlias = Mapping[str, str | bytes]
"""Files by their relative path, such as `pdf/SKILL.md`."""


class _SourceOptions(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What can be said of every source.

    - `scope`: whose the skills are; the host decides by it which of two skills of one name wins.
    - `trust`: whether the skills may run commands.
    - `refresh`: when changes are noticed; by default `auto` for folders, `manual` for all else.
    - `name`: what skills and diagnostics call the source.
    """

    scope: Scope | str = Scope.ADDED
    trust: bool = False
    refresh: Refresh | None = None
    name: str = ""

    def __post_init__(self) -> None:
        try:
            scope = Scope(self.scope)
        except ValueError:
            known = ", ".join(one.value for one in Scope)
            raise UsageError(f"There is no scope “{self.scope}”; the scopes are {known}.") from None
        # A scope may be given as a word; all code compares the value.
        msgspec.structs.force_setattr(self, "scope", scope)
        is_seconds = isinstance(self.refresh, int | float) and self.refresh > 0
        is_word = self.refresh in ("auto", "manual", None)
        if not is_seconds and not is_word:
            raise UsageError(
                f"`refresh` is {self.refresh!r}; it must be “auto”, “manual” or a number of"
                " seconds above 0."
            )


class Folder(_SourceOptions, frozen=True, eq=False):
    """A folder of skills, or of one skill, on this machine.

    A symlink in it is followed only if it stays in the folder.
    """

    path: str | os.PathLike[str]


class Package(_SourceOptions, frozen=True, eq=False):
    """The skills in a folder of an installed package, also if the package is in an archive."""

    package: str
    path: str = "skills"


class Files(_SourceOptions, frozen=True, eq=False):
    """Skills in memory: files by relative path (`pdf/SKILL.md`), or a function that returns them.

    The function is called for each scan, so it can read a database.
    """

    files: Contents | Callable[[], Contents]


AnySource: TypeAlias = Folder | Package | Files | SkillSource | Callable[[], Contents]
"""What `Skills.of` takes; a function is the same as `Files(function)`."""


class _MemoryLoader(msgspec.Struct, frozen=True, eq=False):
    """Files that are read into memory for each scan, and the path at which they appear."""

    path: str
    name: str
    load: Callable[[], Contents]


class Composition:
    """The sources of one `Skills`, ready to be scanned.

    `files` has what the sources name and nothing else, `roots` the folders in it, and `sources` the
    objects that yield skills on their own.
    """

    def __init__(self, given: Iterable[AnySource], profile: Profile, disk: FileSystem) -> None:
        self.roots: tuple[Root, ...] = ()
        self.sources: tuple[SkillSource, ...] = ()
        self.seconds: float | None = None
        self._watched: list[str] = []
        self._profile = profile
        self._trusted: set[Source] = set()
        self._loaders: list[_MemoryLoader] = []
        folders: list[str] = []
        for source in given:
            self._add(source, folders)
        self.files = NamedFiles(folders, disk)
        # A root in memory exists before it is first loaded.
        self.files.mount({loader.path: FilesInMemory({}) for loader in self._loaders})

    def is_trusted(self, skill: Skill) -> bool:
        """Whether the source of a skill was given as trusted."""
        return skill.source in self._trusted

    @property
    def has_watched(self) -> bool:
        """Whether changes of any source are noticed on their own."""
        return bool(self._watched)

    def is_watched(self, path: str) -> bool:
        """Whether changes of a file or folder are noticed on their own."""
        return any(path == root or path.startswith(f"{root}/") for root in self._watched)

    def load(self) -> tuple[Diagnostic, ...]:
        """Read what is kept in memory anew, before a scan.

        What cannot be read stays as it was, with a diagnostic.
        """
        self.files.find_folders()
        failures = [self._try(loader) for loader in self._loaders]
        return tuple(failure for failure in failures if failure is not None)

    def _try(self, loader: _MemoryLoader) -> Diagnostic | None:
        try:
            loaded = _check(loader.load())
            files = {f"{loader.path}/{path}": content for path, content in loaded.items()}
            self.files.mount({loader.path: FilesInMemory(files)})
        except Exception as error:
            # The function is the user's own and may raise anything; a scan goes on without it.
            kind = type(error).__name__
            cause = f"{kind}: {error}" if str(error) else kind
            message = f"The source “{loader.name}” failed ({cause}); its skills are as they were."
            return diagnose("source-failed", message)
        return None

    def _add(self, source: Any, folders: list[str]) -> None:
        if isinstance(source, Folder):
            path = os.path.abspath(source.path)
            folders.append(path)
            self._add_root(source, path, default_name="folder")
        elif isinstance(source, Package):
            self._add_package(source, folders)
        elif isinstance(source, Files):
            self._add_files(source)
        # Before functions: an object with both methods may also be callable.
        elif hasattr(source, "find") and hasattr(source, "read"):
            self.sources = (*self.sources, source)
        elif callable(source):
            name = getattr(source, "__name__", type(source).__name__)
            self._add_files(Files(source, name=name))
        else:
            raise UsageError(
                f"{source!r:.100} is not a source of skills; give a Folder, a Package, Files, a"
                " function that returns files, or an object with `find` and `read`."
            )

    def _add_package(self, source: Package, folders: list[str]) -> None:
        folder = find_package_folder(source.package, source.path)
        path = find_disk_path(folder)
        name = source.name or source.package
        if path is None:
            # In an archive: then its files are read into memory, and programs cannot run them.
            self._add_memory(source, name, lambda: read_package_files(folder))
            return
        folders.append(path)
        self._add_root(source, path, default_name=name)

    def _add_files(self, source: Files) -> None:
        given = source.files
        if callable(given):
            self._add_memory(source, source.name or "files", given)
            return
        # A mistake in the program that gives the files is its own, so it is raised at once.
        try:
            contents = _check(given)
        except (TypeError, ValueError) as error:
            raise UsageError(f"These files cannot be used: {error}.") from error
        self._add_memory(source, source.name or "files", lambda: contents)

    def _add_memory(self, source: _SourceOptions, name: str, load: Callable[[], Contents]) -> None:
        path = f"{IN_MEMORY}/{len(self.roots)}"
        self._loaders.append(_MemoryLoader(path, name, load))
        self._add_root(source, path, default_name=name)

    def _add_root(self, source: _SourceOptions, path: str, *, default_name: str) -> None:
        scope = Scope(source.scope)
        # The rule of the host for this scope, without what it says about places: what was named
        # is read, also if git ignores it.
        rule = msgspec.structs.replace(
            find_rule(self._profile, scope),
            scope=scope,
            provider=source.name or default_name,
            level=scope.value,
            label="",
            min_depth=0,
            gitignore=False,
            ignore_files=(),
            path_list="",
            links="inside-root",
            must_exist=not path.startswith(IN_MEMORY),
        )
        order = len(self.roots)
        root = make_root(f"source-{order}", rule, Place(path, 0), order=order)
        self.roots = (*self.roots, root)
        if source.trust:
            self._trusted.add(root.source)
        usual = "auto" if isinstance(source, Folder) else "manual"
        refresh = source.refresh or usual
        if refresh == "auto":
            self._watched.append(path)
        elif not isinstance(refresh, str):
            # All sources are scanned together, so the shortest time counts for all.
            self.seconds = min(refresh, self.seconds or refresh)


def _check(files: Any) -> dict[str, str | bytes]:
    """Files with plain relative paths. Raises TypeError and ValueError."""
    if not isinstance(files, Mapping):
        raise TypeError(f"files must be a mapping of paths to contents, not {_name(files)}")
    checked: dict[str, str | bytes] = {}
    for path, content in files.items():
        if not isinstance(path, str) or not isinstance(content, str | bytes):
            raise TypeError(
                f"a path must be text and its content text or bytes, not {_name(path)} and"
                f" {_name(content)}"
            )
        refusal = find_refusal(path)
        if refusal is not None:
            raise ValueError(f"{path[:100]!r}: {refusal}")
        # `a//b` and `a/b` are one file.
        folders, name = split_path(path)
        checked["/".join((*folders, name))] = content
    return checked


def _name(value: object) -> str:
    return type(value).__name__
