"""A settings file that was parsed: its values, each with the key and line to report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

from prowess.errors import SettingError, nearest_names
from prowess.model.origin import Origin
from prowess.profiles.places import Places
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.formats.key_spans import Path, Scan, find_nearest, index_lines

Format = Literal["toml", "json", "json5", "yaml"]
Parse = Callable[[str, str], dict[str, Any]]

_BARE = r"[\w-]+"


# Each format is imported when a file has it: compiling its patterns takes longer than using them.
def _import_toml() -> tuple[Parse, Scan]:
    from prowess.settings.formats.toml import parse_toml, scan_toml

    return parse_toml, scan_toml


def _import_json() -> tuple[Parse, Scan]:
    from prowess.settings.formats.json5 import parse_json, scan_json5

    return parse_json, scan_json5


def _import_json5() -> tuple[Parse, Scan]:
    from prowess.settings.formats.json5 import parse_json5, scan_json5

    return parse_json5, scan_json5


def _import_yaml() -> tuple[Parse, Scan]:
    from prowess.settings.formats.yaml import parse_yaml, scan_yaml

    return parse_yaml, scan_yaml


_FORMATS: dict[Format, Callable[[], tuple[Parse, Scan]]] = {
    "toml": _import_toml,
    "json": _import_json,
    "json5": _import_json5,
    "yaml": _import_yaml,
}


def parse_settings(text: str, format_name: Format, file: str) -> dict[str, Any]:
    """The settings in a text. Raises a `SettingError` with the line."""
    parse, _ = _FORMATS[format_name]()
    return parse(text, file)


def list_lines(text: str, format_name: Format) -> dict[Path, int]:
    """The line of every key and list item. Never raises."""
    _, scan = _FORMATS[format_name]()
    # JSON parsers take the last of two equal keys; TOML and YAML reject the second.
    return index_lines(text, scan, is_last_counted=format_name in ("json", "json5"))


def find_line(text: str, format_name: Format, path: Path) -> int | None:
    """The line of a key (list items are "0", "1", …), or of the nearest key above it."""
    return find_nearest(list_lines(text, format_name), path)


class SettingsDocument:
    """The text of a settings file and its data."""

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

    @property
    def top(self) -> SettingValue:
        """The file as one table."""
        return SettingValue(self.data, (), self)

    def find_line(self, path: Path) -> int | None:
        """The line of a key, or of the nearest key above it."""
        return find_nearest(self._lines, path)

    def find(self, path: Path) -> SettingValue | None:
        """The value of a key. None if it is not set or null."""
        value = self.top
        for part in path:
            if not isinstance(value.data, dict):
                raise value.wrong("a table", is_secret=True)
            data = value.data.get(part)
            if data is None:
                return None
            value = SettingValue(data, (*value.path, part), self)
        return value

    @property
    def base(self) -> str:
        """The folder that relative paths in this file are relative to."""
        if self.rule.relative_to == "file":
            return str(self.places.paths.dirname(self.file))
        return self.places.cwd


class SettingValue(NamedTuple):
    """A value in a settings file, with its path of keys."""

    data: Any
    path: Path
    document: SettingsDocument

    @property
    def origin(self) -> Origin:
        """The file and line of the value."""
        return Origin(self.document.file, self.document.find_line(self.path))

    def children(self, *, is_secret: bool = False) -> Iterator[tuple[str, SettingValue]]:
        """The values of a table by name. Raises if this is not a table."""
        if not isinstance(self.data, dict):
            raise self.wrong("a table", is_secret=is_secret)
        for name, data in self.data.items():
            if data is not None:
                yield name, SettingValue(data, (*self.path, name), self.document)

    def items(self) -> Iterator[SettingValue]:
        """The items of a list. Raises if this is not a list."""
        if not isinstance(self.data, list):
            raise self.wrong("a list of strings")
        for index, data in enumerate(self.data):
            yield SettingValue(data, (*self.path, str(index)), self.document)

    def as_bool(self) -> bool:
        """The value as true or false. Raises if it is neither."""
        if not isinstance(self.data, bool):
            raise self.wrong("true or false")
        return self.data

    def as_string(self, *, is_secret: bool = False) -> str:
        """The value as a string. Raises if it is none; a secret is not repeated then."""
        if not isinstance(self.data, str):
            raise self.wrong("a string", is_secret=is_secret)
        return self.data

    def check_known(self, name: str, known: Iterable[str], *, table: str = "") -> None:
        """Raise if this is the value of a name that the table does not have."""
        if name not in known:
            raise self.unknown([f"{table}.{key}" if table else key for key in known])

    def wrong(self, allowed: str, *, is_secret: bool = False) -> SettingError:
        """The error for a value of the wrong type. A secret is not repeated."""
        from prowess.text.values import describe_value

        found = describe_value(self.data, is_secret=is_secret)
        return self.refuse(f"must be {allowed}; got {found}")

    def refuse(self, problem: str) -> SettingError:
        """An error about this value, with its file, line and key."""
        return SettingError(self.document.file, self.origin.line, join_key(self.path), problem)

    def unknown(self, known: list[str]) -> SettingError:
        """The error for an unknown key."""
        whole, last = join_key(self.path), self.path[-1]
        nearest = nearest_names(whole, known, most=1) or nearest_names(last, known, most=1)
        if nearest:
            return self.refuse(f"is not a known setting; did you mean `{nearest[0]}`?")
        listed = ", ".join(f"`{key}`" for key in known)
        return self.refuse(f"is not a known setting; the known ones are {listed}")


def join_key(path: Path) -> str:
    """A dotted key; parts that are not plain words are quoted."""
    return ".".join(part if re.fullmatch(_BARE, part) else f'"{part}"' for part in path)


def list_names_below(path: Path, keys: list[Path]) -> set[str]:
    """The names that keys have directly below a path."""
    depth = len(path)
    return {key[depth] for key in keys if key[:depth] == path and len(key) > depth}
