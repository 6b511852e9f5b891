"""What git ignores, as far as it concerns a root: the rules above it and the `.gitignore` files inside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prowess.diagnostics import Diagnostic, diagnose
from prowess.ports import FileSystem, FolderItem

if TYPE_CHECKING:
    from prowess.model import ignore
    from prowess.model.ignore import IgnoreFile

# The engine behind the patterns is imported when the first such file is met.
_IGNORE_FILE = ".gitignore"
# A file that is no list of patterns at all must not bury other findings.
_MOST_FINDINGS = 8
_MOST_SHOWN = 40


class IgnoreFiles:
    """The ignore files of one scan. Each is read once, however many roots lie below it."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self._loaded: dict[str, IgnoreFile | None] = {}
        self.diagnostics: list[Diagnostic] = []

    def exists_in(self, folder: str) -> bool:
        """Whether a folder has an ignore file."""
        return folder in self._loaded or self._files.find_kind(f"{folder}/{_IGNORE_FILE}") == "file"

    def load(self, folder: str) -> IgnoreFile | None:
        """The ignore file of a folder; None where it cannot be read. Lines that mean nothing are noted."""
        if folder not in self._loaded:
            from prowess.model.ignore import MOST_BYTES, parse_ignore_file

            path = f"{folder}/{_IGNORE_FILE}"
            try:
                data = self._files.read_head(path, MOST_BYTES).data
            except OSError:
                self._loaded[folder] = None
                return None
            loaded = self._loaded[folder] = parse_ignore_file(folder, data)
            for line, text in loaded.broken[:_MOST_FINDINGS]:
                message = f"“{text[:_MOST_SHOWN]}” is no pattern that can be matched; the line was left out."
                self.diagnostics.append(diagnose("ignore-pattern", message, file=path, line=line))
        return self._loaded[folder]


class IgnoreRules:
    """The ignore files that hold in one folder, outermost first.

    A root that is itself ignored (`.claude/` in a project's .gitignore is common) is still searched: who put
    skills there wants them found. The rules that ignore it are then left out.
    """

    def __init__(self, files: IgnoreFiles, rules: ignore.IgnoreRules | None = None) -> None:
        self._files = files
        self._rules = rules

    @classmethod
    def above(cls, root: str, folders: Iterable[str], files: IgnoreFiles) -> IgnoreRules:
        """The rules of the folders above a root, outermost first, without those that ignore the root itself."""
        rules = None
        for folder in folders:
            if files.exists_in(folder):
                rules = _add(rules, files.load(folder))
        return cls(files, None if rules is None else rules.without(root))

    def enter(self, folder: str, items: Iterable[FolderItem]) -> IgnoreRules | None:
        """The rules that hold inside a folder, given what lies in it; None where there are none at all."""
        rules = self._rules
        if any(item.name == _IGNORE_FILE and item.kind == "file" for item in items):
            rules = _add(rules, self._files.load(folder))
        return IgnoreRules(self._files, rules) if rules else None

    def find_pattern(self, folder: str) -> str | None:
        """The pattern that ignores a folder, None where none does."""
        return self._rules.find_pattern(folder, is_folder=True) if self._rules else None


def _add(rules: ignore.IgnoreRules | None, file: IgnoreFile | None) -> ignore.IgnoreRules:
    from prowess.model.ignore import IgnoreRules

    return (rules or IgnoreRules()).add(file)
