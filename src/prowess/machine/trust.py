"""Which projects the user trusts. Kept outside of every project, in one private file, written aside and renamed.

A project is its repository, by its real path; a folder that belongs to no repository stands for itself and what lies
below it. What is not named is not trusted, and neither is anything where the file cannot be relied on.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.errors.activation import TooWide
from prowess.machine.dirs import state_folder
from prowess.machine.files import LocalFiles
from prowess.machine.locks import hold_lock
from prowess.machine.writing import write_aside
from prowess.model.facts import Facts
from prowess.model.skill import LoadedFrom, Scope, Skill

_VERSION = 1
_MOST_BYTES = 1 << 22

# Nobody but the user, their administrator or this program put these there.
_OWN = frozenset((Scope.USER, Scope.MANAGED, Scope.BUNDLED))


class Trusted(msgspec.Struct, frozen=True):
    """A project that is trusted: its real path, and the day on which the user said so."""

    root: str
    since: str


class _File(msgspec.Struct):
    version: int
    trusted: list[Trusted]


def trust_path(facts: Facts) -> str:
    """Where it is kept on a machine which projects are trusted."""
    return os.path.join(state_folder(facts), "trust.json")


class TrustFile:
    """The projects that are trusted. The file is read at every question, so another program's answer counts at once."""

    def __init__(self, path: str, *, home: str, today: Callable[[], str] = lambda: time.strftime("%Y-%m-%d")) -> None:
        self.path = path
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._home = os.path.realpath(home)
        self._today = today

    @classmethod
    def of(cls, facts: Facts) -> TrustFile:
        """The file of a machine's user."""
        return cls(trust_path(facts), home=facts.home)

    def is_trusted(self, skill: Skill) -> bool:
        """Whether what a skill says may be run: it is the user's own, or the user trusts its project.

        A skill that is reached by a link belongs to several projects, and all must be trusted: where the link lies,
        where its folder is and where its file is. What comes from an MCP server or a remote source is never trusted.
        """
        if skill.scope is Scope.REMOTE or skill.source.loaded_from is LoadedFrom.MCP:
            return False
        if skill.scope in _OWN:
            return True
        file = os.path.realpath(skill.location)
        return all(map(self.is_trusted_folder, (os.path.dirname(skill.folder), skill.folder, os.path.dirname(file))))

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        roots = {trusted.root for trusted in self.load()}
        project, is_repository = self.find_project(folder)
        return project in roots or (not is_repository and not roots.isdisjoint(_list_parents(project)))

    def find_project(self, folder: str) -> tuple[str, bool]:
        """The project that a folder belongs to, by its real path, and whether that is a repository.

        A folder that belongs to no repository is its own project. A repository that holds the user's whole home is
        none, or everything would be one project.
        """
        real = os.path.realpath(folder)
        for place in (real, *_list_parents(real)):
            if os.path.lexists(os.path.join(place, ".git")):
                return (real, False) if self.is_too_wide(place) else (place, True)
        return real, False

    def trust(self, folder: str) -> Trusted:
        """Trust the project that a folder belongs to. Raises `TooWide` and `MachineError`."""
        root, _ = self.find_project(folder)
        if self.is_too_wide(root):
            raise TooWide(root)
        if not os.path.isdir(root):
            raise MachineError("trust", root, "it is not a folder")
        added = Trusted(root, self._today())
        with hold_lock(self.path):
            kept = [trusted for trusted in self._load_for_change() if trusted.root != root]
            self._write([*kept, added])
        return added

    def distrust(self, folder: str) -> bool:
        """Take the trust in a folder's project back, and in the folder itself; whether there was any."""
        gone = {self.find_project(folder)[0], os.path.realpath(folder)}
        with hold_lock(self.path):
            found = self._load_for_change()
            left = [trusted for trusted in found if trusted.root not in gone]
            if len(left) < len(found):
                self._write(left)
            return len(left) < len(found)

    def load(self) -> list[Trusted]:
        """Every project that is trusted, by path; none where the file is not there or cannot be relied on."""
        self.diagnostics = ()
        try:
            if _others_may_write(self.path):
                return self._disregard("other users may write it")
            data = LocalFiles().read_head(self.path, _MOST_BYTES).data
            file = msgspec.json.decode(data, type=_File)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._disregard(f"it cannot be read ({getattr(error, 'strerror', None) or error})")
        if file.version != _VERSION:
            return self._disregard("another version of Prowess wrote it")
        return file.trusted

    def is_too_wide(self, root: str) -> bool:
        """Whether everything of the user, or of the machine, lies below a folder."""
        return root in (self._home, *_list_parents(self._home))

    def _load_for_change(self) -> list[Trusted]:
        """What there is; a file that cannot be used is put aside, never overwritten."""
        found = self.load()
        if self.diagnostics:
            try:
                os.replace(self.path, f"{self.path}.unusable")
            except OSError as error:
                raise MachineError("put aside", self.path, error.strerror or str(error)) from error
        return found

    def _write(self, trusted: list[Trusted]) -> None:
        trusted = sorted(trusted, key=lambda one: one.root)
        try:
            data = msgspec.json.format(msgspec.json.encode(_File(_VERSION, trusted)), indent=2)
        except UnicodeEncodeError:
            raise MachineError("write", self.path, "the path of a project is no text") from None
        write_aside(self.path, data + b"\n", mode=0o600, folder_mode=0o700)

    def _disregard(self, reason: str) -> list[Trusted]:
        message = f"The list of trusted projects is not used, since {reason}; no project counts as trusted."
        self.diagnostics = (diagnose("state-unreadable", message, file=self.path),)
        return []


def _list_parents(path: str) -> list[str]:
    parents = []
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        parents.append(path)
    return parents


def _others_may_write(path: str) -> bool:
    return os.name == "posix" and bool(os.stat(path).st_mode & (stat.S_IWGRP | stat.S_IWOTH))
