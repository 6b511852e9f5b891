"""A sample of the files in a skill's folder, so that a model knows what else it can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import NamedTuple

import msgspec

from prowess.errors.activation import Cancelled
from prowess.model.files import FolderItem
from prowess.ports import FileSystem
from prowess.profiles.schema.commands import ToolRules
from prowess.text.ignore_files import IgnoreChain

SKILL_FILE = "SKILL.md"

# A skill with more than this is a tree of something else; the rest is not counted.
_MOST_FOLDERS = 2_000
_MOST_FILES = 20_000

IgnoredAbove = MutableMapping[str, IgnoreChain | None]
"""What the ignore files above the skills in a folder say, by that folder; None for nothing."""


class Sample(msgspec.Struct, frozen=True):
    """The first files by path, and how many `more` there are, at least if not `complete`."""

    files: tuple[str, ...] = ()
    more: int = 0
    complete: bool = True


def sample_files(
    folder: str,
    files: FileSystem,
    *,
    rules: ToolRules,
    above: IgnoredAbove | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Sample:
    """The files below a skill's folder by path, as many as the host lists.

    Dotfiles are listed; SKILL.md, symlinks, pipes and devices, and what git ignores are not. What
    is learned from the ignore files above the skill goes into `above`, because most skills lie side
    by side. Raises `Cancelled`.
    """
    if not rules.files:
        return Sample()
    walk = _Walk(files, rules, {} if above is None else above, is_cancelled)
    walk.run(folder.rstrip("/"))
    return Sample(tuple(walk.found), walk.count - len(walk.found), walk.complete)


class _Entry(NamedTuple):
    """A file or folder on the way, and the ignore rules that apply in its folder."""

    path: str
    is_folder: bool
    ignored: IgnoreChain | None

    @property
    def sort_key(self) -> str:
        """Paths are sorted as whole texts, so `a.md` comes before `a/b.md`."""
        return f"{self.path}/" if self.is_folder else self.path


class _Walk:
    """One walk: what it has found, and whether it saw everything."""

    def __init__(
        self,
        files: FileSystem,
        rules: ToolRules,
        above: IgnoredAbove,
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
        """Walk a folder in the order of paths."""
        waiting = [_Entry(folder, True, self._find_ignored_above(folder))]
        while waiting:
            entry = waiting.pop()
            if not entry.is_folder:
                self._take([entry])
                continue
            if self._folders >= _MOST_FOLDERS or self.count >= _MOST_FILES:
                self.complete = False
                return
            entries = self._list(entry)
            if any(one.is_folder for one in entries):
                waiting += reversed(entries)
            else:
                self._take(entries)

    def _take(self, entries: list[_Entry]) -> None:
        """Count files, and keep as many as the host lists."""
        self.count += len(entries)
        room = self._rules.files - len(self.found)
        self.found += [entry.path for entry in entries[:room]]

    def _list(self, folder: _Entry) -> list[_Entry]:
        """What a folder holds, without what is never listed, sorted."""
        if self._is_cancelled is not None and self._is_cancelled():
            raise Cancelled("the files of the skill were being listed")
        self._folders += 1
        try:
            items = self._files.list_folder(folder.path)
        except OSError:
            # A sample without one folder is better than none; it says that there may be more.
            self.complete = False
            return []
        # In the order of the rules, because later files outrank earlier ones.
        plain = {item.name for item in items if item.kind == "file" and not item.is_link}
        present = [name for name in self._rules.ignore_files if name in plain]
        ignored = self._learn(folder.ignored, folder.path, present)
        entries: list[_Entry] = []
        for item in items:
            if _is_listed(item):
                entry = _Entry(f"{folder.path}/{item.name}", item.kind == "folder", ignored)
                entries.append(entry)
        if ignored is not None:
            entries = [entry for entry in entries if not _is_ignored(entry, ignored)]
        if len(entries) > 1:
            entries.sort(key=lambda entry: entry.sort_key)
        return entries

    def _find_ignored_above(self, folder: str) -> IgnoreChain | None:
        """The rules from the repository's root down to the skill, except those that ignore it."""
        if self._files.find_kind(f"{folder}/.git") is not None:
            return None
        holder = folder.rpartition("/")[0]
        if holder not in self._above:
            self._above[holder] = self._learn_above(holder)
        ignored = self._above[holder]
        return ignored.without(folder) if ignored is not None else None

    def _learn_above(self, folder: str) -> IgnoreChain | None:
        """The rules from the repository's root down to a folder; None outside a repository."""
        above: list[str] = []
        inner = folder
        while inner:
            above.append(inner)
            if self._files.find_kind(f"{inner}/.git") is not None:
                break
            inner = inner.rpartition("/")[0]
        else:
            return None
        ignored = None
        for outer in reversed(above):
            ignored = self._learn(ignored, outer, self._rules.ignore_files)
        return ignored

    def _learn(
        self, ignored: IgnoreChain | None, folder: str, names: Iterable[str]
    ) -> IgnoreChain | None:
        """The rules together with those of the ignore files of these names in a folder."""
        for name in names:
            chain = ignored or IgnoreChain()
            # None where nothing is ignored, so that no file has to be compared with anything.
            ignored = chain.learn(folder, self._files.read_head, name) or None
        return ignored


def _is_listed(item: FolderItem) -> bool:
    # A link may lead out of the skill; opencode does not list them either.
    if item.is_link or item.name == ".git":
        return False
    if item.kind == "folder":
        return True
    return item.kind == "file" and item.name != SKILL_FILE


def _is_ignored(entry: _Entry, ignored: IgnoreChain) -> bool:
    return ignored.find_pattern(entry.path, is_folder=entry.is_folder) is not None
