"""The settings files of a host, read in order and made into one `Settings`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import ProfileError, SettingError, nearest_names
from prowess.model.facts import Facts
from prowess.model.settings import Origin, Override, Settings
from prowess.ports import FileSystem
from prowess.profiles.merge import merge
from prowess.profiles.places import Place, Places, expand
from prowess.profiles.schema import Profile, SettingsFile
from prowess.settings.document import Document, Value, join_key
from prowess.settings.formats import parse_settings
from prowess.settings.scan_flow import Path
from prowess.settings.values import Entry, is_setting, read_named, read_setting

MOST_BYTES = 1 << 20

# The keys of prowess.toml. What lies under `config` is for skills that require a field of the configuration.
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
    "config": "raw",
}

_VARIABLE = re.compile(r"\{env:([^}]+)\}")


def load_settings(profile: Profile, places: Places, facts: Facts, files: FileSystem) -> Settings:
    """What users set for a host, from every settings file that exists; a wrong setting is a `SettingError`."""
    entries: dict[Path, tuple[Any, Origin]] = {}
    raw: dict[str, Any] = {}
    read: list[str] = []
    for path, rule in list_settings_places(profile, places):
        document = _load_document(path, rule, places, facts, files)
        if document is None:
            continue
        read.append(path)
        keys = _keys(rule, profile)
        if rule.refuse_unknown:
            _refuse_unknown(Value(document.data, (), document), [tuple(key.split(".")) for key in keys])
        else:
            raw = merge(raw, document.data)
        for target, value, found in _read_entries(document, keys):
            if target == ("raw",):
                raw = merge(raw, value)
            else:
                entries[target] = value, found.origin
    return _build(profile, entries, raw, tuple(read))


def list_settings_places(profile: Profile, places: Places) -> list[tuple[str, SettingsFile]]:
    """Every file that may hold settings of a host, whether it exists or not, in the order of reading."""
    found: dict[str, SettingsFile] = {}
    for name in profile.settings_order:
        rule = profile.settings[name]
        for is_walk, templates in groupby(rule.at, lambda template: "{ancestor}" in template):
            expanded: list[Place] = []
            for template in templates:
                expanded += expand(template, places, up_to=rule.up_to, without_repository=rule.without_repository)
            if is_walk:
                expanded.sort(key=lambda place: -place.distance)
            for place in expanded:
                found.setdefault(place.path, rule)
    return list(found.items())


def _load_document(path: str, rule: SettingsFile, places: Places, facts: Facts, files: FileSystem) -> Document | None:
    kind = files.find_kind(path)
    if kind is None:
        return None
    if kind != "file":
        found = "a folder" if kind == "folder" else "a pipe or a device"
        raise SettingError(path, None, None, f"the settings cannot be read from {found}; it must be an ordinary file")
    text = _load_text(path, files)
    if rule.substitute_env:
        text = _VARIABLE.sub(lambda match: _escape(facts.env.get(match[1], "")), text)
    return Document(path, rule, places, text, parse_settings(text, rule.format, path))


def _load_text(path: str, files: FileSystem) -> str:
    try:
        head = files.read_head(path, MOST_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(path, None, None, f"the file cannot be read ({reason[:1].lower()}{reason[1:]})") from None
    if head.size > MOST_BYTES:
        problem = f"the file has {head.size:,} bytes; at most {MOST_BYTES:,} are read"
        raise SettingError(path, None, None, problem)
    try:
        return head.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise SettingError(path, line, None, "the file is not UTF-8 text; save it as UTF-8") from None


def _escape(value: str) -> str:
    """A variable's value as it stands inside a quoted text, so that it can neither end the text nor add to it."""
    import json

    return json.dumps(value)[1:-1].replace("'", "\\u0027")


def _keys(rule: SettingsFile, profile: Profile) -> Mapping[str, str]:
    keys = rule.keys or (OWN_KEYS if rule.refuse_unknown else {})
    for key, setting in keys.items():
        if setting != "raw" and not is_setting(setting):
            problem = f"it maps `{key}` to “{setting}”, which is no setting"
            raise ProfileError(f"{profile.name}.toml", problem, "settings")
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
    """Every child that no other key names. A host's file may hold plain values among its tables; they are left."""
    others = [tuple(key.split(".")) for key in keys]
    depth = len(value.path)
    named = {other[depth] for other in others if other[:depth] == value.path and len(other) > depth}
    for name, child in value.children():
        is_plain = not isinstance(child.data, dict) and not value.document.rule.refuse_unknown
        if name not in named and not (is_plain and setting == "overrides"):
            yield from read_named(setting, name, child)


def _refuse_unknown(table: Value, known: list[Path]) -> None:
    """Every key must be known or lie on the way to a known one; what lies below a known one is its reader's."""
    depth = len(table.path)
    for name, child in table.children():
        below = [path for path in known if path[depth] in (name, "*")]
        if not below:
            raise child.unknown([join_key(path) for path in known])
        if all(len(path) > depth + 1 for path in below):
            _refuse_unknown(child, below)


def _build(profile: Profile, entries: Mapping[Path, tuple[Any, Origin]], raw: Any, read: tuple[str, ...]) -> Settings:
    values: dict[str, Any] = {}
    for path, (value, _) in entries.items():
        table = values
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    overrides = {name: _build_override(fields) for name, fields in values.pop("overrides", {}).items()}
    toggles = {name: toggle.default for name, toggle in profile.toggles.items()} | values.pop("toggles", {})
    origins = {".".join(path): origin for path, (_, origin) in entries.items()}
    return Settings(
        **values,
        toggles=toggles,
        overrides=overrides,
        raw=raw,
        origins=origins,
        files=read,
        diagnostics=tuple(_find_idle_toggles(profile, origins)),
    )


def _build_override(fields: dict[str, Any]) -> Override:
    key = fields.pop("api_key", None)
    if isinstance(key, dict):
        return Override(**fields, api_key_from=key)
    return Override(**fields, api_key=key)


def _find_idle_toggles(profile: Profile, origins: Mapping[str, Origin]) -> Iterator[Diagnostic]:
    for key, origin in origins.items():
        name = key.removeprefix("toggles.")
        if name == key or name in profile.toggles:
            continue
        nearest = nearest_names(name, profile.toggles, most=1)
        hint = f"The nearest toggle is `{nearest[0]}`." if nearest else None
        message = f"`{key}` has no effect: {profile.title or profile.name} has no toggle of that name"
        yield diagnose("setting-ignored", message, file=origin.file, line=origin.line, field=key, hint=hint)
