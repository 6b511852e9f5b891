"""What git ignores, as far as it concerns a root: the rules above it and the `.gitignore` files
inside it.

`.git/info/exclude` counts, since it belongs to the repository. The file that git's configuration
names for all of a user's repositories does not: what a project's skills are should not hang on it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prowess.diagnostics import Diagnostic, diagnose
from prowess.ports import FileSystem, FolderItem

if TYPE_CHECKING:
    from prowess.text import ignore_files as ignore
    from prowess.text.ignore_files import Ignored, IgnoreFile

# The engine behind the patterns is imported when the first such file is met.
IGNORE_FILE = ".gitignore"
# A file that is no list of patterns at all must not bury other findings.
_MOST_FINDINGS = 8
_MOST_SHOWN = 40
_MOST_POINTER = 4_096

Why = tuple[str, Diagnostic]
"""A reason in words, with the pattern and its line, and the finding that says the same."""


class IgnoreFiles:
    """The ignore files of one scan. Each is read once, however many roots lie below it."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self._loaded: dict[str, IgnoreFile | None] = {}
        self.diagnostics: list[Diagnostic] = []

    def exists_in(self, folder: str) -> bool:
        """Whether a folder has an ignore file."""
        return (
            f"{folder}/{IGNORE_FILE}" in self._loaded
            or self._files.find_kind(f"{folder}/{IGNORE_FILE}") == "file"
        )

    def load(self, folder: str) -> IgnoreFile | None:
        """The ignore file of a folder; None where it cannot be read."""
        return self._load(folder, f"{folder}/{IGNORE_FILE}")

    def load_exclude(self, repository: str) -> IgnoreFile | None:
        """What is ignored in this copy of a repository alone; None where nothing is."""
        path = f"{self._find_git_folder(repository)}/info/exclude"
        return self._load(repository, path) if self._files.find_kind(path) == "file" else None

    def _load(self, folder: str, path: str) -> IgnoreFile | None:
        """The patterns of a file, which hold below a folder. Lines that mean nothing are noted."""
        if path not in self._loaded:
            from prowess.text.ignore_files import MOST_BYTES, parse_ignore_file

            try:
                data = self._files.read_head(path, MOST_BYTES).data
            except OSError:
                self._loaded[path] = None
                return None
            loaded = self._loaded[path] = parse_ignore_file(folder, data, path=path)
            for line, text in loaded.broken[:_MOST_FINDINGS]:
                message = (
                    f"“{text[:_MOST_SHOWN]}” is no pattern that can be matched; the line was left"
                    " out."
                )
                self.diagnostics.append(diagnose("ignore-pattern", message, file=path, line=line))
        return self._loaded[path]

    def _find_git_folder(self, repository: str) -> str:
        """Where git keeps what belongs to a repository; a `.git` that is a file, as in a worktree,
        leads there.
        """
        folder = f"{repository}/.git"
        pointer = self._read_line(folder) if self._files.find_kind(folder) == "file" else ""
        if pointer.startswith("gitdir:"):
            folder = _join(repository, pointer.removeprefix("gitdir:").strip())
            shared = self._read_line(f"{folder}/commondir")
            folder = _join(folder, shared) if shared else folder
        return folder

    def _read_line(self, path: str) -> str:
        try:
            data = self._files.read_head(path, _MOST_POINTER).data
        except (OSError, ValueError):
            return ""
        return data.decode("utf-8", "replace").partition("\n")[0].strip()


def _join(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path.replace("\\", "/")))


class IgnoreRules:
    """The ignore files that hold in one folder, outermost first.

    A root that is itself ignored (`.claude/` in a project's .gitignore is common) is still
    searched: who put skills there wants them found. The rules that ignore it are then left out.
    """

    def __init__(self, files: IgnoreFiles, rules: ignore.IgnoreChain | None = None) -> None:
        self._files = files
        self._rules = rules
        # Most files are called SKILL.md, and most rules say nothing of it: what is known of a name
        # is kept.
        self._needs: dict[str, tuple[str, ...]] = {}

    @classmethod
    def above(cls, root: str, folders: Sequence[str], files: IgnoreFiles) -> IgnoreRules:
        """The rules of the folders above a root, without those that ignore the root itself.

        The outermost folder, which comes first, is the repository's.
        """
        rules = None
        if folders and (exclude := files.load_exclude(folders[0])) is not None:
            rules = _add(rules, exclude)
        for folder in folders:
            if files.exists_in(folder):
                rules = _add(rules, files.load(folder))
        return cls(files, None if rules is None else rules.without(root))

    def enter(self, folder: str, items: Iterable[FolderItem]) -> IgnoreRules | None:
        """The rules that hold inside a folder, given what lies in it; None where there are none at
        all.
        """
        rules = self._rules
        if any(item.name == IGNORE_FILE and item.kind == "file" for item in items):
            rules = _add(rules, self._files.load(folder))
        return IgnoreRules(self._files, rules) if rules else None

    def find_folder(self, folder: str) -> Why | None:
        """Why a folder is ignored, None where it is not."""
        found = self._rules.find(folder, is_folder=True) if self._rules else None
        return None if found is None else _explain("folder-ignored", folder, "its folder", found)

    def find_file(self, folder: str, name: str) -> Why | None:
        """Why a file in a folder is ignored, None where it is not."""
        if self._rules is None:
            return None
        needs = self._needs.get(name)
        if needs is None:
            needs = self._needs[name] = self._rules.list_needs(name)
        if not needs:
            return None
        path = f"{folder}/{name}"
        for need in needs:
            if need in path:
                found = self._rules.find(path, is_folder=False)
                return None if found is None else _explain("file-ignored", path, "the file", found)
        return None


def _explain(code: str, path: str, what: str, ignored: Ignored) -> Why:
    pattern, file, line = ignored
    reason = f"git ignores {what} (`{pattern}`, {file}:{line})"
    hint = f"Remove the pattern in line {line} of {file}."
    message = f"The {code.partition('-')[0]} is skipped because {reason}."
    return reason, diagnose(code, message, file=path, hint=hint, related=(file,))


def _add(rules: ignore.IgnoreChain | None, file: IgnoreFile | None) -> ignore.IgnoreChain:
    from prowess.text.ignore_files import IgnoreChain

    return (rules or IgnoreChain()).add(file)
