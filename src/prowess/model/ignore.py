"""What git ignores: the `.gitignore` files that hold in a folder, as a value. Whoever walks the folders reads them."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.model.gitignore import Pattern, parse_pattern

IGNORE_FILE = ".gitignore"
MOST_BYTES = 1 << 18
# A file of more is no list that a person wrote; what is beyond is not looked at.
_MOST_PATTERNS = 5_000


class IgnoreFile:
    """The patterns of one file, in its order, found by what they end with: a name, or a stretch of one.

    `broken` are the lines that mean nothing, each with its number.
    """

    __slots__ = ("_by_name", "_others", "broken", "folder", "patterns")

    def __init__(self, folder: str, patterns: Iterable[Pattern], broken: Iterable[tuple[int, str]] = ()) -> None:
        self.folder = folder.rstrip("/") + "/"
        self.patterns = tuple(patterns)
        self.broken = tuple(broken)
        self._by_name: dict[str, list[int]] = {}
        self._others: list[tuple[str, int]] = []
        for place, pattern in enumerate(self.patterns):
            last = pattern.segments[-1]
            if isinstance(last, str):
                self._by_name.setdefault(last, []).append(place)
            else:
                self._others.append((max(last.runs, key=len, default=""), place))

    def find(self, path: str, *, is_folder: bool) -> Pattern | None:
        """The last pattern that means exactly this path, None where none does."""
        if not path.startswith(self.folder):
            return None
        names = path[len(self.folder) :].split("/")
        last = names[-1]
        places = [place for run, place in self._others if run in last]
        if last in self._by_name:
            places = sorted(places + self._by_name[last])
        for place in reversed(places):
            if self.patterns[place].matches(names, is_folder=is_folder):
                return self.patterns[place]
        return None

    def without(self, folder: str) -> IgnoreFile:
        """The file without the patterns that ignore a folder, or one that it lies in; itself where none does."""
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
        return IgnoreFile(self.folder, kept)


def parse_ignore_file(folder: str, data: bytes) -> IgnoreFile:
    """The patterns of the ignore file in a folder."""
    lines = data.decode("utf-8-sig", "replace").split("\n")[:_MOST_PATTERNS]
    parsed = [(number, line, parse_pattern(line)) for number, line in enumerate(lines, 1)]
    patterns = [pattern for _, _, pattern in parsed if pattern is not None]
    broken = [
        (number, line.strip())
        for number, line, pattern in parsed
        if pattern is None and line.strip() and not line.startswith("#")
    ]
    return IgnoreFile(folder, patterns, broken)


class IgnoreRules:
    """The ignore files that hold in one folder, outermost first. Folders are walked from above, so only the path
    itself is looked at: who enters an ignored folder wants what is in it."""

    __slots__ = ("_files",)

    def __init__(self, files: tuple[IgnoreFile, ...] = ()) -> None:
        self._files = files

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, file: IgnoreFile | None) -> IgnoreRules:
        """These rules with those of a file in a folder further in."""
        return IgnoreRules((*self._files, file)) if file is not None and file.patterns else self

    def without(self, folder: str) -> IgnoreRules:
        """These rules without what ignores a folder itself or one that it lies in."""
        return IgnoreRules(tuple(file.without(folder) for file in self._files))

    def find_pattern(self, path: str, *, is_folder: bool) -> str | None:
        """The pattern that ignores a path, None where none does. The innermost file that says something decides."""
        for file in reversed(self._files):
            found = file.find(path, is_folder=is_folder)
            if found is not None:
                return None if found.negated else found.text
        return None
