"""One settings file, by the keys of its profile: what it sets, and what it adds to the host's
configuration.

Apart from `load`, since most working folders have no settings file and then nothing here is
imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic
from prowess.errors import ProfileError
from prowess.model.permission import Rule
from prowess.model.settings import Origin
from prowess.profiles.merge import merge
from prowess.profiles.places import Places
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.formats.document import Document, Value, join_key
from prowess.settings.formats.key_spans import Path
from prowess.settings.formats.parser import parse_settings
from prowess.settings.read.coercion import Entry, is_setting, read_named, read_setting
from prowess.settings.read.key_suggestions import find_misspelt
from prowess.settings.read.permission_rules import RULES

# The keys of prowess.toml. What lies under `config` is for skills that require a field of the
# configuration.
OWN_KEYS: Mapping[str, str] = {
    "enabled": "enabled",
    "toggles": "toggles",
    "disabled": "disabled",
    "ignore": "ignored",
    "include": "included",
    "folders": "custom_folders",
    "plugins": "plugin_folders",
    "skills": "overrides",
    "discovery.trusted_links": "trusted_links",
    "limits": "limits",
    "budget": "budget",
    "permissions": "permissions",
    "agents": "agents",
    "approvals": "approvals",
    "usage": "usage",
    "skill_commands": "skill_commands",
    "shell_commands": "shell_commands",
    "tools": "declared_tools",
    "sandbox": "sandbox",
    "config": "raw",
}


class FileSettings(NamedTuple):
    """What one file sets: values by their path in `Settings`, its rules, and its part of the host's
    configuration.

    `entries` has the place of each entry of a list.
    """

    values: dict[Path, tuple[Any, Origin]]
    entries: dict[str, dict[str, Origin]]
    rules: tuple[Rule, ...]
    raw: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]


def read_settings(
    text: str, file: str, rule: SettingsFileRule, places: Places, *, profile: str
) -> FileSettings:
    """The settings that the text of a file holds. A file of our own is no configuration of a host."""
    document = Document(file, rule, places, text, parse_settings(text, rule.format, file))
    keys = _keys(rule, profile)
    if rule.refuse_unknown:
        _refuse_unknown(Value(document.data, (), document), [tuple(key.split(".")) for key in keys])
    raw = {} if rule.refuse_unknown else document.data
    values: dict[Path, tuple[Any, Origin]] = {}
    entries: dict[str, dict[str, Origin]] = {}
    rules: list[Rule] = []
    for target, value, found in _read_entries(document, keys):
        if target == ("raw",):
            raw = merge(raw, value)
        elif target == RULES:
            rules.append(value)
        else:
            is_list = len(target) == 1 and isinstance(found.data, list)
            # Two keys of one file for one list add up: neither is dropped.
            before = values[target][0] if is_list and target in values else ()
            values[target] = (*before, *value) if before else value, found.origin
            if is_list:
                origins = {
                    entry: item.origin for entry, item in zip(value, found.items(), strict=True)
                }
                entries[target[0]] = {**entries.get(target[0], {}), **origins}
    misspelt = () if rule.refuse_unknown else tuple(find_misspelt(document, keys))
    return FileSettings(values, entries, tuple(rules), raw, misspelt)


def _keys(rule: SettingsFileRule, profile: str) -> Mapping[str, str]:
    keys = rule.keys or (OWN_KEYS if rule.refuse_unknown else {})
    for key, setting in keys.items():
        if setting != "raw" and not is_setting(setting):
            problem = f"it maps `{key}` to “{setting}”, which is no setting"
            raise ProfileError(f"{profile}.toml", problem, "settings")
    return keys


def _read_entries(document: Document, keys: Mapping[str, str]) -> Iterator[Entry]:
    for key, setting in keys.items():
        path = tuple(key.split("."))
        is_wildcard = path[-1] == "*"
        value = document.find(path[:-1] if is_wildcard else path)
        if value is None:
            continue
        if setting == "raw":
            if not isinstance(value.data, dict):
                raise value.wrong("a table of keys and values")
            yield ("raw",), value.data, value
        elif is_wildcard:
            yield from _read_wildcard(setting, value, keys)
        else:
            yield from read_setting(setting, value)


def _read_wildcard(setting: str, value: Value, keys: Mapping[str, str]) -> Iterator[Entry]:
    """Every child that no other key names. A host's file may hold plain values among its tables;
    they are left.
    """
    others = [tuple(key.split(".")) for key in keys]
    depth = len(value.path)
    named = {other[depth] for other in others if other[:depth] == value.path and len(other) > depth}
    for name, child in value.children(is_secret=setting == "overrides"):
        is_plain = not isinstance(child.data, dict) and not value.document.rule.refuse_unknown
        if name not in named and not (is_plain and setting == "overrides"):
            yield from read_named(setting, name, child)


def _refuse_unknown(table: Value, known: list[Path]) -> None:
    """Every key must be known or lie on the way to a known one; what lies below a known one is its
    reader's.
    """
    depth = len(table.path)
    for name, child in table.children():
        below = [path for path in known if path[depth] in (name, "*")]
        if not below:
            raise child.unknown([join_key(path) for path in known])
        if all(len(path) > depth + 1 for path in below):
            _refuse_unknown(child, below)
