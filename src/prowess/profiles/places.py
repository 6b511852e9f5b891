"""Folders by name: what `{home}`, `{ancestor}` or `{config}` in a profile's path templates stand
for.

Pure: the machine is an argument (`Facts`), paths are text. A path is written with the separator of
its platform; both separators are understood on Windows.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from types import ModuleType

import msgspec

from prowess.model.facts import Facts

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
MANY = ("ancestor", "added", "custom", "plugin")


class Place(msgspec.Struct, frozen=True):
    """A folder that a template stands for, and how many folders above the working folder it was
    found.
    """

    path: str
    distance: int


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Every folder that a template may name, for one working folder on one machine."""

    cwd: str
    home: str
    platform: str
    repository: str | None = None
    named: Mapping[str, str] = msgspec.field(default_factory=dict)
    added: tuple[str, ...] = ()
    custom: tuple[str, ...] = ()
    plugin: tuple[str, ...] = ()

    @property
    def paths(self) -> ModuleType:
        """The path rules of the machine these places are on."""
        if self.platform != "win32":
            return posixpath
        import ntpath

        return ntpath


Rule = Sequence[str] | Mapping[str, str]


def name_places(
    rules: Mapping[str, Rule],
    *,
    cwd: str,
    facts: Facts,
    repository: str | None,
    given: Mapping[str, str],
) -> Places:
    """Work out the named places: `given` first, then each rule's first alternative that is known.

    A rule is a list of alternatives (`$NAME` is an environment variable, `$NAME/x` a folder below
    it) or a table by platform.
    """
    named: dict[str, str] = {"cwd": cwd, "home": facts.home, "workspace": cwd}
    if repository is not None:
        named["repository"] = repository
    for name, rule in rules.items():
        alternatives = (
            [rule[facts.platform]] if isinstance(rule, Mapping) and facts.platform in rule else rule
        )
        for alternative in alternatives if not isinstance(alternatives, Mapping) else ():
            path = _fill_alternative(alternative, named, facts.env)
            if path:
                named[name] = path
                break
    named.update(given)
    return Places(
        cwd=cwd, home=facts.home, platform=facts.platform, repository=repository, named=named
    )


def _fill_alternative(
    alternative: str, named: Mapping[str, str], env: Mapping[str, str]
) -> str | None:
    if alternative.startswith("$"):
        variable, slash, rest = alternative[1:].partition("/")
        value = env.get(variable, "").strip()
        return f"{value}{slash}{rest}" if value else None
    missing = [name for name in _PLACEHOLDER.findall(alternative) if name not in named]
    return None if missing else _PLACEHOLDER.sub(lambda match: named[match[1]], alternative)


def expand(
    template: str, places: Places, *, up_to: str, without_repository: str, skip_home: bool = False
) -> list[Place]:
    """Every folder that a template stands for, nearest first; none where it names a place that is
    not known.
    """
    names = _PLACEHOLDER.findall(template)
    many = next((name for name in names if name in MANY), None)
    if many is None:
        filled = _fill_alternative(template, places.named, {})
        return [] if filled is None else [Place(_tidy(filled, places), 0)]
    return [
        Place(_tidy(filled, places), distance)
        for distance, folder in enumerate(
            _folders(many, places, up_to, without_repository, skip_home=skip_home)
        )
        if folder is not None
        and (filled := _fill_alternative(template, {**places.named, many: folder}, {})) is not None
    ]


def _tidy(path: str, places: Places) -> str:
    """A normal path. Two slashes at the start, as a template over `/` gives them, are left alone by
    the path rules.
    """
    normal = str(places.paths.normpath(path))
    return normal[1:] if normal.startswith("//") else normal


def _folders(
    many: str, places: Places, up_to: str, without_repository: str, *, skip_home: bool
) -> Sequence[str | None]:
    if many != "ancestor":
        folders: Sequence[str] = getattr(places, many)
        return folders
    walked = ancestors(places, up_to=up_to, without_repository=without_repository)
    return [None if skip_home and folder == places.home else folder for folder in walked]


def ancestors(places: Places, *, up_to: str, without_repository: str = "filesystem") -> list[str]:
    """The working folder and the folders above it, nearest first, up to a boundary (which is
    included).

    `repository` stops at the repository's root and falls back to `without_repository` where there
    is none; `home` stops at home where the working folder lies below it, else at the top of the
    file system.
    """
    boundary = up_to if up_to != "repository" or places.repository else without_repository
    stop = {"repository": places.repository, "home": places.home, "folder": places.cwd}.get(
        boundary
    )
    walked = [places.cwd]
    while walked[-1] != stop:
        parent = places.paths.dirname(walked[-1])
        if parent == walked[-1]:
            break
        walked.append(parent)
    return walked


def expand_user_path(path: str, *, base: str, places: Places) -> str:
    """A path that a user wrote, made absolute: `~/` is home, a relative path hangs below `base`."""
    if path == "~" or path.startswith(("~/", "~\\")):
        path = places.paths.join(places.home, path[2:])
    return str(places.paths.normpath(places.paths.join(base, path)))
