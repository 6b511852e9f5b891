"""The folders and settings files of a working folder, by the templates of a profile."""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

from collections.abc import Mapping

import msgspec

from prowess.discover.repository import find_main_checkout, find_repository
from prowess.model.facts import Facts
from prowess.ports import FileSystem
from prowess.profiles.places import Places, name_places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.load import list_settings_places


class Located(msgspec.Struct, frozen=True):
    """The folders that a profile's templates name, and every file that may have settings there."""

    places: Places
    settings: list[tuple[str, SettingsFileRule]]


class ProjectPlaces:
    """Resolves the templates of profiles for one working folder.

    They only depend on the repository that the folder is in, so they are resolved again when that
    has changed: an agent asks for settings several times in every turn.
    """

    def __init__(
        self,
        cwd: str,
        facts: Facts,
        files: FileSystem,
        *,
        given: Mapping[str, str],
        added: tuple[str, ...],
    ) -> None:
        self._cwd = cwd
        self._facts = facts
        self._files = files
        self._given = given
        self._added = added
        # By the identity of a profile, which is kept here so that it stays unique.
        self._kept: dict[int, tuple[Profile, Located]] = {}

    def locate(self, profile: Profile) -> Located:
        """The folders and files of a profile as they are now."""
        # The files of composed sources include no folder around them.
        repository = find_repository(self._cwd, self._files, platform=self._facts.platform)
        main = None if repository is None else find_main_checkout(repository, self._files)
        kept = self._kept.get(id(profile))
        if kept is not None:
            places = kept[1].places
            if (places.repository, places.main_checkout) == (repository, main):
                return kept[1]
        located = self._resolve(profile, repository, main)
        self._kept[id(profile)] = (profile, located)
        return located

    def _resolve(self, profile: Profile, repository: str | None, main: str | None) -> Located:
        named = name_places(
            profile.places,
            cwd=self._cwd,
            facts=self._facts,
            repository=repository,
            given=self._given,
        )
        places = msgspec.structs.replace(named, added=self._added, main_checkout=main)
        return Located(places, list_settings_places(profile, places))
