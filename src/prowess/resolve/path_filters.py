"""The filters of a path list: which of the files that were found a user leaves out.

`!GLOB` leaves out, `-PATH` leaves out exactly, `+PATH` keeps what a glob leaves out, and a bare
glob keeps only what it matches of the paths that the list itself adds.
"""

from __future__ import annotations

import posixpath

from prowess.model.settings import PathList
from prowess.text.globs import find_match

_SKILL_FILE = "SKILL.md"


def find_filter(location: str, root: str, paths: PathList) -> str | None:
    """The entry of the list that leaves a file out; None where it stays."""
    is_own = root in paths.paths
    # The host takes entries as relative to the folder around the one it searches by itself.
    base = paths.base if is_own else posixpath.dirname(root)
    exact = _list_paths(location, base)
    # An exact path is stronger than a glob, and a refusal stronger than what is kept.
    for entry in _list_marked("-", paths):
        if _trim(entry) in exact:
            return entry
    for entry in _list_marked("+", paths):
        if _trim(entry) in exact:
            return None
    names = _list_names(location, base)
    for entry in _list_marked("!", paths):
        if _matches(entry[1:], names):
            return entry
    # A bare glob is about the paths of the list, not about what the host searches by itself.
    wanted = _list_globs(paths) if is_own else []
    is_wanted = not wanted or any(_matches(glob, names) for glob in wanted)
    return None if is_wanted else wanted[0]


def _list_marked(mark: str, paths: PathList) -> list[str]:
    return [entry for entry in paths.filters if entry.startswith(mark)]


def _list_globs(paths: PathList) -> list[str]:
    return [entry for entry in paths.filters if entry[0] not in "!+-"]


def _trim(entry: str) -> str:
    return entry[1:].removeprefix("./")


def _matches(glob: str, names: list[str]) -> bool:
    return any(find_match(name, (glob,)) is not None for name in names)


def _list_paths(location: str, base: str) -> list[str]:
    """A file relative to the base and absolute; of a SKILL.md its folder, too."""
    folder, _, name = location.rpartition("/")
    places = [location, folder] if name == _SKILL_FILE else [location]
    relative = [posixpath.relpath(place, base) for place in places]
    return [*relative, *places]


def _list_names(location: str, base: str) -> list[str]:
    """What a glob can match: the paths of a file, and the names of it and its folder."""
    folder, _, name = location.rpartition("/")
    names = [name, posixpath.basename(folder)] if name == _SKILL_FILE else [name]
    return [*_list_paths(location, base), *names]
