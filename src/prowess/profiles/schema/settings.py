"""The tables `[settings.NAME]` and `[toggles.NAME]`: the settings files of a host, and its switches."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

import msgspec

from prowess.profiles.schema import Boundary, Table

_PROJECT_PLACES = ("{ancestor}", "{cwd}", "{repository}", "{workspace}", "{added}")


class SettingsFileRule(Table, frozen=True):
    """A settings file of the host: where it lies, its format, and how its keys map to Prowess's.

    `keys` maps a dotted key of the file to the name of a setting; a last part `*` stands for every
    key there that no other entry names. A file that refuses unknown keys and has no `keys` holds
    Prowess's own. Files are read in the order of the profile, `{ancestor}` from the farthest to the
    nearest; a later one replaces values of an earlier one. What hangs at the working folder or
    above it comes along with a project. `about_skills` are tables of a host's file in which nothing
    stands but settings of skills, so that an unknown key there is reported; `also` are keys that
    the host knows and that set nothing here.
    """

    at: tuple[str, ...]
    format: Literal["toml", "json5", "yaml"]
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    about_skills: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    refuse_unknown: bool = False
    relative_to: Literal["cwd", "file"] = "cwd"
    substitute_env: bool = False
    up_to: Boundary = "repository"
    without_repository: Boundary = "filesystem"

    @property
    def is_project(self) -> bool:
        """Whether the file comes along with a project, so that its user need not have read it."""
        return any(place in template for template in self.at for place in _PROJECT_PLACES)

    @property
    def is_own(self) -> bool:
        """Whether the file is Prowess's and not a host's."""
        return self.refuse_unknown and not self.keys


class ToggleRule(Table, frozen=True):
    """A source toggle and the value it has when nobody set it.

    `sources` are the labels (`claude:user`) of the roots that it switches off, beside those whose
    `when` names it.
    """

    default: bool = True
    sources: tuple[str, ...] = ()
