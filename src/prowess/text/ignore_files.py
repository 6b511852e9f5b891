"""What git ignores: the `.gitignore` files that hold in a folder, as a value. Whoever walks the
folders reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from prowess.text.gitignore import Pattern, parse_pattern

IGNORE_FILE = ".gitignore"
MOST_BYTES = 1 << 18
# A file of more is no list that a person wrote; what is beyond is not looked at.
_MOST_PATTERNS = 5_000


class Ignored(NamedTuple):
    """What ignores a path: the pattern, the file it stands in, and its line."""

    pattern: str
    file: str
    line: int


class IgnoreFile:
    """The patterns of one file, in its order, found by what they end with: a name, or a stretch of
    one. Those that end with anything at all (`cache/**`) are found by a folder that they name.

    They hold below `folder`, wherever the file itself lies. `broken` are the lines that mean
    nothing, each with its number.
    """

    __slots__ = ("_by_name", "_open", "_others", "broken", "folder", "path", "patterns")

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
        self._others: list[tuple[str, int]] = []
        self._open: list[tuple[str, int]] = []
        for place, pattern in enumerate(self.patterns):
            last = pattern.segments[-1]
            if isinstance(last, str):
                self._by_name.setdefault(last, []).append(place)
            elif last.runs:
                self._others.append((max(last.runs, key=len), place))
            else:
                named = (f"/{one}/" for one in pattern.segments if isinstance(one, str))
                self._open.append((next(named, ""), place))

    def find(self, path: str, *, is_folder: bool) -> Pattern | None:
        """The last pattern that means exactly this path, None where none does."""
        if not path.startswith(self.folder):
            return None
        last = path[path.rfind("/") + 1 :]
        places = [place for run, place in self._others if run in last]
        if last in self._by_name:
            places += self._by_name[last]
        if self._open:
            places += [place for named, place in self._open if named in path]
        if not places:
            return None
        places.sort()
        names = path[len(self.folder) :].split("/")
        for place in reversed(places):
            if self.patterns[place].matches(names, is_folder=is_folder):
                return self.patterns[place]
        return None

    def list_needs(self, name: str) -> list[str]:
        """What must stand in a path that ends with this name, one of these at least, for any
        pattern to mean it.
        """
        if name in self._by_name or any(run in name for run, _ in self._others):
            return [""]
        return [named for named, _ in self._open]

    def without(self, folder: str) -> IgnoreFile:
        """The file without the patterns that ignore a folder, or one that it lies in; itself where
        none does.
        """
        if not folder.startswith(self.folder):
            return self
        names = folder[len(self.folder) :].split("/")
        heads = [names[:count] for count in range(1, len(names) + 1)]
        found = [self.find(self.folder + "/".join(head), is_folder=True) for head in heads]
        if not any(pattern is not None and not pattern.negated for pattern in found):
            return self
        kept = (
            pattern
            for pattern in self.patterns
            if pattern.negated or not any(pattern.matches(head, is_folder=True) for head in heads)
        )
        return IgnoreFile(self.folder, kept, path=self.path)


def parse_ignore_file(folder: str, data: bytes, *, path: str = "") -> IgnoreFile:
    """The patterns that hold below a folder, from the ignore file in it or from another file."""
    lines = data.decode("utf-8-sig", "replace").split("\n")[:_MOST_PATTERNS]
    parsed = [(number, line, parse_pattern(line)) for number, line in enumerate(lines, 1)]
    patterns = []
    for number, _, pattern in parsed:
        if pattern is not None:
            pattern.line = number
            patterns.append(pattern)
    broken = [
        (number, line.strip())
        for number, line, pattern in parsed
        if pattern is None and line.strip() and not line.startswith("#")
    ]
    return IgnoreFile(folder, patterns, broken, path=path)


class IgnoreChain:
    """The ignore files that hold in one folder, outermost first. Folders are walked from above, so
    only the path itself is looked at: who enters an ignored folder wants what is in it."""

    __slots__ = ("_files",)

    def __init__(self, files: tuple[IgnoreFile, ...] = ()) -> None:
        self._files = files

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, file: IgnoreFile | None) -> IgnoreChain:
        """These rules with those of a file in a folder further in."""
        return IgnoreChain((*self._files, file)) if file is not None and file.patterns else self

    def learn(
        self, folder: str, read_head: Callable[[str, int], Any], name: str = IGNORE_FILE
    ) -> IgnoreChain:
        """These rules with those of the file in a folder further in, where there is one that can be
        read.

        `read_head` is that of a `FileSystem`.
        """
        try:
            data: bytes = read_head(f"{folder}/{name}", MOST_BYTES).data
        except OSError:
            return self
        return self.add(parse_ignore_file(folder, data))

    def without(self, folder: str) -> IgnoreChain:
        """These rules without what ignores a folder itself or one that it lies in."""
        return IgnoreChain(tuple(file.without(folder) for file in self._files))

    def list_needs(self, name: str) -> tuple[str, ...]:
        """What must stand in a path that ends with this name, one of these at least, for any
        pattern to mean it.
        """
        return tuple({need for file in self._files for need in file.list_needs(name)})

    def find(self, path: str, *, is_folder: bool) -> Ignored | None:
        """What ignores a path, None where nothing does. The innermost file that says something
        decides.
        """
        for file in reversed(self._files):
            found = file.find(path, is_folder=is_folder)
            if found is not None:
                return None if found.negated else Ignored(found.text, file.path, found.line)
        return None

    def find_pattern(self, path: str, *, is_folder: bool) -> str | None:
        """The pattern that ignores a path, None where none does."""
        found = self.find(path, is_folder=is_folder)
        return None if found is None else found.pattern
