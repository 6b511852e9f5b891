"""Folders of skills below the working folder, found when a file beside them is touched."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Mapping, Sequence

import msgspec

from prowess.activate.dormant.conditions import WatchState, find_names_below
from prowess.ports import FileSystem
from prowess.profiles.schema.roots import RootRule
from prowess.text.ignore_files import IgnoreChain

_ANCESTOR = "{ancestor}/"
# Git's own files are nobody's work.
_NEVER_ENTERED = ".git"


class NestedRoot(msgspec.Struct, frozen=True):
    """A folder of skills: where it is, the rule and template of the profile that name it.

    `holder` is the folder it hangs in, and `qualifier` that folder as seen from the working folder,
    for names that are already taken.
    """

    path: str
    rule: str
    template: str
    holder: str
    qualifier: str


class NestedRoots(msgspec.Struct, frozen=True):
    """The watch after the search, and the folders found, the nearest to the file first."""

    watch: WatchState
    roots: tuple[NestedRoot, ...] = ()


def find_nested_roots(
    path: str,
    cwd: str,
    *,
    rules: Mapping[str, RootRule],
    watch: WatchState,
    files: FileSystem,
    repository: str | None = None,
    platform: str = "linux",
    skip_names: Sequence[str] = (),
) -> NestedRoots:
    """The folders of skills between a touched file and the working folder.

    Each folder is searched once in a conversation, the working folder not at all. What git ignores
    is skipped, and so is everything in `.git` and in folders named in `skip_names`. Where symlinks
    lead is judged when the folders are scanned, as for every root.
    """
    skipped = (_NEVER_ENTERED, *skip_names)
    holders = _list_holders(path, cwd, skipped, platform)
    new = [holder for holder in holders if holder not in watch.searched]
    if not new:
        return NestedRoots(watch)
    watch = msgspec.structs.replace(watch, searched=watch.searched.union(new))
    roots: list[NestedRoot] = []
    for holder in reversed(new):
        roots += _search(holder, cwd, rules, files)
    # Reading ignore files is needed only where there is something to ignore.
    if not roots:
        return NestedRoots(watch)
    visible = _list_visible(holders, cwd, repository or cwd, files, platform)
    return NestedRoots(watch, tuple(root for root in roots if root.holder in visible))


def _list_holders(path: str, cwd: str, skipped: Sequence[str], platform: str) -> list[str]:
    """The folders from the working folder down to a file, as far as none is skipped."""
    paths = ntpath if platform == "win32" else posixpath
    names = find_names_below(path, cwd, platform=platform) or []
    holders: list[str] = []
    holder = cwd
    for name in names[:-1]:
        if name in skipped:
            break
        holder = paths.join(holder, name)
        holders.append(holder)
    return holders


def _search(
    holder: str, cwd: str, rules: Mapping[str, RootRule], files: FileSystem
) -> list[NestedRoot]:
    """The folders of skills in one folder, in the order of the profile."""
    qualifier = holder[len(cwd.rstrip("/\\")) + 1 :].replace("\\", "/")
    roots: list[NestedRoot] = []
    for id, rule in rules.items():
        # Only what may hang in any folder of a project can hang in this one.
        templates = [template for template in rule.at if template.startswith(_ANCESTOR)]
        for template in templates:
            path = f"{holder}/{template.removeprefix(_ANCESTOR)}"
            if files.find_kind(path) == "folder":
                roots.append(NestedRoot(path, id, template, holder, qualifier))
    return roots


def _list_visible(
    holders: list[str], cwd: str, top: str, files: FileSystem, platform: str
) -> list[str]:
    """The folders on the way to a file that git does not ignore; an ignored one hides those in it.

    Someone who works in an ignored folder wants what is in it, so rules that ignore the working
    folder itself do not count.
    """
    # Patterns are about paths with slashes, which Windows takes as well.
    spell = _write_slashes if platform == "win32" else str
    ignored = IgnoreChain()
    for folder in _list_folders_down(spell(top), spell(cwd)):
        ignored = ignored.learn(folder, files.read_head)
    ignored = ignored.without(spell(cwd))
    for count, holder in enumerate(map(spell, holders)):
        if ignored and ignored.find_pattern(holder, is_folder=True) is not None:
            return holders[:count]
        ignored = ignored.learn(holder, files.read_head)
    return holders


def _write_slashes(path: str) -> str:
    return path.replace("\\", "/")


def _list_folders_down(top: str, folder: str) -> list[str]:
    """The folders from the top down to a folder, both included."""
    names = find_names_below(folder, top) or []
    return ["/".join([top.rstrip("/"), *names[:count]]) for count in range(len(names) + 1)]
