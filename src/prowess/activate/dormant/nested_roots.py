"""Folders of skills below the working folder, found when a file beside them is touched."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Mapping, Sequence
from itertools import takewhile

import msgspec

from prowess.activate.dormant.conditions import Watch, find_names_below
from prowess.ports import FileSystem
from prowess.profiles.schema.roots import RootRule
from prowess.text.ignore_files import IgnoreChain

_ANCESTOR = "{ancestor}/"
# What git keeps there is nobody's work.
_NEVER = ".git"


class FolderBelow(msgspec.Struct, frozen=True):
    """A folder of skills: where it is, the rule and template of the profile it follows, and the
    folder that holds it.

    `qualifier` is that folder as it is seen from the working folder, for names that are already
    taken.
    """

    path: str
    rule: str
    template: str
    holder: str
    qualifier: str


class FoundBelow(msgspec.Struct, frozen=True):
    """The watch after looking, and the folders that were not known before, the nearest to the file
    first.
    """

    watch: Watch
    folders: tuple[FolderBelow, ...] = ()


def find_folders_below(
    path: str,
    cwd: str,
    *,
    rules: Mapping[str, RootRule],
    watch: Watch,
    files: FileSystem,
    repository: str | None = None,
    platform: str = "linux",
    skip_names: Sequence[str] = (),
) -> FoundBelow:
    """The folders of skills between a touched file and the working folder, which is not looked into
    again.

    Every folder is looked into once in a conversation. What git ignores is passed over, and so are
    `.git` and the folders of `skip_names` with all that is in them. Where links lead is judged when
    the folders are searched, as for every root.
    """
    names = find_names_below(path, cwd, platform=platform) or []
    paths = ntpath if platform == "win32" else posixpath
    way = list(takewhile(lambda name: name != _NEVER and name not in skip_names, names[:-1]))
    holders = [paths.join(cwd, *way[:count]) for count in range(1, len(way) + 1)]
    new = [holder for holder in holders if holder not in watch.looked_at]
    if not new:
        return FoundBelow(watch)
    watch = msgspec.structs.replace(watch, looked_at=watch.looked_at.union(new))
    found = [one for holder in reversed(new) for one in _look_into(holder, cwd, rules, files)]
    if found:
        seen = _list_seen(holders, cwd, repository or cwd, files)
        found = [one for one in found if one.holder in seen]
    return FoundBelow(watch, tuple(found))


def _look_into(
    holder: str, cwd: str, rules: Mapping[str, RootRule], files: FileSystem
) -> list[FolderBelow]:
    """The folders of skills that hang at one folder, in the order of the profile."""
    qualifier = holder[len(cwd.rstrip("/\\")) + 1 :].replace("\\", "/")
    return [
        FolderBelow(f"{holder}/{template.removeprefix(_ANCESTOR)}", id, template, holder, qualifier)
        for id, rule in rules.items()
        for template in rule.at
        if template.startswith(_ANCESTOR)
        and files.find_kind(f"{holder}/{template.removeprefix(_ANCESTOR)}") == "folder"
    ]


def _list_seen(holders: list[str], cwd: str, top: str, files: FileSystem) -> list[str]:
    """The folders on the way down to a file that git does not ignore; what lies in an ignored one
    is ignored too.

    Who works in an ignored folder wants what is in it, so rules that ignore the working folder
    itself do not count.
    """
    ignored = IgnoreChain()
    for folder in _list_down(cwd, top):
        ignored = ignored.learn(folder, files.read_head)
    ignored = ignored.without(cwd)
    for count, holder in enumerate(holders):
        if ignored and ignored.find_pattern(holder, is_folder=True) is not None:
            return holders[:count]
        ignored = ignored.learn(holder, files.read_head)
    return holders


def _list_down(folder: str, top: str) -> list[str]:
    """The folders from the top down to a folder, both included."""
    names = find_names_below(folder, top) or []
    return ["/".join([top.rstrip("/"), *names[:count]]) for count in range(len(names) + 1)]
