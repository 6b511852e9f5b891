"""What git ignores in a root: the rules above it and the `.gitignore` files inside it.

`.git/info/exclude` counts, because it belongs to the repository. The file that git's configuration
names for all of a user's repositories does not: a project's skills should not depend on it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.files import FolderItem
from prowess.ports import FileSystem

if TYPE_CHECKING:
    from prowess.text.ignore_files import IgnoreChain, Ignored, IgnoreFile

# The engine behind the patterns is imported when the first ignore file is found.
IGNORE_FILE = ".gitignore"
_GIT_ONLY = (IGNORE_FILE,)
# A file that is no list of patterns at all must not bury other diagnostics.
_MOST_FINDINGS = 8
_MOST_SHOWN = 40
_MOST_POINTER = 4_096

Reason = tuple[str, Diagnostic]
"""Why a path is ignored, in words with the pattern and its line, and as a diagnostic."""


class IgnoreFiles:
    """The ignore files of one scan. Each is read once, however many roots are below it."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self._loaded: dict[str, IgnoreFile | None] = {}
        self.diagnostics: list[Diagnostic] = []

    def exists_in(self, folder: str) -> bool:
        """Whether a folder has a `.gitignore`."""
        path = f"{folder}/{IGNORE_FILE}"
        return path in self._loaded or self._files.find_kind(path) == "file"

    def load(self, folder: str) -> IgnoreFile | None:
        """The `.gitignore` of a folder; None where it cannot be read."""
        return self._load(folder, f"{folder}/{IGNORE_FILE}")

    def load_own(self, folder: str, name: str, *, in_root: bool) -> IgnoreFile | None:
        """An ignore file that a host reads by its own rules; None where it cannot be read.

        Its patterns are in lower case, and so is the folder that they apply to.
        """
        rewrite = _loosen if in_root else _tie
        return self._read(folder.lower(), f"{folder}/{name}", rewrite)

    def load_exclude(self, repository: str) -> IgnoreFile | None:
        """What is ignored in this copy of a repository alone; None where nothing is."""
        path = f"{self._find_git_folder(repository)}/info/exclude"
        if self._files.find_kind(path) != "file":
            return None
        return self._load(repository, path)

    def _load(self, folder: str, path: str) -> IgnoreFile | None:
        """The patterns of a file, which apply below a folder."""
        if path not in self._loaded:
            self._loaded[path] = self._read(folder, path)
        return self._loaded[path]

    def _read(
        self, folder: str, path: str, rewrite: Callable[[str], str] | None = None
    ) -> IgnoreFile | None:
        from prowess.text.ignore_files import MOST_BYTES, parse_ignore_file

        try:
            data = self._files.read_head(path, MOST_BYTES).data
        except OSError:
            # Git itself ignores a file that it cannot read.
            return None
        parsed = parse_ignore_file(folder, data, path=path, rewrite=rewrite)
        for line, text in parsed.broken[:_MOST_FINDINGS]:
            message = f"“{text[:_MOST_SHOWN]}” is not a valid pattern; the line is ignored."
            self.diagnostics.append(diagnose("ignore-pattern", message, file=path, line=line))
        return parsed

    def _find_git_folder(self, repository: str) -> str:
        """Where git keeps what belongs to a repository. In a worktree `.git` is a file that names
        the folder.
        """
        folder = f"{repository}/.git"
        if self._files.find_kind(folder) != "file":
            return folder
        pointer = self._read_line(folder)
        if not pointer.startswith("gitdir:"):
            return folder
        own = _join(repository, pointer.removeprefix("gitdir:").strip())
        shared = self._read_line(f"{own}/commondir")
        return _join(own, shared) if shared else own

    def _read_line(self, path: str) -> str:
        try:
            data = self._files.read_head(path, _MOST_POINTER).data
        except (OSError, ValueError):
            return ""
        return data.decode("utf-8", "replace").partition("\n")[0].strip()


def _loosen(line: str) -> str:
    """The line of an ignore file in a root: a `/` at its beginning means nothing to pi."""
    mark = "!" if line.startswith("!") else ""
    return mark + line.removeprefix(mark).removeprefix("/").lower()


def _tie(line: str) -> str:
    """The line of an ignore file further down. pi puts the path of the file's folder in front of
    it, so that it applies to what is directly in that folder.
    """
    if not line.strip() or line.lstrip().startswith("#"):
        return ""
    mark = "!" if line.startswith("!") else ""
    return f"{mark}/{_loosen(line).removeprefix(mark)}"


def _join(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path.replace("\\", "/")))


class IgnoredPaths:
    """What the ignore files that apply in one folder ignore; the outermost file comes first.

    A root that is itself ignored (`.claude/` in a project's .gitignore is common) is still
    searched, because someone put skills there to be found. The rules that ignore it are left out.
    """

    def __init__(
        self,
        files: IgnoreFiles,
        chain: IgnoreChain | None = None,
        *,
        names: tuple[str, ...] = _GIT_ONLY,
        in_root: bool = False,
    ) -> None:
        self._files = files
        self._chain = chain
        # The names of ignore files that count inside the root; of two, the later one is stronger.
        self.names = names
        # A host that names its own ignore files reads their patterns by rules of its own.
        self.is_own = names is not _GIT_ONLY
        self._in_root = in_root
        # Most files are named SKILL.md, and most rules do not mention it: what a rule needs to
        # match a name is found out once for each name.
        self._needs: dict[str, tuple[str, ...]] = {}

    @classmethod
    def above(cls, root: str, folders: Sequence[str], files: IgnoreFiles) -> IgnoredPaths:
        """The rules of the folders above a root, without those that ignore the root itself.

        The outermost folder, which comes first, is the repository's.
        """
        chain = None
        if folders and (exclude := files.load_exclude(folders[0])) is not None:
            chain = _add(chain, exclude)
        for folder in folders:
            if files.exists_in(folder):
                chain = _add(chain, files.load(folder))
        return cls(files, None if chain is None else chain.without(root))

    def enter(self, folder: str, items: Iterable[FolderItem]) -> IgnoredPaths | None:
        """The rules inside a folder, given its items; None where there are none at all."""
        chain = self._chain
        names = self.names
        present = {item.name for item in items if item.name in names and item.kind == "file"}
        if present:
            for name in names:
                if name in present:
                    chain = _add(chain, self._load(folder, name))
        if chain is None and not self.is_own:
            return None
        return IgnoredPaths(self._files, chain, names=names)

    def _load(self, folder: str, name: str) -> IgnoreFile | None:
        if self.is_own:
            return self._files.load_own(folder, name, in_root=self._in_root)
        return self._files.load(folder)

    def find_folder(self, folder: str) -> Reason | None:
        """Why a folder is ignored; None where it is not."""
        if self._chain is None:
            return None
        path = folder.lower() if self.is_own else folder
        found = self._chain.find(path, is_folder=True)
        return None if found is None else _explain("folder-ignored", folder, "its folder", found)

    def find_file(self, folder: str, name: str) -> Reason | None:
        """Why a file in a folder is ignored; None where it is not."""
        if self._chain is None:
            return None
        needs = self._needs.get(name)
        if needs is None:
            sought = name.lower() if self.is_own else name
            needs = self._needs[name] = self._chain.list_needs(sought)
        if not needs:
            return None
        path = f"{folder}/{name}"
        sought = path.lower() if self.is_own else path
        if not any(need in sought for need in needs):
            return None
        found = self._chain.find(sought, is_folder=False)
        return None if found is None else _explain("file-ignored", path, "the file", found)


def _explain(code: str, path: str, what: str, ignored: Ignored) -> Reason:
    pattern, file, line = ignored
    who = "git" if file.endswith((IGNORE_FILE, "/info/exclude")) else "an ignore file"
    reason = f"{who} ignores {what} (`{pattern}`, {file}:{line})"
    hint = f"Remove the pattern in line {line} of {file}."
    message = f"The {code.partition('-')[0]} is skipped because {reason}."
    return reason, diagnose(code, message, file=path, hint=hint, related=(file,))


def _add(chain: IgnoreChain | None, file: IgnoreFile | None) -> IgnoreChain:
    from prowess.text.ignore_files import IgnoreChain

    return (chain or IgnoreChain()).add(file)
