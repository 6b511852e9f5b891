"""The tables `[roots.NAME]`, `[limits]` and `[context]`: where skills and context files are looked for."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from collections.abc import Mapping
from typing import Literal

import msgspec

from prowess.model.skill import LoadedFrom, Scope
from prowess.profiles.schema import Boundary, Table

Links = Literal["follow", "inside-root", "root-only", "real-folder", "known", "never"]

Layout = Literal["skills", "commands", "extra"]


class RootRule(Table, frozen=True):
    """A kind of root.

    `at` are path templates. `{home}`, `{cwd}`, `{workspace}` and the names under `[places]` stand
    for one folder; `{ancestor}` for the working folder and each one above it, nearest first;
    `{added}`, `{custom}` and `{plugin}` for each folder that an option or a setting names. `when`
    (any must hold) and `unless` (none may) are conditions: `env:NAME` (a true word), `env-one:NAME`
    (1 or true), `env-set:NAME` (anything), `env-moved:NAME=~/FOLDER` (another folder),
    `toggle:NAME`, `any-toggle`, `provider:NAME`. `name_pattern` is a regular expression that a
    skill's whole name must match here.
    """

    at: tuple[str, ...]
    scope: Scope
    provider: str = ""
    level: str = ""
    label: str = ""
    loaded_from: LoadedFrom = LoadedFrom.SKILLS
    layout: Layout = "skills"
    group: str = "disk"
    priority: int = 0
    up_to: Boundary = "repository"
    without_repository: Boundary = "filesystem"
    skip_home: bool = False
    min_depth: int = 1
    max_depth: int = 1
    leaf: bool = True
    hidden: bool = False
    gitignore: bool = False
    links: Links = "follow"
    hard_links: bool = True
    skip_names: tuple[str, ...] = ()
    ignored_fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    keep_when_bare: bool = False
    must_exist: bool = False
    name_pattern: str = ""


class Limits(Table, frozen=True):
    """Bounds on one scan. 0 means no bound.

    `*_per_root` and `per_folder` cut a sorted list, so the cut is stable. `items_per_folder` counts
    the folders in a folder that may hold skills, not its files. Where `folders_per_item` is set,
    `folders_per_root` is that many times `items_per_folder`, whoever changes the latter.
    """

    file_bytes: int = 0
    header_bytes: int = 65_536
    skills_per_root: int = 100_000
    folders_per_root: int = 200_000
    items_per_folder: int = 0
    folders_per_item: int = 0
    seconds_per_root: float = 60.0
    yaml_aliases: int = 32
    yaml_depth: int = 64

    def change(self, changes: Mapping[str, float]) -> "Limits":
        """These limits with some of them changed, and what follows from them."""
        changed = msgspec.structs.replace(self, **changes) if changes else self
        if not changed.folders_per_item or not changed.items_per_folder:
            return changed
        return msgspec.structs.replace(
            changed, folders_per_root=changed.folders_per_item * changed.items_per_folder
        )


class ContextRules(Table, frozen=True):
    """How context files are found: their names, how far up, and which folders are left out.

    `past_repository_below_home` goes on above a repository that lies below home, up to home but not
    into it.
    """

    files: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
    depth: int = 20
    hidden: Literal["any-segment", "own-folder", "allow"] = "any-segment"
    up_to: Boundary = "filesystem"
    without_repository: Boundary = "filesystem"
    past_repository_below_home: bool = False
