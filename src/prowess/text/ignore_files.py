"""What git ignores: the `.gitignore` files that apply in a folder, as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from prowess.text.gitignore import Pattern, parse_pattern

IGNORE_FILE = ".gitignore"
MOST_BYTES = 1 << 18
# No person writes a longer list; what comes after is not read.
_MOST_PATTERNS = 5_000


class Ignored(NamedTuple):
    """What ignores a path: the pattern, its file, and its line."""

    pattern: str
    file: str
    line: int


class IgnoreFile:
    """The patterns of one file, in its order, indexed by what they end with.

    That is a name, or a stretch of one. Patterns that end with anything (`cache/**`) are indexed by
    a folder that they name. All apply below `folder`, wherever the file itself is. `broken` are the
    lines that mean nothing, each with its number.
    """

    __slots__ = ("_by_folder", "_by_name", "_by_run", "broken", "folder", "path", "patterns")

    def __init__(
        self,
        folder: str,
        patterns: Iterable[Pattern],
        broken: Iterable[tuple[int, str]] = (),
        *,
        path: str = "",
    ) -> None:
        self.folder = folder.rstrip("/") + "/"
        self.path = path or f"{self.folder}{IGNORE_FILE}"
        self.patterns = tuple(patterns)
        self.broken = tuple(broken)
        self._by_name: dict[str, list[int]] = {}
        self._by_run: list[tuple[str, int]] = []
        self._by_folder: list[tuple[str, int]] = []
        for index, pattern in enumerate(self.patterns):
            self._index(pattern, index)

    def _index(self, pattern: Pattern, index: int) -> None:
        last = pattern.segments[-1]
        if isinstance(last, str):
            self._by_name.setdefault(last, []).append(index)
        elif last.runs:
            # The longest run is in the fewest names.
            self._by_run.append((max(last.runs, key=len), index))
        else:
            self._by_folder.append((_find_named_folder(pattern), index))

    def find(self, path: str, *, is_folder: bool) -> Pattern | None:
        """The last pattern that matches exactly this path; None if there is none."""
        if not path.startswith(self.folder):
            return None
        name = path[path.rfind("/") + 1 :]
        indexes = list(self._by_name.get(name, ()))
        indexes += [index for run, index in self._by_run if run in name]
        indexes += [index for folder, index in self._by_folder if folder in path]
        if not indexes:
            return None
        names = path[len(self.folder) :].split("/")
        # In git a later line overrides the ones before it.
        for index in sorted(indexes, reverse=True):
            if self.patterns[index].matches(names, is_folder=is_folder):
                return self.patterns[index]
        return None

    def list_needs(self, name: str) -> list[str]:
        """What a path that ends with this name must contain, at least one of these, to match."""
        is_indexed = name in self._by_name or any(run in name for run, _ in self._by_run)
        if is_indexed:
            # Every path contains the empty text, so each has to be looked up.
            return [""]
        return [folder for folder, _ in self._by_folder]

    def without(self, folder: str) -> IgnoreFile:
        """The file without the patterns that ignore a folder or one around it."""
        if not folder.startswith(self.folder):
            return self
        names = folder[len(self.folder) :].split("/")
        heads = [names[:count] for count in range(1, len(names) + 1)]
        if not any(self._ignores(head) for head in heads):
            return self
        kept = [pattern for pattern in self.patterns if not _ignores_any(pattern, heads)]
        return IgnoreFile(self.folder, kept, path=self.path)

    def _ignores(self, names: list[str]) -> bool:
        pattern = self.find(self.folder + "/".join(names), is_folder=True)
        return pattern is not None and not pattern.negated


def _find_named_folder(pattern: Pattern) -> str:
    for segment in pattern.segments:
        if isinstance(segment, str):
            return f"/{segment}/"
    return ""


def _ignores_any(pattern: Pattern, heads: Iterable[list[str]]) -> bool:
    if pattern.negated:
        return False
    return any(pattern.matches(head, is_folder=True) for head in heads)


def parse_ignore_file(
    folder: str, data: bytes, *, path: str = "", rewrite: Callable[[str], str] | None = None
) -> IgnoreFile:
    """The patterns that apply below a folder, from the ignore file in it or from another file.

    `rewrite` makes git's pattern of a line that means something else to a host.
    """
    # Git also drops a byte order mark, and ends lines at line feeds only.
    lines = data.decode("utf-8-sig", "replace").split("\n")[:_MOST_PATTERNS]
    patterns: list[Pattern] = []
    broken: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        pattern = parse_pattern(rewrite(line) if rewrite else line)
        if pattern is not None:
            pattern.line = number
            patterns.append(pattern)
        elif line.strip() and not line.startswith("#"):
            broken.append((number, line.strip()))
    return IgnoreFile(folder, patterns, broken, path=path)


class IgnoreChain:
    """The ignore files that apply in one folder, outermost first.

    Folders are walked from above, so only a path itself is checked: whoever enters an ignored
    folder wants what is in it.
    """

    __slots__ = ("_files",)

    def __init__(self, files: tuple[IgnoreFile, ...] = ()) -> None:
        self._files = files

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, file: IgnoreFile | None) -> IgnoreChain:
        """This chain with the file of a folder further in."""
        if file is None or not file.patterns:
            return self
        return IgnoreChain((*self._files, file))

    def learn(
        self, folder: str, read_head: Callable[[str, int], Any], name: str = IGNORE_FILE
    ) -> IgnoreChain:
        """This chain with the file in a folder further in, if there is one that can be read.

        `read_head` is that of a `FileSystem`.
        """
        try:
            data: bytes = read_head(f"{folder}/{name}", MOST_BYTES).data
        except OSError:
            # Without the file nothing more is ignored.
            return self
        return self.add(parse_ignore_file(folder, data))

    def without(self, folder: str) -> IgnoreChain:
        """This chain without what ignores a folder or one around it."""
        return IgnoreChain(tuple(file.without(folder) for file in self._files))

    def list_needs(self, name: str) -> tuple[str, ...]:
        """What a path that ends with this name must contain, at least one of these, to match."""
        needs: set[str] = set()
        for file in self._files:
            needs.update(file.list_needs(name))
        return tuple(needs)

    def find(self, path: str, *, is_folder: bool) -> Ignored | None:
        """What ignores a path; None if nothing does. The innermost file that matches decides."""
        for file in reversed(self._files):
            pattern = file.find(path, is_folder=is_folder)
            if pattern is None:
                continue
            if pattern.negated:
                return None
            return Ignored(pattern.text, file.path, pattern.line)
        return None

    def find_pattern(self, path: str, *, is_folder: bool) -> str | None:
        """The pattern that ignores a path; None if there is none."""
        ignored = self.find(path, is_folder=is_folder)
        return None if ignored is None else ignored.pattern
