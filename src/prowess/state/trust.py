"""Which projects the user trusts, kept outside every project.

A project is its repository, by its real path and its first commit; a folder in no repository is a
project of its own, with what is below it. Trust lapses if another project takes its path. What is
not listed is not trusted, and nothing is if the file itself cannot be trusted.

Whose a skill is follows from where its file really is. A profile, a cache or an environment
variable can claim that a folder is the user's own; it is believed only for folders where users keep
their configuration, outside the project they work in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.errors.activation import TooWide
from prowess.machine.ownership import find_other_writer
from prowess.machine.project_identity import find_identity, has_identity
from prowess.model.facts import Facts
from prowess.model.plugin import Plugin
from prowess.model.skill import Scope, Skill
from prowess.state.folders import state_folder, store_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 22
_LOST = "The list of trusted projects is ignored because {reason}; no project is trusted."

# What only the user, their administrator or this program can have put there, if the file is where
# these keep their things.
_OWN = frozenset((Scope.USER, Scope.MANAGED, Scope.BUNDLED))
# Where hosts install plugins, below the home folder.
_PLUGIN_FOLDERS = (
    ".claude/plugins",
    ".claude/skills",
    ".codex/plugins",
    ".gemini/extensions",
    ".omp/plugins",
    ".openclaw/extensions",
    ".prowess/plugins",
)


class Trusted(msgspec.Struct, frozen=True):
    """A trusted project: its real path and the day on which the user trusted it.

    `identity` tells it from another project at the same path.
    """

    root: str
    since: str
    identity: str = ""


def trust_path(facts: Facts) -> str:
    """Where the list of trusted projects is kept on a machine."""
    return os.path.join(state_folder(facts), "trust.json")


class GivenTrust:
    """A `TrustPolicy` that the program decides and no file.

    `decide` is asked for each skill that may be trusted at all.
    """

    def __init__(self, decide: Callable[[Skill], bool], *, trusts_project: bool = False) -> None:
        self._decide = decide
        self._trusts_project = trusts_project

    def is_trusted(self, skill: Skill) -> bool:
        """Whether a skill may run commands."""
        return not skill.is_foreign and self._decide(skill) is True

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the program trusts the whole project."""
        return self._trusts_project

    def is_own_plugin(self, plugin: Plugin) -> bool:
        """Whether the program trusts everything."""
        return self._trusts_project


class TrustFile:
    """The projects that are trusted."""

    def __init__(
        self,
        path: str,
        *,
        home: str,
        cwd: str | None = None,
        store: str | None = None,
        today: Callable[[], str] = lambda: time.strftime("%Y-%m-%d"),
    ) -> None:
        self.path = path
        self._cwd = cwd
        self._list = PrivateList(
            path, "trusted", Trusted, order=lambda one: one.root, lost=_LOST, most_bytes=_MOST_BYTES
        )
        self._home = os.path.realpath(home)
        self._store = None if store is None else os.path.realpath(store)
        self._today = today

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the file was ignored the last time it was read; nothing if it was not."""
        return self._list.diagnostics

    @classmethod
    def of(cls, facts: Facts, *, cwd: str | None = None) -> TrustFile:
        """The file of a machine's user, who works in the folder `cwd`."""
        return cls(trust_path(facts), home=facts.home, cwd=cwd, store=store_folder(facts))

    def is_trusted(self, skill: Skill) -> bool:
        """Whether a skill may run commands: it is the user's own, or its project is trusted.

        A skill that is reached through a symlink belongs to several projects, and all must be
        trusted: that of the link, of its folder and of its file. What comes from an MCP server or a
        remote source is never trusted.
        """
        if skill.is_foreign:
            return False
        # Defined in code, so the program that runs has brought it.
        if skill.file is None:
            return skill.scope in _OWN
        file = os.path.realpath(skill.file)
        # A scope is only a claim, so each is checked against where the file really is.
        if skill.scope in _OWN and self._is_own(skill.scope, file):
            return True
        if skill.scope is Scope.PLUGIN and self._is_installed(file):
            return True
        root = os.path.dirname(skill.folder)
        if self._lies_in_store(file):
            # Installed as a link: the store belongs to no project, and nobody else writes there.
            return find_other_writer(file) is None and self.is_trusted_folder(root)
        folders = (root, skill.folder, os.path.dirname(file))
        return all(map(self.is_trusted_folder, folders))

    def _lies_in_store(self, file: str) -> bool:
        return self._store is not None and file.startswith(f"{self._store}{os.sep}")

    def _is_own(self, scope: Scope, file: str) -> bool:
        """Whether a file is where the user, an administrator or this program keeps skills."""
        if self._lies_in_project(file):
            return False
        if scope is Scope.USER:
            return self._is_configuration(file)
        return find_other_writer(file) is None

    def _lies_in_project(self, file: str) -> bool:
        """Whether a file belongs to the project that the user works in."""
        if self._cwd is None:
            return False
        root, _ = self.find_project(self._cwd)
        # In a “project” around the home everything of the user would be the project's.
        if self.is_too_wide(root):
            return False
        return root in _list_parents(file)

    def _is_configuration(self, file: str) -> bool:
        """Whether a file is in a hidden folder of the home, such as `~/.claude`."""
        below = os.path.relpath(file, self._home)
        return below.startswith(".") and not below.startswith("..")

    def is_own_plugin(self, plugin: Plugin) -> bool:
        """Whether a plugin is where hosts install those of the user, or ships with Prowess."""
        folder = os.path.realpath(plugin.folder)
        if plugin.owner == "bundled":
            return not self._lies_in_project(folder) and find_other_writer(folder) is None
        return self._is_installed(folder)

    def _is_installed(self, path: str) -> bool:
        """Whether a path is where hosts install the plugins of the user.

        Any list can name a folder; nobody but the user puts plugins into these.
        """
        if self._lies_in_project(path):
            return False
        places = tuple(os.path.join(self._home, folder, "") for folder in _PLUGIN_FOLDERS)
        return path.startswith(places) and find_other_writer(path) is None

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        return self.find_trusted(folder) is not None

    def find_trusted(self, folder: str) -> Trusted | None:
        """The trust that covers a folder; None if there is none or it has lapsed."""
        project, is_repository = self.find_project(folder)
        # A repository stands for itself: one that was cloned into a trusted folder is not covered.
        covering = (project,) if is_repository else (project, *_list_parents(project))
        by_root = {trusted.root: trusted for trusted in self.load()}
        for root in covering:
            trusted = by_root.get(root)
            if trusted is not None and has_identity(trusted.root, trusted.identity):
                return trusted
        return None

    def find_project(self, folder: str) -> tuple[str, bool]:
        """The project that a folder belongs to, by its real path, and whether that is a repository.

        A folder in no repository is its own project. A repository around the user's whole home does
        not count, or everything would be one project.
        """
        real = os.path.realpath(folder)
        for parent in (real, *_list_parents(real)):
            # A folder, or the file of a worktree or submodule.
            if not os.path.lexists(os.path.join(parent, ".git")):
                continue
            if self.is_too_wide(parent):
                break
            return parent, True
        return real, False

    def trust(self, folder: str) -> Trusted:
        """Trust the project that a folder belongs to. Raises `TooWide` and `MachineError`."""
        root, _ = self.find_project(folder)
        if self.is_too_wide(root):
            raise TooWide(root)
        if not os.path.isdir(root):
            raise MachineError("trust", root, "it is not a folder")
        added = Trusted(root, self._today(), find_identity(root))

        def add(found: list[Trusted]) -> list[Trusted]:
            others = [trusted for trusted in found if trusted.root != root]
            return [*others, added]

        self._list.change(add)
        return added

    def distrust(self, folder: str, *, with_project: bool = True) -> bool:
        """Stop trusting a folder and its project; returns whether either was trusted.

        Without `with_project`, only the entry of the folder itself is removed.
        """
        # A link may have taken the place of the folder since.
        gone = {os.path.abspath(folder), os.path.realpath(folder)}
        if with_project:
            gone.add(self.find_project(folder)[0])

        def remove(found: list[Trusted]) -> list[Trusted]:
            return [trusted for trusted in found if trusted.root not in gone]

        return self._list.change(remove) > 0

    def load(self) -> list[Trusted]:
        """Every trusted project, by path; none if the file is missing or cannot be trusted."""
        return self._list.load()

    def is_too_wide(self, root: str) -> bool:
        """Whether a folder is the user's home or around it."""
        return root in (self._home, *_list_parents(self._home))


def _list_parents(path: str) -> list[str]:
    parents = []
    parent = os.path.dirname(path)
    # The top of the file system is its own parent.
    while parent != path:
        parents.append(parent)
        path, parent = parent, os.path.dirname(parent)
    return parents
