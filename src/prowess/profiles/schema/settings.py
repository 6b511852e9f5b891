"""`[settings.NAME]` and `[toggles.NAME]`: the settings files of a host and its toggles."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

import msgspec

from prowess.profiles.schema import Boundary, Table

_PROJECT_PLACES = ("{ancestor}", "{cwd}", "{repository}", "{workspace}", "{added}")


class SettingsFileRule(Table, frozen=True):
    """A settings file of the host.

    Files are read in the order of `settings_order`, and `{ancestor}` from the farthest folder to
    the nearest, unless `nearest_first`. Later values replace earlier ones.

    - `at`: the path templates, as in `[roots.NAME]`. A file in the working folder or above it
      belongs to the project.
    - `format`: the format of the file. `json` is JSON without comments or trailing commas, `json5`
      also reads both.
    - `keys`: the setting that each dotted key of the file stands for. A last part `*` stands for
      every key that is not listed.
    - `about_skills`: tables that only contain settings for skills, so unknown keys are reported.
    - `also`: further keys the host knows, which set nothing here.
    - `only_keys`: keep nothing of the file but what `keys` name: it is large, or about other
      things.
    - `refuse_unknown`: reject unknown keys. Without `keys`, the file is a prowess.toml.
    - `join`: settings whose lists are added to those of the files before instead of replacing them.
    - `relative_to`: what relative paths are relative to: the working folder or the file.
    - `when`: conditions, as in `[roots.NAME]`, of which at least one must hold for the file to
      count.
    - `substitute_env`: replace `{env:NAME}` with the environment variable, and `{file:PATH}` with
      the text of a file. A project's file can only name files of the project.
    - `truthy`: read any value as true or false where one is expected, as JavaScript does.
    - `nearest_first`: read `{ancestor}` from the nearest folder to the farthest.
    - `unless`: conditions of which none may hold for the file to count.
    - `read_only`: never change the file, as `prowess disable` would.
    - `up_to`: the last folder that `{ancestor}` reaches.
    - `without_repository`: the value of `up_to` to use outside a repository.
    """

    at: tuple[str, ...]
    format: Literal["toml", "json", "json5", "yaml"]
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    about_skills: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    # Claude Code keeps its servers in a file with the history of every project.
    only_keys: bool = False
    refuse_unknown: bool = False
    # Gemini CLI joins the lists of disabled skills; most hosts replace them.
    join: tuple[str, ...] = ()
    relative_to: Literal["cwd", "file"] = "cwd"
    when: tuple[str, ...] = ()
    substitute_env: bool = False
    # For omp the text “false” is true.
    truthy: bool = False
    nearest_first: bool = False
    unless: tuple[str, ...] = ()
    read_only: bool = False
    up_to: Boundary = "repository"
    without_repository: Boundary = "filesystem"

    @property
    def is_project(self) -> bool:
        """Whether the file comes along with a project, so that its user need not have read it."""
        return _is_project(self.at)

    @property
    def is_own(self) -> bool:
        """Whether the file is Prowess's and not a host's."""
        return self.refuse_unknown and not self.keys


class AgentFilesRule(Table, frozen=True):
    """Folders with a Markdown file for each agent, whose header has permission rules.

    - `at`: the path templates of the folders, as in `[settings.NAME]`; `{ancestor}` from the
      nearest folder to the farthest.
    - `when`: conditions, as in `[roots.NAME]`, of which at least one must hold.
    - `unless`: conditions of which none may hold.
    """

    at: tuple[str, ...]
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def is_project(self) -> bool:
        """Whether the files come along with a project."""
        return _is_project(self.at)


def _is_project(templates: tuple[str, ...]) -> bool:
    whole = "\n".join(templates)
    return any(place in whole for place in _PROJECT_PLACES)


class ToggleRule(Table, frozen=True):
    """A setting that turns sources on or off.

    - `default`: its value if it is not set.
    - `sources`: labels of the sources it controls (`claude:user`), in addition to roots that name
      it in `when`.
    """

    default: bool = True
    sources: tuple[str, ...] = ()
