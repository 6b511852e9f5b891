"""A settings file that was read: its values, and for each the key and the line to name when it is
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from prowess.errors import SettingError, nearest_names
from prowess.model.settings import Origin
from prowess.profiles.places import Places
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.formats.key_lines import find_nearest, list_lines
from prowess.settings.formats.key_spans import Path

_BARE = r"[\w-]+"
_LONGEST_TEXT = 40


class Document:
    """The text of a settings file and what a parser made of it."""

    def __init__(
        self, file: str, rule: SettingsFileRule, places: Places, text: str, data: dict[str, Any]
    ) -> None:
        self.file = file
        self.rule = rule
        self.places = places
        self.text = text
        self.data = data

    @cached_property
    def _lines(self) -> dict[Path, int]:
        return list_lines(self.text, self.rule.format)

    def find_line(self, path: Path) -> int | None:
        """The line of a key, else of the nearest key above it."""
        return find_nearest(self._lines, path)

    def find(self, path: Path) -> Value | None:
        """The value of a key. None where it is not set; null counts as not set."""
        value = Value(self.data, (), self)
        for part in path:
            child = next(
                (child for name, child in value.children(is_secret=True) if name == part), None
            )
            if child is None:
                return None
            value = child
        return value

    @property
    def base(self) -> str:
        """The folder that relative paths in this file hang below."""
        paths = self.places.paths
        return str(paths.dirname(self.file)) if self.rule.relative_to == "file" else self.places.cwd


class Value(NamedTuple):
    """A value as the file has it, under the key as it is written there."""

    data: Any
    path: Path
    document: Document

    @property
    def origin(self) -> Origin:
        """The file and line of the value."""
        return Origin(self.document.file, self.document.find_line(self.path))

    def children(self, *, is_secret: bool = False) -> Iterator[tuple[str, Value]]:
        """What a table holds, by name; raises where this is no table, and repeats no text that may
        be a secret.
        """
        if not isinstance(self.data, dict):
            raise self.wrong("a table of keys and values", is_secret=is_secret)
        for name, data in self.data.items():
            if data is not None:
                yield name, Value(data, (*self.path, name), self.document)

    def items(self) -> Iterator[Value]:
        """What a list holds; raises where this is no list."""
        if not isinstance(self.data, list):
            raise self.wrong("a list of texts")
        for index, data in enumerate(self.data):
            yield Value(data, (*self.path, str(index)), self.document)

    def wrong(self, allowed: str, *, is_secret: bool = False) -> SettingError:
        """The error that says what was found and what is allowed; a secret is not repeated."""
        return self.refuse(f"is {_describe(self.data, is_secret=is_secret)}; it must be {allowed}")

    def refuse(self, problem: str) -> SettingError:
        """An error about this value, with its file, line and key."""
        return SettingError(self.document.file, self.origin.line, join_key(self.path), problem)

    def unknown(self, known: list[str]) -> SettingError:
        """The error for a key that is not known, among those that are known beside it."""
        nearest = nearest_names(join_key(self.path), known, most=1) or nearest_names(
            self.path[-1], known, most=1
        )
        if nearest:
            return self.refuse(f"is not a known setting; the nearest known one is `{nearest[0]}`")
        return self.refuse(
            f"is not a known setting; the known ones are {', '.join(f'`{key}`' for key in known)}"
        )


def join_key(path: Path) -> str:
    """A dotted key as one would write it: parts that are not plain words in quotes."""
    return ".".join(part if re.fullmatch(_BARE, part) else f'"{part}"' for part in path)


def _describe(data: Any, *, is_secret: bool) -> str:
    if data is None:
        return "empty"
    if isinstance(data, (dict, list)):
        return "a table" if isinstance(data, dict) else "a list"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, str):
        shown = data if len(data) <= _LONGEST_TEXT else data[: _LONGEST_TEXT - 1] + "…"
        return "a text" if is_secret else f"the text “{shown}”"
    if isinstance(data, (int, float)):
        return "a number" if is_secret else f"the number {data}"
    return "a date or a time"
