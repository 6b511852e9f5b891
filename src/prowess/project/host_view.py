"""What is opened once for a folder and a host: the host's rules, the machine's facts, the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from prowess.discover.repository import find_repository
from prowess.discover.roots import add_settings
from prowess.errors import NotAFolder
from prowess.machine.facts import current_facts, isolated_facts
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.settings import Settings
from prowess.ports import FileSystem
from prowess.profiles.load import load_profile
from prowess.profiles.places import Places
from prowess.profiles.schema.profile import Profile
from prowess.project.options import Options, check_options
from prowess.project.project_places import ProjectPlaces
from prowess.settings.load import load_settings
from prowess.state.folders import cache_folder
from prowess.state.profile_cache import (
    load_added_profiles,
    load_kept_profile,
    load_named_profile,
)

if TYPE_CHECKING:
    from prowess.sources import AnySource, Composition


class HostView:
    """A working folder, the rules of a host, and the files that are seen by them.

    `agent` and `rules` are for whom skills are opened and what it may use. Without a `cache_folder`
    nothing is kept between runs. With a `composition` only the files of its sources are there.
    """

    def __init__(
        self,
        cwd: str,
        host: str,
        *,
        profile: Profile,
        facts: Facts,
        files: FileSystem,
        cache_folder: str | None,
        agent: str | None = None,
        rules: Iterable[Rule] = (),
        add_dirs: Iterable[str] = (),
        places: Mapping[str, str] | None = None,
        composition: Composition | None = None,
        may_lack_cwd: bool = False,
    ) -> None:
        self.cwd = cwd
        self.host = host
        self.profile = profile
        self.facts = facts
        self.files = files
        self.cache_folder = cache_folder
        self.agent = agent
        self.rules = tuple(rules)
        self.composition = composition
        self._places = ProjectPlaces(
            cwd, facts, files, given=dict(places or {}), added=tuple(add_dirs)
        )
        self._may_lack_cwd = may_lack_cwd
        # Agents ask for our own settings at every call of a tool; profiles are read once.
        self._own_profile: Profile | None = None

    def check_cwd(self) -> None:
        """Raise `NotAFolder` if the working folder is none."""
        kind = self.files.find_kind(self.cwd)
        is_lacking = kind is None and self._may_lack_cwd
        if kind != "folder" and not is_lacking:
            raise NotAFolder(self.cwd)

    def find_places(self) -> Places:
        """The folders that the profile's templates name, before any setting is read."""
        return self._places.locate(self.profile).places

    def load_settings(self) -> Settings:
        """The settings of the host that apply here, each with the file it came from."""
        if self.composition is not None:
            return Settings()
        return self._load_settings(self.profile).choose_agent(self.agent)

    def add_settings(self, places: Places, settings: Settings) -> Places:
        """The places together with those that the settings name."""
        has_plugins = bool(self.profile.plugins)
        places = add_settings(places, settings, agent=self.agent, has_plugins=has_plugins)
        if settings.root_markers is None:
            return places
        return self._move_repository(places, settings.root_markers)

    def find_own_places(self) -> Places:
        """The folders that are Prowess's own, whichever host it answers as."""
        return self._places.locate(self._load_own_profile()).places

    def load_own_settings(self) -> Settings:
        """Prowess's own settings, which decide what is its own, whichever host it answers as."""
        if self.composition is not None:
            return Settings()
        return self._load_settings(self._load_own_profile())

    def _load_settings(self, profile: Profile) -> Settings:
        located = self._places.locate(profile)
        return load_settings(
            profile, located.places, self.facts, self.files, listed=located.settings
        )

    def _load_own_profile(self) -> Profile:
        if self._own_profile is None:
            name, added = load_added_profiles(self.facts, "prowess")
            # Composed sources read nothing of the user's, so not the cache of profiles either.
            is_kept = self.cache_folder is not None and self.composition is None
            self._own_profile = _load_profile(name, added, self.facts, is_kept=is_kept)
        return self._own_profile

    def _move_repository(self, places: Places, markers: tuple[str, ...]) -> Places:
        """The places with the project's folder where the settings name other marks than `.git`."""
        repository = find_repository(
            self.cwd, self.files, platform=self.facts.platform, markers=markers
        )
        named = {name: path for name, path in places.named.items() if name != "repository"}
        if repository is not None:
            named["repository"] = repository
        return msgspec.structs.replace(places, repository=repository, named=named)


def open_view(path: str | os.PathLike[str], host: str, **options: Unpack[Options]) -> HostView:
    """A folder of this machine, with the settings and profiles of its user."""
    check_options(options)
    facts = options.get("facts") or current_facts()
    files = options.get("files")
    is_asked = options.get("cache", True) and not facts.env.get("PROWESS_NO_CACHE")
    is_kept = bool(is_asked) and files is None
    name, added = load_added_profiles(facts, host)
    return HostView(
        os.path.abspath(path),
        name,
        profile=_load_profile(name, added, facts, is_kept=is_kept),
        facts=facts,
        files=files or LocalFiles(),
        cache_folder=cache_folder(facts) if is_kept else None,
        agent=options.get("agent"),
        rules=options.get("rules", ()),
        add_dirs=map(os.path.abspath, options.get("add_dirs", ())),
        places=options.get("places"),
        # A file system in memory has folders only where it has files; an empty one is no mistake.
        may_lack_cwd=files is not None,
    )


def compose_view(
    sources: Iterable[AnySource],
    *,
    cwd: str | os.PathLike[str],
    host: str,
    facts: Facts | None = None,
    cache: str | os.PathLike[str] | None = None,
    agent: str | None = None,
    rules: Iterable[Rule] = (),
) -> HostView:
    """The files of these sources and nothing else of the machine."""
    from prowess.sources import Composition

    profile = load_named_profile(host)
    # Folders beside a touched file are not among the sources.
    conditions = msgspec.structs.replace(profile.conditions, below=())
    composition = Composition(sources, profile, LocalFiles())
    return HostView(
        os.path.abspath(cwd),
        host,
        profile=msgspec.structs.replace(profile, conditions=conditions),
        facts=facts or isolated_facts(),
        files=composition.files,
        cache_folder=None if cache is None else os.path.abspath(cache),
        agent=agent,
        rules=rules,
        composition=composition,
        may_lack_cwd=True,
    )


def _load_profile(name: str, added: Mapping[str, Any], facts: Facts, *, is_kept: bool) -> Profile:
    if added or not is_kept:
        return load_profile(name, added)
    return load_kept_profile(name, facts)
