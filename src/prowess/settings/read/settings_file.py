"""Read one settings file by the keys of its profile.

This is separate from `load` because most working folders have no settings file, and then none of it
is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic
from prowess.errors import ProfileError
from prowess.model.hooks import Hook
from prowess.model.origin import Origin
from prowess.model.permission import Rule
from prowess.profiles.merge import merge
from prowess.profiles.places import Places
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.formats.document import (
    SettingsDocument,
    SettingValue,
    join_key,
    list_names_below,
    parse_settings,
)
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.coercion import Entry, is_setting, read_named, read_setting
from prowess.settings.read.hooks import DIAGNOSTICS, HOOKS
from prowess.settings.read.permission_rules import RULES

# The keys of prowess.toml. `config` is for skills that require a field of the configuration.
OWN_KEYS: Mapping[str, str] = {
    "enabled": "enabled",
    "toggles": "toggles",
    "disabled": "disabled",
    "ignore": "ignored",
    "include": "included",
    "folders": "custom_folders",
    "plugins": "plugin_folders",
    "enabled_plugins": "plugin_switches",
    "skills": "overrides",
    "discovery.trusted_links": "trusted_links",
    "limits": "limits",
    "budget": "budget",
    "permissions": "permissions",
    "hooks": "hooks",
    "agents": "agents",
    "approvals": "approvals",
    "trust": "trust",
    "usage": "usage",
    "host": "host",
    "node_manager": "node_manager",
    "skill_commands": "skill_commands",
    "shell_commands": "shell_commands",
    "tools": "declared_tools",
    "sandbox": "sandbox",
    "agent": "agent",
    "mcp.servers": "mcp_servers",
    "features": "features",
    "sources": "sources",
    "network": "network",
    "jobs": "jobs",
    "config": "raw",
}


class FileSettings(NamedTuple):
    """What one file sets.

    `values` are by their path in `Settings`, `entries` has the origin of each list entry, and `raw`
    is what the file adds to the host's configuration.
    """

    values: dict[Path, tuple[Any, Origin]]
    entries: dict[str, dict[str, Origin]]
    rules: tuple[Rule, ...]
    hooks: tuple[Hook, ...]
    raw: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]


def get_keys(rule: SettingsFileRule) -> Mapping[str, str]:
    """The keys of a settings file and the setting each stands for."""
    if rule.keys:
        return rule.keys
    return OWN_KEYS if rule.refuse_unknown else {}


def read_settings(
    text: str, file: str, rule: SettingsFileRule, places: Places, *, profile: str
) -> FileSettings:
    """The settings in the text of a file. Raises a `SettingError`."""
    data = parse_settings(text, rule.format, file)
    document = SettingsDocument(file, rule, places, text, data)
    keys = _check_keys(rule, profile)
    if rule.refuse_unknown:
        _refuse_unknown(document.top, _split_keys(keys))
    values: dict[Path, tuple[Any, Origin]] = {}
    entries: dict[str, dict[str, Origin]] = {}
    rules: list[Rule] = []
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    # prowess.toml is not a host's configuration; only its `config` table counts as one.
    is_configuration = not (rule.refuse_unknown or rule.only_keys)
    raw: dict[str, Any] = document.data if is_configuration else {}
    for target, value, source in _read_entries(document, keys):
        if target == ("raw",):
            raw = merge(raw, value)
        elif target == RULES:
            rules.append(value)
        elif target == HOOKS:
            hooks.append(value)
        elif target == DIAGNOSTICS:
            diagnostics.append(value)
        elif len(target) == 1 and isinstance(value, tuple):
            # Two keys of one file can fill the same list; neither is dropped.
            before, _ = values.get(target, ((), None))
            values[target] = (*before, *value), source.origin
            origins = entries.setdefault(target[0], {})
            for entry, item in zip(value, source.items(), strict=True):
                origins[entry] = item.origin
        else:
            # A value that is set again counts from here, where the order of entries matters.
            values.pop(target, None)
            values[target] = value, source.origin
    if is_configuration:
        diagnostics += _find_misspelt(document, keys)
    return FileSettings(values, entries, tuple(rules), tuple(hooks), raw, tuple(diagnostics))


def _find_misspelt(document: SettingsDocument, keys: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    # Imported late: prowess.toml, the most common file, has no use for it.
    from prowess.settings.read.key_suggestions import find_misspelt

    return tuple(find_misspelt(document, keys))


def _check_keys(rule: SettingsFileRule, profile: str) -> Mapping[str, str]:
    keys = get_keys(rule)
    for key, setting in keys.items():
        is_known = setting == "raw" or is_setting(setting)
        if not is_known:
            problem = f"maps `{key}` to “{setting}”, which is not a setting"
            raise ProfileError(f"{profile}.toml", problem, "settings")
    return keys


def _read_entries(document: SettingsDocument, keys: Mapping[str, str]) -> Iterator[Entry]:
    for key, setting in keys.items():
        path = tuple(key.split("."))
        is_wildcard = path[-1] == "*"
        if is_wildcard:
            path = path[:-1]
        value = document.find(path)
        if value is None:
            continue
        if setting == "raw":
            yield ("raw",), _get_table(value), value
        elif is_wildcard:
            yield from _read_wildcard(setting, value, keys)
        else:
            yield from read_setting(setting, value)


def _split_keys(keys: Iterable[str]) -> list[Path]:
    return [tuple(key.split(".")) for key in keys]


def _get_table(value: SettingValue) -> dict[str, Any]:
    if not isinstance(value.data, dict):
        raise value.wrong("a table")
    return value.data


def _read_wildcard(setting: str, table: SettingValue, keys: Mapping[str, str]) -> Iterator[Entry]:
    """The entries of every child that no other key names."""
    named = list_names_below(table.path, _split_keys(keys))
    is_own = table.document.rule.refuse_unknown
    are_overrides = setting == "overrides"
    # A host's file may have plain values between the tables for skills.
    skips_plain = are_overrides and not is_own
    for name, child in table.children(is_secret=are_overrides):
        if name in named:
            continue
        is_skipped = skips_plain and not isinstance(child.data, dict)
        if not is_skipped:
            yield from read_named(setting, name, child)


def _refuse_unknown(table: SettingValue, known: list[Path]) -> None:
    """Raise if a key is neither known nor leads to a known one.

    What is below a known key is checked when it is read.
    """
    depth = len(table.path)
    for name, child in table.children():
        below = [path for path in known if path[depth] in (name, "*")]
        if not below:
            raise child.unknown([join_key(path) for path in known])
        is_known = any(len(path) == depth + 1 for path in below)
        if not is_known:
            _refuse_unknown(child, below)
