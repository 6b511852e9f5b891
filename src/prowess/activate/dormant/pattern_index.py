"""Finds whose patterns match a path, among the patterns of many owners, without trying each.

The patterns form a tree by their segments, and a path is followed through it name by name. A
segment with wildcards is found by a run of plain text in it that few others have: `*.tsx` is tried
only for names that contain `.tsx`. The answer is that of `patterns.covers` for each owner: at every
folder on the way, and at the file itself, the last matching pattern decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from prowess.text.gitignore import ANY, MANY, Glob, Pattern, Segment

# Longer runs are hardly rarer, and every length is looked up in every name.
_MOST_RUN = 16
# What is kept for names that recur is thrown away as a whole when it is more than this.
_MOST_KEPT = 4_096


class _End:
    """Where patterns of one kind end: who has one, and its index among the owner's patterns."""

    __slots__ = ("folders_only", "indexes", "negated", "owners")

    def __init__(self, *, negated: bool, folders_only: bool) -> None:
        self.negated = negated
        self.folders_only = folders_only
        self.owners: set[int] = set()
        self.indexes: dict[int, int] = {}


class _Node:
    """What may follow one beginning of patterns. `repeats` stands for any number of folders."""

    __slots__ = ("any", "ends", "globs", "many", "names", "repeats")

    def __init__(self, *, repeats: bool = False) -> None:
        # Most nodes have one child, so the dictionaries are made when they are needed.
        self.names: dict[str, _Node] | None = None
        self.globs: dict[str, _Node] | None = None
        self.any: _Node | None = None
        self.many: _Node | None = None
        self.ends: tuple[_End, ...] = ()
        self.repeats = repeats

    def grow(self, segment: Segment) -> _Node:
        """The child for a segment, made if it is new."""
        if isinstance(segment, str):
            if self.names is None:
                self.names = {}
            return _grow(self.names, segment)
        if segment is MANY:
            self.many = self.many or _Node(repeats=True)
            return self.many
        if segment is ANY:
            self.any = self.any or _Node()
            return self.any
        if self.globs is None:
            self.globs = {}
        return _grow(self.globs, segment.text)

    def enter(self, name: str, globs: Iterable[str]) -> Iterator[_Node]:
        """The children that a name leads to; `globs` are the segments with wildcards it matches."""
        if self.names is not None and name in self.names:
            yield self.names[name]
        if self.any is not None:
            yield self.any
        if self.globs is not None:
            for text in globs:
                if text in self.globs:
                    yield self.globs[text]

    def get_end(self, pattern: Pattern) -> _End:
        """The end for patterns of one kind, made if it is new."""
        for end in self.ends:
            if end.negated is pattern.negated and end.folders_only is pattern.folders_only:
                return end
        made = _End(negated=pattern.negated, folders_only=pattern.folders_only)
        self.ends = (*self.ends, made)
        return made


def _grow(below: dict[str, _Node], text: str) -> _Node:
    node = below.get(text)
    if node is None:
        node = below[text] = _Node()
    return node


class PatternIndex:
    """The patterns of many owners, who are known by their numbers."""

    def __init__(self, owners: Iterable[Sequence[Pattern]]) -> None:
        self._root = _Node()
        globs: dict[str, Glob] = {}
        for owner, patterns in enumerate(owners):
            for index, pattern in enumerate(patterns):
                self._add(owner, index, pattern, globs)
        self._by_run, self._without_run = _index_globs(globs.values())
        self._lengths = sorted({len(run) for run in self._by_run})
        self._matching: dict[str, list[str]] = {}
        self._cancelled: dict[tuple[_End, _End], set[int]] = {}

    def find(self, names: Sequence[str]) -> set[int]:
        """The owners whose patterns match a file, given as the names in its path."""
        found: set[int] = set()
        # The nodes that the names so far lead to. A first `**` may also mean no folder at all.
        active = [self._root]
        if self._root.many is not None:
            active.append(self._root.many)
        for depth, name in enumerate(names, 1):
            active = self._step(active, name)
            found |= self._find_matched(active, is_file=depth == len(names))
        return found

    def _find_matched(self, active: Iterable[_Node], *, is_file: bool) -> set[int]:
        """The owners with a pattern that ends at one of the nodes and that none later cancels."""
        positive: list[_End] = []
        negated: list[_End] = []
        for node in active:
            for end in node.ends:
                # A pattern such as `docs/` does not mean a file of that name.
                if is_file and end.folders_only:
                    continue
                kind = negated if end.negated else positive
                kind.append(end)
        matched: set[int] = set()
        for end in positive:
            cancelled = [self._find_cancelled(end, other) for other in negated]
            matched |= end.owners.difference(*cancelled)
        return matched

    def _add(self, owner: int, index: int, pattern: Pattern, globs: dict[str, Glob]) -> None:
        node = self._root
        for segment in pattern.segments:
            node = node.grow(segment)
            if isinstance(segment, Glob) and segment is not ANY and segment is not MANY:
                globs.setdefault(segment.text, segment)
        end = node.get_end(pattern)
        end.owners.add(owner)
        end.indexes[owner] = index

    def _step(self, active: list[_Node], name: str) -> list[_Node]:
        """The nodes that one more name leads to. Any number of folders may also be none."""
        globs = self._find_globs(name)
        following = [node for node in active if node.repeats]
        entered = set(following)
        for node in active:
            following += node.enter(name, globs)
        # A node that repeats is active already; twice, it would double with every folder.
        deeper = [node.many for node in following if node.many is not None]
        following += [node for node in deeper if node not in entered]
        return following

    def _find_globs(self, name: str) -> list[str]:
        """The segments with wildcards that match a name, kept because names recur."""
        kept = self._matching.get(name)
        if kept is not None:
            return kept
        tried = list(self._without_run)
        for length in self._lengths:
            starts = range(len(name) - length + 1)
            for run in {name[start : start + length] for start in starts}:
                tried += self._by_run.get(run, ())
        if len(self._matching) >= _MOST_KEPT:
            self._matching.clear()
        matching = self._matching[name] = [glob.text for glob in tried if glob.matches(name)]
        return matching

    def _find_cancelled(self, end: _End, negated: _End) -> set[int]:
        """The owners who cancel a pattern with a later negated one, kept for each pair."""
        kept = self._cancelled.get((end, negated))
        if kept is not None:
            return kept
        if len(self._cancelled) >= _MOST_KEPT:
            self._cancelled.clear()
        both = end.owners & negated.owners
        cancelled = {owner for owner in both if end.indexes[owner] < negated.indexes[owner]}
        self._cancelled[end, negated] = cancelled
        return cancelled


def _index_globs(globs: Iterable[Glob]) -> tuple[dict[str, list[Glob]], list[Glob]]:
    """Each segment with wildcards by its rarest run, and those without a run, always tried."""
    globs = list(globs)
    counts = Counter(run for glob in globs for run in _cut_runs(glob))
    by_run: dict[str, list[Glob]] = {}
    without_run: list[Glob] = []
    for glob in globs:
        if not glob.runs:
            without_run.append(glob)
            continue
        # The order of a set differs between processes, so the text breaks a tie.
        rarest = min(_cut_runs(glob), key=lambda run: (counts[run], -len(run), run))
        by_run.setdefault(rarest, []).append(glob)
    return by_run, without_run


def _cut_runs(glob: Glob) -> set[str]:
    return {run[:_MOST_RUN] for run in glob.runs}
