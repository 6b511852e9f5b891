"""A sample of the files in a skill's folder, so that a model knows what else there is to read."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import msgspec

from prowess.errors.activation import Cancelled
from prowess.ports import FileSystem, FolderItem
from prowess.profiles.schema.commands import ToolRules
from prowess.text.ignore_files import IgnoreChain

SKILL_FILE = "SKILL.md"

# A skill with more than this is a tree of something else; the rest is not counted.
_MOST_FOLDERS = 2_000
_MOST_FILES = 20_000

_Step = tuple[str, FolderItem | None, IgnoreChain]


class Sample(msgspec.Struct, frozen=True):
    """The first files by path, and how many more there are; at least so many where the count is not
    `complete`.
    """

    files: tuple[str, ...] = ()
    more: int = 0
    complete: bool = True


Above = MutableMapping[str, IgnoreChain]
"""What git ignores, by the folder that holds those of skills, as far as it was learned."""


def sample_files(
    folder: str,
    files: FileSystem,
    *,
    rules: ToolRules,
    above: Above | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Sample:
    """The files below a skill's folder in the order of their paths, as many as the host lists.

    Dotfiles count; SKILL.md, links, what is no ordinary file and what git ignores do not. What the
    ignore files above the skill say is kept in `above`, since most skills lie side by side. Raises
    `Cancelled`.
    """
    if not rules.files:
        return Sample()
    walk = _Walk(files, rules, {} if above is None else above, is_cancelled)
    walk.run(folder.rstrip("/"))
    kept = tuple(walk.found[: rules.files])
    return Sample(kept, walk.count - len(kept), walk.complete)


class _Walk:
    """One walk: what it has found, and whether it saw everything."""

    def __init__(
        self,
        files: FileSystem,
        rules: ToolRules,
        above: Above,
        is_cancelled: Callable[[], bool] | None,
    ) -> None:
        self._files = files
        self._rules = rules
        self._above = above
        self._is_cancelled = is_cancelled
        self._folders = 0
        self.found: list[str] = []
        self.count = 0
        self.complete = True

    def run(self, folder: str) -> None:
        """Go through a folder in the order of paths, which is that of the whole texts: `a.md`
        before `a/b.md`.
        """
        waiting: list[_Step] = [(folder, None, self._learn_above(folder))]
        while waiting:
            path, item, ignored = waiting.pop()
            if item is None or item.kind == "folder":
                if self._folders >= _MOST_FOLDERS or self.count >= _MOST_FILES:
                    self.complete = False
                    return
                steps = self._enter(path, ignored)
                if any(step[1].kind == "folder" for step in steps if step[1] is not None):
                    waiting += reversed(steps)
                else:
                    self._take(steps)
            else:
                self._take([(path, item, ignored)])

    def _take(self, steps: list[_Step]) -> None:
        """Files that come next."""
        self.count += len(steps)
        room = self._rules.files - len(self.found)
        if room > 0:
            self.found += [path for path, _, _ in steps[:room]]

    def _enter(self, folder: str, ignored: IgnoreChain) -> list[_Step]:
        if self._is_cancelled is not None and self._is_cancelled():
            raise Cancelled("the files of the skill were being listed")
        self._folders += 1
        try:
            items = self._files.list_folder(folder)
        except OSError:
            self.complete = False
            return []
        plain = {item.name for item in items if item.kind == "file" and not item.is_link}
        for name in self._rules.ignore_files:
            if name in plain:
                ignored = ignored.learn(folder, self._files.read_head, name)
        steps: list[_Step] = [
            (f"{folder}/{item.name}", item, ignored) for item in items if _is_wanted(item)
        ]
        if ignored:
            steps = [step for step in steps if not _is_ignored(step)]
        steps.sort(key=_by_path)
        return steps

    def _learn_above(self, folder: str) -> IgnoreChain:
        """The rules from the repository's root down to the skill, without those that ignore the
        skill itself.
        """
        if self._files.find_kind(f"{folder}/.git") is not None:
            return IgnoreChain()
        holder = folder.rpartition("/")[0]
        if holder not in self._above:
            self._above[holder] = self._gather_above(holder)
        ignored = self._above[holder]
        return ignored.without(folder) if ignored else ignored

    def _gather_above(self, folder: str) -> IgnoreChain:
        """The rules from the repository's root down to a folder; none outside of a repository."""
        above: list[str] = []
        inner = folder
        while inner:
            above.append(inner)
            if self._files.find_kind(f"{inner}/.git") is not None:
                break
            inner = inner.rpartition("/")[0]
        else:
            return IgnoreChain()
        ignored = IgnoreChain()
        for outer in reversed(above):
            for name in self._rules.ignore_files:
                ignored = ignored.learn(outer, self._files.read_head, name)
        return ignored


def _is_wanted(item: FolderItem) -> bool:
    if item.is_link or item.name == ".git":
        return False
    return item.kind == "folder" or (item.kind == "file" and item.name != SKILL_FILE)


def _is_ignored(step: _Step) -> bool:
    path, item, ignored = step
    return (
        ignored.find_pattern(path, is_folder=item is not None and item.kind == "folder") is not None
    )


def _by_path(step: _Step) -> str:
    path, item, _ = step
    return f"{path}/" if item is not None and item.kind == "folder" else path
