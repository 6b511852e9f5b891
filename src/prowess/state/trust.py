"""Which projects the user trusts, kept outside of every project.

A project is its repository, by its real path and its first commit; a folder that belongs to no
repository stands for itself and what is below it. Trust lapses where another project takes the
place. What is not named is not trusted, and neither is anything where the file cannot be relied on.

Whose a skill is follows from where its file really lies. A profile, a cache or a variable of the
environment can claim that a folder is the user's own; it is believed only for folders where users
keep their configuration, outside of the project they work in.
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
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 22
_LOST = "The list of trusted projects is not used, since {reason}; no project counts as trusted."

# What nobody but the user, their administrator or this program puts there, if it lies where these
# keep their things.
_OWN = frozenset((Scope.USER, Scope.MANAGED, Scope.BUNDLED))


class Trusted(msgspec.Struct, frozen=True):
    """A trusted project: its real path, the day on which the user said so, and what tells it from
    another project at the same path.
    """

    root: str
    since: str
    identity: str = ""


def trust_path(facts: Facts) -> str:
    """Where it is kept on a machine which projects are trusted."""
    return os.path.join(state_folder(facts), "trust.json")


class TrustFile:
    """The projects that are trusted."""

    def __init__(
        self,
        path: str,
        *,
        home: str,
        cwd: str | None = None,
        today: Callable[[], str] = lambda: time.strftime("%Y-%m-%d"),
    ) -> None:
        self.path = path
        self._cwd = cwd
        self._list = PrivateList(
            path, "trusted", Trusted, order=lambda one: one.root, lost=_LOST, most=_MOST_BYTES
        )
        self._home = os.path.realpath(home)
        self._today = today

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why the file was not used at the last question, where it was not."""
        return self._list.diagnostics

    @classmethod
    def of(cls, facts: Facts, *, cwd: str | None = None) -> TrustFile:
        """The file of a machine's user, who works in the folder `cwd`."""
        return cls(trust_path(facts), home=facts.home, cwd=cwd)

    def is_trusted(self, skill: Skill) -> bool:
        """Whether what a skill says may be run: it is the user's own, or the user trusts its
        project.

        A skill that is reached by a link belongs to several projects, and all must be trusted:
        where the link lies, where its folder is and where its file is. What comes from an MCP
        server or a remote source is never trusted.
        """
        if skill.scope is Scope.REMOTE or skill.source.loaded_from is LoadedFrom.MCP:
            return False
        if skill.file is None:
            return skill.scope in _OWN
        file = os.path.realpath(skill.file)
        if skill.scope in _OWN and self._is_own(skill.scope, file):
            return True
        return all(
            map(
                self.is_trusted_folder,
                (os.path.dirname(skill.folder), skill.folder, os.path.dirname(file)),
            )
        )

    def _is_own(self, scope: Scope, file: str) -> bool:
        """Whether a file lies where the user, an administrator or this program keeps skills."""
        if self._lies_in_project(file):
            return False
        if scope is Scope.USER:
            return self._is_configuration(file)
        return find_other_writer(file) is None

    def _lies_in_project(self, file: str) -> bool:
        """Whether a file belongs to what the user works on."""
        if self._cwd is None:
            return False
        root, _ = self.find_project(self._cwd)
        return not self.is_too_wide(root) and root in _list_parents(file)

    def _is_configuration(self, file: str) -> bool:
        """Whether a file lies in a hidden folder of the home, such as `~/.claude`."""
        below = os.path.relpath(file, self._home)
        return below.startswith(".") and not below.startswith("..")

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        return self.find_trusted(folder) is not None

    def find_trusted(self, folder: str) -> Trusted | None:
        """The trust that covers a folder; None where there is none, or it has lapsed."""
        project, is_repository = self.find_project(folder)
        covering = (project,) if is_repository else (project, *_list_parents(project))
        named = {trusted.root: trusted for trusted in self.load()}
        found = (named[root] for root in covering if root in named)
        return next((one for one in found if has_identity(one.root, one.identity)), None)

    def find_project(self, folder: str) -> tuple[str, bool]:
        """The project that a folder belongs to, by its real path, and whether that is a repository.

        A folder that belongs to no repository is its own project. A repository that holds the
        user's whole home is none, or everything would be one project.
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
        added = Trusted(root, self._today(), find_identity(root))
        self._list.change(
            lambda found: [*(trusted for trusted in found if trusted.root != root), added]
        )
        return added

    def distrust(self, folder: str) -> bool:
        """Take the trust in a folder's project back, and in the folder itself; whether there was
        any.
        """
        gone = {self.find_project(folder)[0], os.path.realpath(folder)}
        return (
            self._list.change(
                lambda found: [trusted for trusted in found if trusted.root not in gone]
            )
            > 0
        )

    def load(self) -> list[Trusted]:
        """Every project that is trusted, by path; none where the file is not there or cannot be
        relied on.
        """
        return self._list.load()

    def is_too_wide(self, root: str) -> bool:
        """Whether everything of the user, or of the machine, lies below a folder."""
        return root in (self._home, *_list_parents(self._home))


def _list_parents(path: str) -> list[str]:
    parents = []
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        parents.append(path)
    return parents
