"""The folders of a project, walked from its root down within bounds."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Container, Iterable

import msgspec

from prowess.machine.files import LocalFiles
from prowess.text.ignore_files import IGNORE_FILE, IgnoreChain

MOST_FOLDERS = 5_000
_GIT = ".git"


class Walked(msgspec.Struct, frozen=True):
    """The folders that were asked for, the nearest to the root first. `is_cut` where the walk did
    not see all.
    """

    folders: tuple[str, ...] = ()
    is_cut: bool = False


def find_holders(
    root: str, holding: Iterable[str], *, skip_names: Container[str] = (), most: int = MOST_FOLDERS
) -> Walked:
    """The folders below a root that hold something of one of these names.

    What git ignores is passed over, and so are `.git`, folders of `skip_names`, links, folders that
    cannot be read, and repositories of their own, since each is another project. After `most`
    folders the walk ends.
    """
    wanted = frozenset(holding)
    found: list[str] = []
    waiting = deque([(root, IgnoreChain())])
    seen = 0
    while waiting:
        if seen == most:
            return Walked(tuple(found), is_cut=True)
        folder, ignored = waiting.popleft()
        seen += 1
        try:
            items = {item.name: item.is_dir(follow_symlinks=False) for item in _scan(folder)}
        except OSError:
            continue
        if folder != root:
            if _GIT in items:
                continue
            if not wanted.isdisjoint(items):
                found.append(folder)
        if IGNORE_FILE in items:
            ignored = ignored.learn(folder, LocalFiles().read_head)
        names = (
            name
            for name in sorted(items)
            if items[name] and name != _GIT and name not in skip_names
        )
        below = (os.path.join(folder, name) for name in names)
        waiting.extend(
            (path, ignored) for path in below if ignored.find_pattern(path, is_folder=True) is None
        )
    return Walked(tuple(found))


def _scan(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return list(listing)
