"""Resolve the path templates of a profile, such as `{ancestor}/.claude/skills`.

Nothing here touches the machine: facts are an argument, and paths are text. Paths use the separator
of the platform; on Windows both separators are accepted.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType

import msgspec

from prowess.model.facts import Facts

PLACEHOLDER = re.compile(r"\{(\w+)\}")
# Placeholders that stand for any number of folders; a template has at most one of them.
MANY = ("ancestor", "added", "custom", "project_custom", "plugin")

Rule = Sequence[str] | Mapping[str, str]


class Place(msgspec.Struct, frozen=True):
    """A folder that a template stands for.

    `distance` is how many folders it is above the working folder, or its position in a list.
    """

    path: str
    distance: int


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The folders that templates can name, for one working folder on one machine.

    `main_checkout` is set if the repository is a linked worktree of git.
    """

    cwd: str
    home: str
    platform: str
    repository: str | None = None
    main_checkout: str | None = None
    named: Mapping[str, str] = msgspec.field(default_factory=dict)
    added: tuple[str, ...] = ()
    custom: tuple[str, ...] = ()
    project_custom: tuple[str, ...] = ()
    plugin: tuple[str, ...] = ()

    @property
    def paths(self) -> ModuleType:
        """The path functions for this machine's platform."""
        if self.platform != "win32":
            return posixpath
        import ntpath

        return ntpath


def name_places(
    rules: Mapping[str, Rule],
    *,
    cwd: str,
    facts: Facts,
    repository: str | None,
    given: Mapping[str, str],
) -> Places:
    """Resolve the names under `[places]`; those in `given` take precedence.

    A rule is a list of alternatives, of which the first known one counts (`$NAME` is an environment
    variable, `$NAME/x` a folder inside it), or a table by platform. A rule may replace `home`.
    """
    named: dict[str, str] = {"cwd": cwd, "home": facts.home, "workspace": cwd}
    if repository is not None:
        named["repository"] = repository
    known = Places(cwd=cwd, home=facts.home, platform=facts.platform)
    for name, rule in rules.items():
        # Rules may use names that earlier ones have filled.
        path = _find_first(_list_alternatives(rule, facts.platform), named, facts.env)
        if path is not None:
            # Variables may have paths with `~` or relative ones, which start at the working folder.
            named[name] = expand_user_path(path, base=cwd, places=known)
    # Folders from options and settings are more specific than the host's defaults.
    named.update(given)
    return Places(
        cwd=cwd, home=named["home"], platform=facts.platform, repository=repository, named=named
    )


def _list_alternatives(rule: Rule, platform: str) -> Iterable[str]:
    if not isinstance(rule, Mapping):
        return rule
    return [rule[platform]] if platform in rule else []


def _find_first(
    alternatives: Iterable[str], named: Mapping[str, str], env: Mapping[str, str]
) -> str | None:
    for alternative in alternatives:
        path = _fill(alternative, named, env)
        if path:
            return path
    return None


def _fill(template: str, named: Mapping[str, str], env: Mapping[str, str]) -> str | None:
    """The template with its names filled in; None if one of them is not known."""
    if template.startswith("$"):
        variable, slash, rest = template[1:].partition("/")
        # A variable that is empty or blank counts as not set.
        value = env.get(variable, "").strip()
        return f"{value}{slash}{rest}" if value else None
    is_known = all(name in named for name in PLACEHOLDER.findall(template))
    if not is_known:
        return None
    return PLACEHOLDER.sub(lambda match: named[match[1]], template)


def expand(
    template: str, places: Places, *, up_to: str, without_repository: str, skip_home: bool = False
) -> list[Place]:
    """The folders that a template stands for, nearest first; none if it uses an unknown name."""
    names = PLACEHOLDER.findall(template)
    many = next((name for name in names if name in MANY), None)
    if many is None:
        filled = _fill(template, places.named, {})
        return [] if filled is None else [Place(_normalize(filled, places), 0)]
    skipped = None
    if many == "ancestor":
        folders = ancestors(places, up_to=up_to, without_repository=without_repository)
        # Above a project may be the user's home, whose skills are found as the user's own.
        skipped = places.home if skip_home else None
    else:
        folders = list(getattr(places, many))
    found = []
    for distance, folder in enumerate(folders):
        filled = _fill(template, {**places.named, many: folder}, {})
        if filled is not None and folder != skipped:
            found.append(Place(_normalize(filled, places), distance))
    return found


def _normalize(path: str, places: Places) -> str:
    normal = str(places.paths.normpath(path))
    # `{ancestor}/x` at the root of the file system gives `//x`, which normpath keeps: POSIX lets
    # two slashes mean something else.
    return normal[1:] if normal.startswith("//") else normal


def ancestors(places: Places, *, up_to: str, without_repository: str = "filesystem") -> list[str]:
    """The working folder and the folders above it, nearest first, up to and including a boundary.

    `repository` falls back to `without_repository` outside a repository. `home` stops at home if
    the working folder is below it, otherwise at the top of the file system.
    """
    is_outside = up_to == "repository" and not places.repository
    boundary = without_repository if is_outside else up_to
    stops = {"repository": places.repository, "home": places.home, "folder": places.cwd}
    stop = stops.get(boundary)
    folder = places.cwd
    walked = [folder]
    while folder != stop:
        parent = places.paths.dirname(folder)
        # The top of the file system is its own parent.
        if parent == folder:
            break
        walked.append(parent)
        folder = parent
    return walked


def expand_user_path(path: str, *, base: str, places: Places) -> str:
    """A path from a settings file as an absolute path: `~/` is home, others are below `base`."""
    if path == "~" or path.startswith(("~/", "~\\")):
        path = places.paths.join(places.home, path[2:])
    return str(places.paths.normpath(places.paths.join(base, path)))
