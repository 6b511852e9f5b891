"""The settings files of a host, read in order and made into one `Settings`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import SettingError, nearest_names
from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.sandbox import SandboxOverride, SandboxSettings
from prowess.model.settings import Origin, Override, Settings
from prowess.ports import FileSystem
from prowess.profiles.merge import merge
from prowess.profiles.places import Place, Places, expand
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.settings import SettingsFileRule

MOST_BYTES = 1 << 20

_VARIABLE = r"\{env:([^}]+)\}"

Values = dict[tuple[str, ...], tuple[Any, Origin]]
Entries = dict[str, dict[str, Origin]]


def load_settings(profile: Profile, places: Places, facts: Facts, files: FileSystem) -> Settings:
    """What users set for a host, from every settings file that exists; a wrong setting is a
    `SettingError`.
    """
    values: Values = {}
    rules: tuple[Rule, ...] = ()
    raw: dict[str, Any] = {}
    read: list[str] = []
    refused: list[Diagnostic] = []
    brought: list[str] = []
    users: Values = {}
    entries: Entries = {}
    for path, rule in list_settings_places(profile, places):
        kind = files.find_kind(path)
        if kind is None:
            continue
        from prowess.settings.read.file_mapping import read_settings

        text = _load_text(path, kind, files)
        if rule.substitute_env:
            text = re.sub(_VARIABLE, lambda match: _escape(facts.env.get(match[1], "")), text)
        found = read_settings(text, path, rule, places, profile=profile.name)
        if not rule.is_own:
            values |= {
                key: value for key, value in found.values.items() if not _stays_off(key, values)
            }
        elif rule.is_project:
            from prowess.settings.read.project_limits import take_projects

            refused += take_projects(values, found.values, users, profile.limits)
        else:
            from prowess.settings.read.project_limits import take_users

            take_users(values, found.values)
            users = dict(values)
        refused += found.diagnostics
        if rule.is_project:
            brought.append(path)
        for key, origins in found.entries.items():
            entries[key] = {**entries.get(key, {}), **origins}
        rules += found.rules
        raw = merge(raw, found.raw)
        read.append(path)
    # What a later file replaced, or a project could not set, has no place either.
    entries = {
        key: {one: at for one, at in held.items() if one in values[(key,)][0]}
        for key, held in entries.items()
        if (key,) in values
    }
    named = {"files": tuple(read), "project_files": tuple(brought)}
    return _build(profile, values, refused, permissions=rules, raw=raw, entries=entries, **named)


def _stays_off(key: tuple[str, ...], values: Values) -> bool:
    """Commands that one file of a host switches off stay off: no later file can have them run
    again.
    """
    return key == ("shell_commands",) and key in values and values[key][0] is False


def list_settings_places(profile: Profile, places: Places) -> list[tuple[str, SettingsFileRule]]:
    """Every file that may hold settings of a host, whether it exists or not, in the order of
    reading.
    """
    found: dict[str, SettingsFileRule] = {}
    for name in profile.settings_order:
        rule = profile.settings[name]
        for is_walk, templates in groupby(rule.at, lambda template: "{ancestor}" in template):
            expanded: list[Place] = []
            for template in templates:
                expanded += expand(
                    template, places, up_to=rule.up_to, without_repository=rule.without_repository
                )
            if is_walk:
                expanded.sort(key=lambda place: -place.distance)
            for place in expanded:
                found.setdefault(place.path, rule)
    return list(found.items())


def _load_text(path: str, kind: str, files: FileSystem) -> str:
    if kind != "file":
        found = "a folder" if kind == "folder" else "a pipe or a device"
        raise SettingError(
            path,
            None,
            None,
            f"the settings cannot be read from {found}; it must be an ordinary file",
        )
    try:
        head = files.read_head(path, MOST_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(
            path, None, None, f"the file cannot be read ({reason[:1].lower()}{reason[1:]})"
        ) from None
    if head.size > MOST_BYTES:
        problem = f"the file has {head.size:,} bytes; at most {MOST_BYTES:,} are read"
        raise SettingError(path, None, None, problem)
    try:
        return head.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise SettingError(
            path, line, None, "the file is not UTF-8 text; save it as UTF-8"
        ) from None


def _escape(value: str) -> str:
    """A variable's value as it stands inside a quoted text, so that it can neither end the text nor
    add to it.
    """
    import json

    return json.dumps(value)[1:-1].replace("'", "\\u0027")


def _build(profile: Profile, values: Values, refused: list[Diagnostic], **rest: Any) -> Settings:
    fields: dict[str, Any] = {}
    for path, (value, _) in values.items():
        table = fields
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    overrides = {
        name: _build_override(override) for name, override in fields.pop("overrides", {}).items()
    }
    sandbox = _build_sandbox(fields.pop("sandbox", {}))
    # One that the host does not have is reported and decides nothing.
    given = fields.pop("toggles", {})
    toggles = {name: given.get(name, toggle.default) for name, toggle in profile.toggles.items()}
    origins = {".".join(path): origin for path, (_, origin) in values.items()}
    return Settings(
        **fields,
        toggles=toggles,
        overrides=overrides,
        sandbox=sandbox,
        origins=origins,
        diagnostics=(*refused, *_find_idle_toggles(profile, origins)),
        **rest,
    )


def _build_override(fields: dict[str, Any]) -> Override:
    key = fields.pop("api_key", None)
    if isinstance(key, dict):
        return Override(**fields, api_key_from=key)
    return Override(**fields, api_key=key)


def _build_sandbox(fields: dict[str, Any]) -> SandboxSettings:
    skills = {name: SandboxOverride(**own) for name, own in fields.pop("skills", {}).items()}
    return SandboxSettings(**fields, skills=skills)


def _find_idle_toggles(profile: Profile, origins: Mapping[str, Origin]) -> Iterator[Diagnostic]:
    for key, origin in origins.items():
        name = key.removeprefix("toggles.")
        if name == key or name in profile.toggles:
            continue
        nearest = (
            nearest_names(name, profile.toggles, most=len(profile.toggles))
            if profile.toggles
            else ()
        )
        hint = f"The nearest toggle is `{nearest[0]}`." if nearest else None
        ordered = dict.fromkeys((*nearest, *profile.toggles))
        named = f"; it has {', '.join(f'`{one}`' for one in ordered)}" if ordered else ""
        message = (
            f"`{key}` has no effect: {profile.title or profile.name} has no toggle of that"
            f" name{named}."
        )
        yield diagnose(
            "setting-ignored", message, file=origin.file, line=origin.line, field=key, hint=hint
        )
