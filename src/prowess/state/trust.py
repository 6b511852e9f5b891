"""Which projects the user trusts, kept outside of every project.

A project is its repository, by its real path; a folder that belongs to no repository stands for
itself and what lies below it. What is not named is not trusted, and neither is anything where the
file cannot be relied on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.errors.activation import TooWide
from prowess.model.facts import Facts
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.state.folders import state_folder
from prowess.state.private_list import PrivateList

_MOST_BYTES = 1 << 22
_LOST = "The list of trusted projects is not used, since {reason}; no project counts as trusted."

# Nobody but the user, their administrator or this program put these there.
_OWN = frozenset((Scope.USER, Scope.MANAGED, Scope.BUNDLED))


class Trusted(msgspec.Struct, frozen=True):
    """A project that is trusted: its real path, and the day on which the user said so."""

    root: str
    since: str


def trust_path(facts: Facts) -> str:
    """Where it is kept on a machine which projects are trusted."""
    return os.path.join(state_folder(facts), "trust.json")


class TrustFile:
    """The projects that are trusted."""

    def __init__(
        self, path: str, *, home: str, today: Callable[[], str] = lambda: time.strftime("%Y-%m-%d")
    ) -> None:
        self.path = path
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
    def of(cls, facts: Facts) -> TrustFile:
        """The file of a machine's user."""
        return cls(trust_path(facts), home=facts.home)

    def is_trusted(self, skill: Skill) -> bool:
        """Whether what a skill says may be run: it is the user's own, or the user trusts its
        project.

        A skill that is reached by a link belongs to several projects, and all must be trusted:
        where the link lies, where its folder is and where its file is. What comes from an MCP
        server or a remote source is never trusted.
        """
        if skill.scope is Scope.REMOTE or skill.source.loaded_from is LoadedFrom.MCP:
            return False
        if skill.scope in _OWN:
            return True
        file = os.path.realpath(skill.location)
        return all(
            map(
                self.is_trusted_folder,
                (os.path.dirname(skill.folder), skill.folder, os.path.dirname(file)),
            )
        )

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        roots = {trusted.root for trusted in self.load()}
        project, is_repository = self.find_project(folder)
        return project in roots or (
            not is_repository and not roots.isdisjoint(_list_parents(project))
        )

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
        added = Trusted(root, self._today())
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
