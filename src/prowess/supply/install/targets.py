"""The folders that skills are installed in: of a project or a user, for one or more agents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

import msgspec

from prowess.errors import UnknownHost
from prowess.errors.install import InvalidLock
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.profiles.load import known_hosts, split_host
from prowess.reports.skill_folders import (
    SHARED_FOLDER,
    choose_project_folder,
    choose_user_folder,
)
from prowess.runtime import Skills
from prowess.state.install_lock import LOCK_NAME, InstallLock, LockedSkill
from prowess.state.profile_cache import load_added_profiles
from prowess.supply.install.agent_folders import AGENT_FOLDERS

PROJECT = "project"
USER = "user"


class InstallPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A project or a user's home as a place to install in.

    `base` is the top folder of the project, or the home. `managed` is the folder in which an
    organisation keeps its policy.
    """

    scope: str
    base: str
    lock_path: str
    facts: Facts
    managed: str | None = None

    def open_lock(self) -> InstallLock:
        """Its lock file."""
        return InstallLock(self.lock_path, self.facts)

    def name_target(self, folder: str) -> str:
        """A folder as the lock file has it."""
        # So that the lock file of a user means the same where the home is elsewhere.
        lead = "~/" if self.scope == USER else ""
        if folder.startswith(f"{self.base}/"):
            return lead + folder[len(self.base) + 1 :]
        return folder

    def resolve_target(self, target: str) -> str:
        """The folder that a target of the lock file means. Raises `InvalidLock`.

        A lock file may come with a clone, so a project's targets must really be in the project.
        """
        if self.scope == USER:
            return posixpath.join(self.base, target.removeprefix("~/"))
        folder = posixpath.normpath(posixpath.join(self.base, target))
        is_inside = folder.startswith(f"{self.base}/")
        if posixpath.isabs(target) or not is_inside:
            raise InvalidLock(self.lock_path, f"the target {target[:200]} is outside the project")
        if self.leads_out(folder):
            cause = f"the target {target[:200]} is outside the project, through a symlink"
            raise InvalidLock(self.lock_path, cause)
        return folder

    def list_folders(self, entries: Iterable[LockedSkill]) -> list[str]:
        """Every folder of these skills. Raises `InvalidLock`."""
        folders: list[str] = []
        for entry in entries:
            folders += map(self.resolve_target, entry.targets)
        return folders

    def leads_out(self, folder: str) -> bool:
        """Whether a symlink on the way to a folder leads out of the project."""
        if self.scope == USER:
            return False
        files = LocalFiles()
        top = files.find_real_path(self.base) or self.base
        # What is not there yet is made as a plain folder, so only what is there can be a link.
        above = posixpath.dirname(folder)
        while above != self.base and files.find_kind(above) is None:
            above = posixpath.dirname(above)
        real = files.find_real_path(above) or above
        return not f"{real}/".startswith(f"{top}/")


def find_place(skills: Skills, *, user: bool) -> InstallPlace:
    """Where skills are installed for the working folder, or for the user. Nothing is scanned."""
    places, facts = skills.find_places(), skills.facts
    managed = skills.project.view.find_own_places().named.get("managed")
    if user:
        path = posixpath.join(find_own_folder(facts), LOCK_NAME)
        return InstallPlace(
            scope=USER, base=facts.home, lock_path=path, facts=facts, managed=managed
        )
    top = _find_project(places.cwd, places.repository)
    path = posixpath.join(top, LOCK_NAME)
    return InstallPlace(scope=PROJECT, base=top, lock_path=path, facts=facts, managed=managed)


def find_own_folder(facts: Facts) -> str:
    """The folder of the user's own configuration of Prowess."""
    config = facts.env.get("XDG_CONFIG_HOME") or posixpath.join(facts.home, ".config")
    return posixpath.join(config, "prowess")


def _find_project(cwd: str, repository: str | None) -> str:
    """The nearest folder with a lock file, up to the repository; else the repository itself."""
    if repository is None:
        return cwd
    files = LocalFiles()
    folder = cwd
    while folder != repository:
        if files.find_kind(posixpath.join(folder, LOCK_NAME)) == "file":
            return folder
        folder = posixpath.dirname(folder)
    return repository


def choose_folders(skills: Skills, place: InstallPlace, agents: tuple[str, ...]) -> list[str]:
    """The skill folders of these agents, each once; those of the host where none is named.

    Raises `UnknownHost`.
    """
    if not agents:
        return [_choose_of_host(skills, place)]
    folders = [choose_agent_folder(agent, place) for agent in agents]
    return list(dict.fromkeys(folders))


def choose_agent_folder(agent: str, place: InstallPlace) -> str:
    """The folder that an agent reads: by its profile, or by the table of other agents."""
    _, added = load_added_profiles(place.facts, "prowess")
    hosts = known_hosts(added)
    name = split_host(agent, added)[0]
    if name in hosts:
        skills = Skills(place.base, host=agent, facts=place.facts)
        return _choose_of_host(skills, place)
    if name not in AGENT_FOLDERS:
        raise UnknownHost(agent, sorted({*hosts, *AGENT_FOLDERS}))
    in_project, in_home = AGENT_FOLDERS[name]
    inner = in_home if place.scope == USER else in_project
    # Some agents have skills in projects only.
    if inner is None:
        raise UnknownHost(f"{agent} (for a user)", sorted({*hosts, *AGENT_FOLDERS}))
    return posixpath.join(place.base, inner)


def list_agent_folders(place: InstallPlace) -> list[str]:
    """The skill folders of all agents without a profile, each once; few of them exist."""
    number = 1 if place.scope == USER else 0
    inner = dict.fromkeys(folders[number] for folders in AGENT_FOLDERS.values())
    return [posixpath.join(place.base, folder) for folder in inner if folder is not None]


def _choose_of_host(skills: Skills, place: InstallPlace) -> str:
    if place.scope == USER:
        return choose_user_folder(skills)
    chosen = choose_project_folder(skills)
    # A folder above the project belongs to somebody else's lock file.
    if chosen.startswith(f"{place.base}/"):
        return chosen
    return posixpath.join(place.base, SHARED_FOLDER)
