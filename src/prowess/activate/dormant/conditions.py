"""Which dormant skills a touched file wakes.

A skill with `paths` is held back until a file that matches one of its patterns is read, written or
edited. From then on it is awake for the rest of the conversation.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterable, Sequence

import msgspec

from prowess.activate.dormant.pattern_index import PatternIndex
from prowess.activate.dormant.patterns import parse_patterns
from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import Skill
from prowess.text.gitignore import Pattern
from prowess.text.path_conditions import are_conditions

# Up to here it is faster to check each skill than to keep the numbers of all that are awake.
_MANY = 500


class Condition(msgspec.Struct, frozen=True, gc=False):
    """What one skill waits for: the patterns in one field of its header. A skill may have two."""

    name: str
    location: str
    patterns: tuple[str, ...]
    field: str = "paths"


class WatchState(msgspec.Struct, frozen=True):
    """What a conversation has seen so far: the skills that woke, by location, and folders searched.

    It is a value: a touched file gives a new one. Both sets only ever grow.
    """

    awake: frozenset[str] = frozenset()
    searched: frozenset[str] = frozenset()


class Woken(msgspec.Struct, frozen=True):
    """The watch after a file was touched, and the conditions that it met for the first time."""

    watch: WatchState
    conditions: tuple[Condition, ...] = ()


def find_conditions(
    skills: Iterable[Skill], fields: Sequence[str], *, unconditional: str = "any"
) -> list[Condition]:
    """What each skill waits for, by the fields that make it wait.

    A pattern that matches every file is no condition.
    """
    found: list[Condition] = []
    for skill in skills:
        manifest = skill.manifest
        for field in fields:
            patterns = getattr(manifest, field)
            if are_conditions(patterns, unconditional):
                found.append(Condition(skill.name, skill.location, patterns, field))
    return found


class ConditionIndex:
    """The conditions of every dormant skill, ready to be checked against one file after another.

    However many there are, only patterns that could match a file are tried.
    """

    def __init__(
        self,
        conditions: Iterable[Condition],
        *,
        most_patterns: int = 1_000,
        ignore_case: bool = False,
    ) -> None:
        self._conditions = tuple(conditions)
        self._ignore_case = ignore_case
        found: list[Diagnostic] = []
        parsed: list[list[Pattern]] = []
        for condition in self._conditions:
            texts = condition.patterns
            if ignore_case:
                texts = tuple(text.lower() for text in texts)
            patterns, broken = parse_patterns(texts, most=most_patterns)
            found += [_diagnose(condition, text, problem) for text, problem in broken]
            parsed.append(patterns)
        self._index = PatternIndex(parsed)
        self._awake: tuple[frozenset[str], set[int]] = (frozenset(), set())
        self.diagnostics = tuple(found)

    def __len__(self) -> int:
        return len(self._conditions)

    def find_met(
        self, names: Sequence[str], *, awake: frozenset[str] = frozenset()
    ) -> list[Condition]:
        """The conditions that a file meets, in order, without those of skills already awake.

        The file is given as the names in its path.
        """
        if self._ignore_case:
            names = [name.lower() for name in names]
        owners = self._index.find(names)
        if awake and len(owners) > _MANY:
            owners -= self._find_awake(awake)
        met = [self._conditions[owner] for owner in sorted(owners)]
        return [condition for condition in met if condition.location not in awake]

    def _find_awake(self, awake: frozenset[str]) -> set[int]:
        """The numbers of the skills that are awake, kept for the next file of the same watch."""
        kept_for, owners = self._awake
        # A watch is a value, so the very same set means that nothing woke in between.
        if kept_for is not awake:
            numbered = enumerate(self._conditions)
            owners = {owner for owner, condition in numbered if condition.location in awake}
            self._awake = (awake, owners)
        return owners


def wake(
    watch: WatchState, conditions: ConditionIndex, path: str, *, cwd: str, platform: str = "linux"
) -> Woken:
    """What a touched file wakes; a file outside the working folder wakes nothing."""
    names = find_names_below(path, cwd, platform=platform)
    if not names:
        return Woken(watch)
    met = conditions.find_met(names, awake=watch.awake)
    if not met:
        return Woken(watch)
    awake = watch.awake.union(condition.location for condition in met)
    return Woken(msgspec.structs.replace(watch, awake=awake), tuple(met))


def find_names_below(path: str, folder: str, *, platform: str = "linux") -> list[str] | None:
    """The names on the way from a folder down to a path; None for a path outside the folder."""
    paths = ntpath if platform == "win32" else posixpath
    base = paths.normpath(folder).rstrip(paths.sep) + paths.sep
    whole = paths.normpath(paths.join(folder, path))
    if not whole.startswith(base):
        return None
    below: list[str] = whole[len(base) :].split(paths.sep)
    return below


def _diagnose(condition: Condition, text: str, problem: str) -> Diagnostic:
    message = f"The pattern “{text}” is ignored: {problem}."
    return diagnose("pattern-invalid", message, file=condition.location, field=condition.field)
