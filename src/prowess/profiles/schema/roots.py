"""`[roots.NAME]`, `[limits]` and `[context]`: where skills and context files are searched."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from collections.abc import Mapping
from typing import Literal

import msgspec

from prowess.model.plugin import PluginFormat
from prowess.model.skill import LoadedFrom, Scope
from prowess.profiles.schema import Boundary, Table

Links = Literal[
    "follow",
    "real-path",
    "inside-root",
    "inside-plugin",
    "root-only",
    "real-folder",
    "known",
    "never",
]
# `extra` is for OpenClaw's extra folders, which may be a root, a skill or hold `skills/`.
Layout = Literal["skills", "commands", "extra"]


class RootRule(Table, frozen=True, kw_only=True):
    """A kind of folder that is searched for skills.

    A path template may contain `{home}`, `{cwd}`, `{workspace}`, `{repository}` or a name from
    `[places]`, each of which stands for one folder; `{ancestor}`, which stands for the working
    folder and every folder above it, nearest first; `{added}`, `{custom}`, `{project_custom}` or
    `{plugin}`, which stand for every folder given by an option or a setting.

    A condition is one of `env:NAME` (set to a true word), `env-one:NAME` (`1` or `true`),
    `env-set:NAME` (set to anything), `env-moved:NAME=~/FOLDER` (set to another folder),
    `toggle:NAME`, `any-toggle`, `provider:NAME` or `trusted-folder` (the host's settings trust the
    working folder).

    - `at`: the path templates.
    - `plugins`: names of `[plugins.NAME]`; the folders of the plugins that they find are searched
      too.
    - `part`: which folders of these plugins are searched.
    - `formats`: the formats of plugins that count; all if empty.
    - `strict`: skills must follow the Agent Skills standard exactly, whatever the host allows
      elsewhere.
    - `scope`: who the skills belong to.
    - `provider`: the name shown for the product the folder belongs to; taken from the template if
      empty.
    - `level`: the host's own word for the scope; for plugins whose they are, if empty.
    - `label`: the full source label; `provider:level` if empty. `{plugin}` is the id of a plugin.
    - `loaded_from`: what kind of source the skills come from.
    - `layout`: how the folder is searched: for folders with a SKILL.md (`skills`), for every
      Markdown file (`commands`), or in any of the forms OpenClaw accepts for extra folders
      (`extra`).
    - `group`: the group the `assembly` strategy ranks by.
    - `priority`: the number the `priority` strategy ranks by; the highest wins.
    - `up_to`: the last folder that `{ancestor}` reaches.
    - `without_repository`: the value of `up_to` to use outside a repository.
    - `farthest_first`: search the folders that `{ancestor}` stands for from the farthest to the
      nearest.
    - `prefix_from`: plugin manifests, relative to a folder. The name in the nearest one at or above
      a skill is put before the skill's name.
    - `skip_home`: don't count the home folder as an ancestor.
    - `min_depth`: how many folders below the root skills start; 0 makes the root itself a skill.
    - `max_depth`: how many folders below the root skills may be.
    - `leaf`: don't search for more skills inside a skill.
    - `by_level`: search all folders of one depth before those below them, which matters where a
      limit ends the search.
    - `hidden`: search folders whose names start with a dot.
    - `flat`: Markdown files directly in the root are skills too, unless it has a SKILL.md.
    - `git_folder`: search folders named `.git` too.
    - `gitignore`: skip what `.gitignore` files exclude, also those above the root.
    - `ignore_files`: names of ignore files inside the root whose patterns exclude folders and
      files, in any case. As in pi, those in the root apply at any depth, those further down only
      to what is directly in their folder; a folder whose SKILL.md is excluded is searched on.
    - `links`: which symlinks are followed: all of them (`follow`), those to folders inside the root
      or a trusted folder (`inside-root`), those inside the root (`root-only`), those to any folder
      as long as SKILL.md itself is inside it (`real-folder`), those inside the plugin
      (`inside-plugin`), those to any folder but not SKILL.md
      itself, with real paths throughout (`real-path`), those inside any known root, the repository
      or a trusted folder (`known`), or none (`never`).
    - `hard_links`: accept a SKILL.md that has more than one hard link.
    - `skip_names`: folder names that are skipped.
    - `skip_pattern`: a regular expression; folders whose names contain a match are skipped.
    - `worktree_fallback`: in a linked worktree of git, search the main checkout instead where the
      top folder of the worktree has no such folder.
    - `listed_with`: another root with which these skills share one place in the catalog.
    - `empty_description`: the description of an empty file here, instead of that in `[fields]`.
    - `ignored_fields`: header fields that are ignored here.
    - `required`: header fields that are required here in addition to those in `[fields]`.
    - `when`: conditions of which at least one must hold.
    - `unless`: conditions of which none may hold.
    - `keep_when_bare`: search this root with `--bare` too.
    - `must_exist`: report a missing folder.
    - `name_pattern`: a regular expression that the whole name of a skill must match here.
    - `path_list`: the list in `skill_paths` of the settings whose filters apply here.
    - `clean_descriptions`: make one line of each description, without angle brackets, backticks
      and control characters.
    """

    at: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    part: Literal["skills", "commands"] = "skills"
    formats: tuple[PluginFormat, ...] = ()
    strict: bool = False
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
    # Codex reads `.agents/skills` from the top of the project down.
    farthest_first: bool = False
    # Codex renames all skills below a plugin manifest, however far above it is.
    prefix_from: tuple[str, ...] = ()
    min_depth: int = 1
    max_depth: int = 1
    leaf: bool = True
    # Codex stops at 2,000 folders, so the order decides which are found.
    by_level: bool = False
    hidden: bool = False
    # Pi takes Markdown files in the root for skills.
    flat: bool = False
    # Claude Code lists a skill in a folder called `.git`.
    git_folder: bool = False
    gitignore: bool = False
    ignore_files: tuple[str, ...] = ()
    links: Links = "follow"
    # OpenClaw refuses them: they lead out of a root without being links.
    hard_links: bool = True
    skip_names: tuple[str, ...] = ()
    skip_pattern: str = ""
    # Claude Code does this for linked worktrees.
    worktree_fallback: bool = False
    listed_with: str = ""
    empty_description: str | None = None
    ignored_fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    keep_when_bare: bool = False
    must_exist: bool = False
    name_pattern: str = ""
    path_list: str = ""
    # omp does it for skills that a model has written.
    clean_descriptions: bool = False


class ScanLimits(Table, frozen=True):
    """Limits of a scan. 0 means no limit.

    Whatever is over a limit is cut from a sorted list, so the same skills are cut every time.

    - `file_bytes`: the largest SKILL.md that is read.
    - `header_bytes`: the largest header that is read.
    - `skills_per_root`: how many skills are loaded from one root.
    - `folders_per_root`: how many folders of one root are opened.
    - `items_per_folder`: how many subfolders of one folder are searched; files don't count.
    - `folders_per_item`: if set, `folders_per_root` is this times `items_per_folder`.
    - `seconds_per_root`: how long one root is searched.
    - `folders_per_scan`: how many folders of all roots together are opened. What belongs to the
      user is searched first, so that a project can only use up what is left.
    - `seconds_per_scan`: how long all roots together are searched.
    - `yaml_aliases`: how many YAML aliases a header may have.
    - `yaml_depth`: how deeply a header may be nested.
    """

    file_bytes: int = 0
    header_bytes: int = 65_536
    skills_per_root: int = 100_000
    folders_per_root: int = 200_000
    items_per_folder: int = 0
    folders_per_item: int = 0
    seconds_per_root: float = 60.0
    folders_per_scan: int = 100_000
    seconds_per_scan: float = 30.0
    yaml_aliases: int = 32
    yaml_depth: int = 64

    def change(self, changes: Mapping[str, float]) -> "ScanLimits":
        """These limits with some of them changed, and those that depend on them recomputed."""
        changed = msgspec.structs.replace(self, **changes) if changes else self
        if not changed.folders_per_item or not changed.items_per_folder:
            return changed
        folders = changed.folders_per_item * changed.items_per_folder
        return msgspec.structs.replace(changed, folders_per_root=folders)


class ContextRules(Table, frozen=True):
    """How context files such as AGENTS.md are found.

    - `files`: their names.
    - `depth`: how many folders up they are searched; 0 means no limit.
    - `hidden`: which files are skipped: those anywhere below a hidden folder (`any-segment`), those
      directly in one (`own-folder`), or none (`allow`).
    - `up_to`: the last folder that is searched.
    - `without_repository`: the value of `up_to` to use outside a repository.
    - `past_repository_below_home`: if the repository is below home, continue above it, up to home
      but not into it.
    """

    files: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
    depth: int = 20
    hidden: Literal["any-segment", "own-folder", "allow"] = "any-segment"
    up_to: Boundary = "filesystem"
    without_repository: Boundary = "filesystem"
    past_repository_below_home: bool = False
