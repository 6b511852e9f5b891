"""Walks the folders of a project from its root down, within bounds."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Container, Iterable

import msgspec

from prowess.machine.files import LocalFiles
from prowess.text.ignore_files import IGNORE_FILE, IgnoreChain

MOST_FOLDERS = 20_000
_GIT = ".git"


class Walked(msgspec.Struct, frozen=True):
    """The folders that were found, nearest to the root first; `is_cut` if the walk ended early."""

    folders: tuple[str, ...] = ()
    is_cut: bool = False


def find_holders(
    root: str,
    holding: Iterable[str],
    *,
    skip_names: Container[str] = (),
    with_ignored: bool = False,
    most: int = MOST_FOLDERS,
) -> Walked:
    """The folders below a root that have something with one of these names in them.

    What git ignores is skipped, unless `with_ignored`, and so are `.git`, `skip_names`, symlinks,
    folders that cannot be read, and other repositories, because each is another project. The walk
    ends after `most` folders.
    """
    wanted = frozenset(holding)
    holders: list[str] = []
    # A queue: where the walk is cut, the folders near the root have been seen.
    waiting = deque([(root, IgnoreChain())])
    seen = 0
    while waiting:
        if seen == most:
            return Walked(tuple(holders), is_cut=True)
        folder, ignored = waiting.popleft()
        seen += 1
        try:
            names, subfolders = _list(folder)
        except OSError:
            # One folder without permission must not hide all the others.
            continue
        if folder != root:
            is_other_repository = _GIT in names
            if is_other_repository:
                continue
            if not wanted.isdisjoint(names):
                holders.append(folder)
        if IGNORE_FILE in names and not with_ignored:
            ignored = ignored.learn(folder, LocalFiles().read_head)
        for name in subfolders:
            path = os.path.join(folder, name)
            is_skipped = name == _GIT or name in skip_names
            if not is_skipped and ignored.find_pattern(path, is_folder=True) is None:
                waiting.append((path, ignored))
    return Walked(tuple(holders))


def _list(folder: str) -> tuple[set[str], list[str]]:
    """The names of all that is in a folder, and of its folders, sorted; links are none."""
    with os.scandir(folder) as listing:
        items = {item.name: item.is_dir(follow_symlinks=False) for item in listing}
    return set(items), sorted(name for name, is_folder in items.items() if is_folder)
