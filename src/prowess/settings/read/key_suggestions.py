"""Report keys of a host's file that look like settings for skills but are not: mostly typos.

prowess.toml rejects unknown keys. A host's file is full of keys that are none of our business, so a
key is reported only if it is close to a known one, or in a table that is only about skills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import nearest_names
from prowess.settings.formats.document import (
    SettingsDocument,
    SettingValue,
    join_key,
    list_names_below,
)
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.coercion import HOST_OVERRIDE

# Short words are close to many others.
_SHORTEST = 6
_LONG = 9


class _Keys(NamedTuple):
    """The keys of a file that set something here, and the others that the host knows."""

    known: list[Path]
    others: list[Path]

    def list_below(self, path: Path) -> list[Path]:
        """The keys below a path."""
        depth = len(path)
        return [key for key in (*self.known, *self.others) if key[:depth] == path]


def find_misspelt(document: SettingsDocument, keys: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A warning for each key that has no effect but was probably meant to."""
    all_keys = _Keys(_split_all(keys), _split_all(document.rule.also))
    yield from _check_top(document.top, all_keys)
    for section in document.rule.about_skills:
        path = tuple(section.split("."))
        table = document.find(path)
        if table is not None and isinstance(table.data, dict):
            yield from _check_table(table, all_keys)
    for key, setting in keys.items():
        if setting != "overrides":
            continue
        path = tuple(key.removesuffix(".*").split("."))
        table = document.find(path)
        if table is not None:
            yield from _check_overrides(table, all_keys)


def _split_all(keys: Iterable[str]) -> list[Path]:
    return [tuple(key.split(".")) for key in keys]


def _check_top(top: SettingValue, keys: _Keys) -> Iterator[Diagnostic]:
    """Report keys that are close to a known one."""
    names = {path[0] for path in keys.list_below(())}
    long_enough = [path[0] for path in keys.known if len(path[0]) >= _SHORTEST]
    for name, child in top.children():
        if name in names:
            continue
        near = next((known for known in long_enough if is_near(name, known)), None)
        if near is not None:
            yield _report(child, [(near,)])


def _check_table(table: SettingValue, keys: _Keys) -> Iterator[Diagnostic]:
    """Report keys that are neither known nor lead to a known one.

    What is below a known key is checked when it is read.
    """
    depth = len(table.path)
    for name, child in table.children():
        below = keys.list_below(child.path) or keys.list_below((*table.path, "*"))
        if not below:
            yield _report(child, _list_alternatives(name, table.path, keys))
            continue
        is_known = any(len(path) == depth + 1 for path in below)
        if not is_known and isinstance(child.data, dict):
            yield from _check_table(child, keys)


def _list_alternatives(name: str, table: Path, keys: _Keys) -> list[Path]:
    """Keys that may have been meant: the same name elsewhere, or else the others in the table."""
    elsewhere = [path for path in keys.known if path[-1] == name]
    if elsewhere:
        return elsewhere
    depth = len(table)
    return [path[: depth + 1] for path in keys.known if path[:depth] == table]


def _check_overrides(table: SettingValue, keys: _Keys) -> Iterator[Diagnostic]:
    """Report unknown keys in the tables for single skills."""
    # A key beside these tables, such as `skills.load`, is not the name of a skill.
    beside = list_names_below(table.path, keys.list_below(table.path))
    for name, override in table.children():
        is_override = isinstance(override.data, dict) and name not in beside
        if not is_override:
            continue
        allowed = [(*override.path, known) for known in HOST_OVERRIDE]
        for key, child in override.children():
            if key not in HOST_OVERRIDE:
                yield _report(child, allowed)


def _report(value: SettingValue, known: Iterable[Path]) -> Diagnostic:
    key, origin = join_key(value.path), value.origin
    # `*` stands for any name, so it is none that could be meant.
    named = {path[-1]: join_key(path) for path in known if path[-1] != "*"}
    near = nearest_names(value.path[-1], named, most=1)
    if near:
        meant = named[near[0]]
        rest = f"did you mean `{meant}`?"
        # Written in the same table, a key of the top level would be unknown again.
        is_nested, is_meant_at_top = len(value.path) > 1, "." not in meant
        place = " at the top level" if is_nested and is_meant_at_top else ""
        hint = f"Write `{meant}`{place}."
    else:
        listed = ", ".join(f"`{known_key}`" for known_key in named.values())
        rest = f"the known ones are {listed}."
        hint = None
    return diagnose(
        "setting-ignored",
        f"`{key}` is not a known setting and has no effect; {rest}",
        file=origin.file,
        line=origin.line,
        field=key,
        hint=hint,
    )


def is_near(written: str, known: str) -> bool:
    """Whether two words differ by one letter, or by two if they are long."""
    most = 2 if len(known) >= _LONG else 1
    # The lengths rule out most words without comparing letters.
    if abs(len(written) - len(known)) > most:
        return False
    # Levenshtein's distance, with one row of the matrix at a time.
    row = list(range(len(known) + 1))
    for i, letter in enumerate(written, 1):
        diagonal, row[0] = row[0], i
        for j, known_letter in enumerate(known, 1):
            replaced = diagonal + (letter != known_letter)
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, replaced)
    return row[-1] <= most
