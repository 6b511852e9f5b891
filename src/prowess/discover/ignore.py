"""What git ignores, as far as it concerns a root: the rules above it and the `.gitignore` files inside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prowess.ports import FileSystem, FolderItem

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FILE = ".gitignore"
_MOST_BYTES = 1 << 18


class IgnoreRules:
    """The ignore files that hold in one folder, outermost first.

    A root that is itself ignored (`.claude/` in a project's .gitignore is common) is still searched: who put
    skills there wants them found. The rules that ignore it are then left out.
    """

    def __init__(self, files: FileSystem, specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._files = files
        self._specs = specs

    @classmethod
    def above(cls, root: str, folders: Iterable[str], files: FileSystem) -> IgnoreRules:
        """The rules of the folders above a root, outermost first, without those that ignore the root itself."""
        rules = cls(files)
        for folder in folders:
            if files.find_kind(f"{folder}/{_FILE}") == "file":
                rules = rules._with(folder)
        kept = tuple(one for one in rules._specs if _find_match(one, root) is None)
        return cls(files, kept)

    def enter(self, folder: str, items: Iterable[FolderItem]) -> IgnoreRules | None:
        """The rules that hold inside a folder, given what lies in it; None where there are none at all."""
        inside = self
        if any(item.name == _FILE and item.kind == "file" for item in items):
            inside = self._with(folder)
        return inside if inside._specs else None

    def find_pattern(self, folder: str) -> str | None:
        """The pattern that ignores a folder, None where none does. The innermost file that says something decides."""
        for one in reversed(self._specs):
            found = _find_match(one, folder)
            if found is not None:
                return found
        return None

    def _with(self, folder: str) -> IgnoreRules:
        from pathspec import GitIgnoreSpec

        try:
            text = self._files.read_head(f"{folder}/{_FILE}", _MOST_BYTES).data.decode("utf-8", "replace")
        except OSError:
            return self
        return IgnoreRules(self._files, (*self._specs, (folder, GitIgnoreSpec.from_lines(text.splitlines()))))


def _find_match(one: tuple[str, GitIgnoreSpec], folder: str) -> str | None:
    base, spec = one
    if not folder.startswith(base.rstrip("/") + "/"):
        return None
    result = spec.check_file(folder[len(base.rstrip("/")) + 1 :] + "/")
    if not result.include or result.index is None:
        return None
    return str(spec.patterns[result.index].pattern)
