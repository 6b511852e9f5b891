"""Many patterns, one path: whose patterns mean it is found without trying each.

The patterns hang in a tree by their segments, so a path is led through it name by name. Segments
with wildcards are found by a stretch of plain text that they hold and few others do: `*.tsx` is
tried only for names with `.tsx` in them. The answer is that of `patterns.covers` for each owner: at
every folder on the way and at the file itself the last pattern that matches decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from prowess.text.gitignore import ANY, MANY, Glob, Pattern, Segment

_MOST_RUN = 16
_MOST_KEPT = 4_096


class _End:
    """Where patterns of one kind end: who has one, and which of the owner's patterns it is."""

    __slots__ = ("folders_only", "negated", "owners", "places")

    def __init__(self, *, negated: bool, folders_only: bool) -> None:
        self.negated = negated
        self.folders_only = folders_only
        self.owners: set[int] = set()
        self.places: dict[int, int] = {}


class _Node:
    """What may follow one beginning of patterns. `repeats` marks the place of any number of
    folders.
    """

    __slots__ = ("any", "ends", "globs", "many", "names", "repeats")

    def __init__(self, *, repeats: bool = False) -> None:
        # Most nodes have one thing below them, so the rest is made when it is needed.
        self.names: dict[str, _Node] | None = None
        self.globs: dict[str, _Node] | None = None
        self.any: _Node | None = None
        self.many: _Node | None = None
        self.ends: tuple[_End, ...] = ()
        self.repeats = repeats

    def grow(self, segment: Segment) -> _Node:
        """The node below this one for a segment, made now where there is none."""
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

    def get_end(self, pattern: Pattern) -> _End:
        """The end for patterns of one kind, made now where there is none."""
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
    """The patterns of many owners, who are known by their numbers. Made once, then asked for one
    path after another.
    """

    def __init__(self, owners: Iterable[Sequence[Pattern]]) -> None:
        self._root = _Node()
        globs: dict[str, Glob] = {}
        for owner, patterns in enumerate(owners):
            for place, pattern in enumerate(patterns):
                self._add(owner, place, pattern, globs)
        self._by_run, self._without_run = _index_globs(globs.values())
        self._lengths = sorted({len(run) for run in self._by_run})
        self._matching: dict[str, list[str]] = {}
        self._taken_back: dict[tuple[_End, _End], set[int]] = {}

    def find(self, names: Sequence[str]) -> set[int]:
        """The owners whose patterns mean a file, given as the names of its path."""
        found: set[int] = set()
        active = [self._root] if self._root.many is None else [self._root, self._root.many]
        for place, name in enumerate(names, 1):
            active = self._step(active, name)
            ends = [
                end
                for node in active
                for end in node.ends
                if place < len(names) or not end.folders_only
            ]
            negated = [end for end in ends if end.negated]
            for end in ends:
                if not end.negated:
                    found |= end.owners.difference(
                        *(self._take_back(end, other) for other in negated)
                    )
        return found

    def _add(self, owner: int, place: int, pattern: Pattern, globs: dict[str, Glob]) -> None:
        node = self._root
        for segment in pattern.segments:
            node = node.grow(segment)
            if isinstance(segment, Glob) and segment is not ANY and segment is not MANY:
                globs.setdefault(segment.text, segment)
        end = node.get_end(pattern)
        end.owners.add(owner)
        end.places[owner] = place

    def _step(self, active: list[_Node], name: str) -> list[_Node]:
        """The nodes that one more name leads to. Where any number of folders may stand, none may,
        too.
        """
        globs = self._find_globs(name)
        following = [node for node in active if node.repeats]
        entered = set(following)
        for node in active:
            if node.names is not None and name in node.names:
                following.append(node.names[name])
            if node.any is not None:
                following.append(node.any)
            if node.globs is not None:
                following += [node.globs[text] for text in globs if text in node.globs]
        following += [
            node.many for node in following if node.many is not None and node.many not in entered
        ]
        return following

    def _find_globs(self, name: str) -> list[str]:
        """The segments with wildcards that match a name; names come again and again, so they are
        kept for a while.
        """
        kept = self._matching.get(name)
        if kept is not None:
            return kept
        tried = list(self._without_run)
        for length in self._lengths:
            for run in {name[place : place + length] for place in range(len(name) - length + 1)}:
                if run in self._by_run:
                    tried += self._by_run[run]
        if len(self._matching) >= _MOST_KEPT:
            self._matching.clear()
        matching = self._matching[name] = [glob.text for glob in tried if glob.matches(name)]
        return matching

    def _take_back(self, end: _End, other: _End) -> set[int]:
        """The owners of a pattern who take it back with a later one; found once for each two."""
        kept = self._taken_back.get((end, other))
        if kept is not None:
            return kept
        if len(self._taken_back) >= _MOST_KEPT:
            self._taken_back.clear()
        both = end.owners & other.owners
        taken = self._taken_back[end, other] = {
            owner for owner in both if end.places[owner] < other.places[owner]
        }
        return taken


def _index_globs(globs: Iterable[Glob]) -> tuple[dict[str, list[Glob]], list[Glob]]:
    """Every segment with wildcards under the rarest of its runs, and those without a run, which are
    always tried.
    """
    globs = list(globs)
    counts = Counter(run for glob in globs for run in {run[:_MOST_RUN] for run in glob.runs})
    by_run: dict[str, list[Glob]] = {}
    without_run: list[Glob] = []
    for glob in globs:
        if glob.runs:
            rarest = min(
                (run[:_MOST_RUN] for run in glob.runs), key=lambda run: (counts[run], -len(run))
            )
            by_run.setdefault(rarest, []).append(glob)
        else:
            without_run.append(glob)
    return by_run, without_run
