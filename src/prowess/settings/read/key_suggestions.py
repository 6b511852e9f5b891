"""Keys of a host's file that look like settings of skills and are none: most of them are misspelt.

Our own file refuses what it does not know. A host's file is full of keys that are no concern of
ours, so one is reported only where it comes near to a known one, or stands in a table that is about
skills alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import nearest_names
from prowess.settings.formats.document import Document, Value, join_key
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.coercion import HOST_OVERRIDE

# Shorter words come near to many others.
_SHORTEST = 6
_LONG = 9


def find_misspelt(document: Document, keys: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A warning for each key that has no effect, though whoever wrote it meant one that has."""
    top = Value(document.data, (), document)
    known = [tuple(key.split(".")) for key in keys]
    others = [tuple(key.split(".")) for key in document.rule.also]
    yield from _look_at_top(top, known, others)
    for section in document.rule.about_skills:
        table = document.find(tuple(section.split(".")))
        if table is not None and isinstance(table.data, dict):
            yield from _look_inside(table, known, others)
    for path in [tuple(key.split(".")) for key, setting in keys.items() if setting == "overrides"]:
        table = document.find(path[:-1] if path[-1] == "*" else path)
        if table is not None:
            depth = len(table.path)
            beside = {
                one[depth]
                for one in (*known, *others)
                if one[:depth] == table.path and len(one) > depth
            }
            yield from _look_at_overrides(table, beside)


def _look_at_top(top: Value, known: list[Path], others: list[Path]) -> Iterator[Diagnostic]:
    names = dict.fromkeys(path[0] for path in (*known, *others))
    wanted = [name for name in dict.fromkeys(path[0] for path in known) if len(name) >= _SHORTEST]
    for name, child in top.children():
        if name not in names:
            near = next((one for one in wanted if is_near(name, one)), None)
            if near is not None:
                yield _report(child, [(near,)])


def _look_inside(table: Value, known: list[Path], others: list[Path]) -> Iterator[Diagnostic]:
    """Every key must be known or lie on the way to a known one; what lies below a known one is its
    reader's.
    """
    depth = len(table.path)
    for name, child in table.children():
        beside = [path for path in (*known, *others) if path[:depth] == table.path]
        below = [path for path in beside if path[depth] == name] or [
            path for path in beside if path[depth] == "*"
        ]
        if not below:
            elsewhere = [path for path in known if path[-1] == name]
            yield _report(
                child, elsewhere or [path[: depth + 1] for path in beside if path in known]
            )
        elif isinstance(child.data, dict) and all(len(path) > depth + 1 for path in below):
            yield from _look_inside(child, known, others)


def _look_at_overrides(table: Value, named: set[str]) -> Iterator[Diagnostic]:
    """What stands in the table of a skill; `named` are keys beside such tables."""
    for name, override in table.children():
        if isinstance(override.data, dict) and name not in named:
            for key, child in override.children():
                if key not in HOST_OVERRIDE:
                    yield _report(child, [(*override.path, one) for one in HOST_OVERRIDE])


def _report(value: Value, known: Iterable[Path]) -> Diagnostic:
    """The warning about a key, among those that are known beside it."""
    key, origin = join_key(value.path), value.origin
    named = {path[-1]: join_key(path) for path in known if path[-1] != "*"}
    near = nearest_names(value.path[-1], named, most=1)
    told = (
        f"the nearest known one is `{named[near[0]]}`"
        if near
        else f"known are {_list(named.values())}"
    )
    message = f"`{key}` is no known setting and has no effect; {told}."
    is_above = near and "." not in named[near[0]] and len(value.path) > 1
    hint = (
        f"Write `{named[near[0]]}`{' at the top of the file' if is_above else ''}."
        if near
        else None
    )
    return diagnose(
        "setting-ignored", message, file=origin.file, line=origin.line, field=key, hint=hint
    )


def _list(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def is_near(one: str, other: str) -> bool:
    """Whether two words differ by one letter, or by two where they are long."""
    most = 2 if len(other) >= _LONG else 1
    if abs(len(one) - len(other)) > most:
        return False
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, its in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (letter != its))
    return row[-1] <= most
