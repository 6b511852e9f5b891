"""Load the settings files of a host, in order, into one `Settings`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import SettingError, nearest_names
from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.sandbox import SandboxOverride, SandboxSettings
from prowess.model.settings import Origin, Override, Settings
from prowess.ports import FileSystem
from prowess.profiles.places import Place, Places, expand
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import Limits
from prowess.profiles.schema.settings import SettingsFileRule

if TYPE_CHECKING:
    from prowess.settings.read.file_mapping import FileSettings

MOST_BYTES = 1 << 20

_VARIABLE = r"\{env:([^}]+)\}"

Values = dict[tuple[str, ...], tuple[Any, Origin]]


def load_settings(profile: Profile, places: Places, facts: Facts, files: FileSystem) -> Settings:
    """The settings of a host from every file that exists.

    Raises a `SettingError` if Prowess's own file is wrong. A wrong file of a host is ignored as a
    whole and reported.
    """
    gathered = _Gathered(profile.limits)
    for path, rule in list_settings_places(profile, places):
        kind = files.find_kind(path)
        if kind is None or not _counts(rule, gathered, profile, places, facts):
            continue
        try:
            found = _load_file(path, kind, rule, profile, places, facts, files)
        except SettingError as error:
            if rule.is_own:
                raise
            gathered.diagnostics.append(_report_ignored(error))
        else:
            gathered.add(path, rule, found)
    return gathered.build(profile)


def _counts(
    rule: SettingsFileRule, gathered: _Gathered, profile: Profile, places: Places, facts: Facts
) -> bool:
    """Whether the host reads a file, given what the files before it set."""
    if not rule.when:
        return True
    from prowess.profiles.conditions import Switches

    settings = gathered.build(profile)
    switches = Switches(facts.env, settings, profile.switch_words, facts.home, places.cwd)
    return any(map(switches.is_true, rule.when))


def _load_file(
    path: str,
    kind: str,
    rule: SettingsFileRule,
    profile: Profile,
    places: Places,
    facts: Facts,
    files: FileSystem,
) -> FileSettings:
    # Imported late: most working folders have no settings file.
    from prowess.settings.read.file_mapping import read_settings

    text = _load_text(path, kind, files)
    if rule.substitute_env:
        text = _substitute_variables(text, facts.env)
    return read_settings(text, path, rule, places, profile=profile.name)


def _report_ignored(error: SettingError) -> Diagnostic:
    """What is wrong with a file of a host, none of which counts."""
    subject = f"`{error.key}` " if error.key else ""
    message = f"The whole settings file is ignored: {subject}{error.problem.rstrip('.')}."
    return diagnose("settings-ignored", message, file=error.file, line=error.line, field=error.key)


def list_settings_places(profile: Profile, places: Places) -> list[tuple[str, SettingsFileRule]]:
    """Every file that may have settings of a host, existing or not, in the order of reading."""
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
                # Farthest first, so the nearest file is read last and wins.
                expanded.sort(key=lambda place: -place.distance)
            for place in expanded:
                found.setdefault(place.path, rule)
    return list(found.items())


class _Gathered:
    """What the files read so far set."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.values: Values = {}
        # What the user's own files say, which a project's file can't undo.
        self.users: Values = {}
        self.entries: dict[str, dict[str, Origin]] = {}
        self.rules: list[Rule] = []
        self.raw: dict[str, Any] = {}
        self.diagnostics: list[Diagnostic] = []
        self.files: list[str] = []
        self.project_files: list[str] = []

    def add(self, path: str, rule: SettingsFileRule, found: FileSettings) -> None:
        """Add what one file sets."""
        from prowess.profiles.merge import merge

        self._add_values(rule, found.values)
        for key, origins in found.entries.items():
            self.entries.setdefault(key, {}).update(origins)
        self.rules += found.rules
        self.raw = merge(self.raw, found.raw)
        self.diagnostics += found.diagnostics
        self.files.append(path)
        if rule.is_project:
            self.project_files.append(path)

    def _add_values(self, rule: SettingsFileRule, found: Values) -> None:
        if not rule.is_own:
            for key, value in found.items():
                if key[0] in rule.join and key in self.values:
                    joined = dict.fromkeys((*self.values[key][0], *value[0]))
                    self.values[key] = tuple(joined), value[1]
                    continue
                # Once one file of a host turns commands off, no later file can turn them on.
                is_final = key == ("shell_commands",) and key in self.values
                if not is_final or self.values[key][0] is not False:
                    self.values[key] = value
            return
        from prowess.settings.read.project_limits import add_project_values, add_users_values

        if rule.is_project:
            self.diagnostics += add_project_values(self.values, found, self.users, self.limits)
        else:
            add_users_values(self.values, found)
            self.users = dict(self.values)

    def build(self, profile: Profile) -> Settings:
        """The settings as a whole."""
        fields = _nest(self.values)
        overrides = {
            name: _build_override(one) for name, one in fields.pop("overrides", {}).items()
        }
        sandbox = _build_sandbox(fields.pop("sandbox", {}))
        # A toggle that the host does not have is reported below and decides nothing.
        given = fields.pop("toggles", {})
        toggles = {name: given.get(name, one.default) for name, one in profile.toggles.items()}
        origins = {".".join(path): origin for path, (_, origin) in self.values.items()}
        return Settings(
            **fields,
            toggles=toggles,
            overrides=overrides,
            sandbox=sandbox,
            origins=origins,
            entries=self._list_entries(),
            permissions=tuple(self.rules),
            raw=self.raw,
            files=tuple(self.files),
            project_files=tuple(self.project_files),
            diagnostics=(*self.diagnostics, *_find_unknown_toggles(profile, origins)),
        )

    def _list_entries(self) -> dict[str, dict[str, Origin]]:
        """The origins of list entries, without those that a later file replaced."""
        kept = {}
        for key, origins in self.entries.items():
            if (key,) in self.values:
                value, _ = self.values[(key,)]
                kept[key] = {entry: at for entry, at in origins.items() if entry in value}
        return kept


def _nest(values: Values) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for path, (value, _) in values.items():
        table = fields
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    return fields


def _build_override(fields: dict[str, Any]) -> Override:
    key = fields.pop("api_key", None)
    if isinstance(key, dict):
        return Override(**fields, api_key_from=key)
    return Override(**fields, api_key=key)


def _build_sandbox(fields: dict[str, Any]) -> SandboxSettings:
    skills = {name: SandboxOverride(**own) for name, own in fields.pop("skills", {}).items()}
    return SandboxSettings(**fields, skills=skills)


def _find_unknown_toggles(profile: Profile, origins: Mapping[str, Origin]) -> Iterator[Diagnostic]:
    for key, origin in origins.items():
        name = key.removeprefix("toggles.")
        if name == key or name in profile.toggles:
            continue
        known = list(profile.toggles)
        nearest = nearest_names(name, known, most=len(known)) if known else ()
        problem = f"`{key}` has no effect: {profile.title or profile.name} has no toggle `{name}`"
        if known:
            listed = ", ".join(f"`{one}`" for one in dict.fromkeys((*nearest, *known)))
            problem += f"; its toggles are {listed}"
        yield diagnose(
            "setting-ignored",
            f"{problem}.",
            file=origin.file,
            line=origin.line,
            field=key,
            hint=f"Did you mean `{nearest[0]}`?" if nearest else None,
        )


def _load_text(path: str, kind: str, files: FileSystem) -> str:
    if kind != "file":
        found = "a folder" if kind == "folder" else "a pipe or a device"
        raise SettingError(path, None, None, f"expected a regular file, found {found}")
    try:
        head = files.read_head(path, MOST_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        problem = f"can't read the file ({reason[:1].lower()}{reason[1:]})"
        raise SettingError(path, None, None, problem) from None
    if head.size > MOST_BYTES:
        problem = f"the file has {head.size:,} bytes; at most {MOST_BYTES:,} are read"
        raise SettingError(path, None, None, problem)
    try:
        return head.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise SettingError(path, line, None, "not UTF-8; save the file as UTF-8") from None


def _substitute_variables(text: str, env: Mapping[str, str]) -> str:
    return re.sub(_VARIABLE, lambda match: _escape(env.get(match[1], "")), text)


def _escape(value: str) -> str:
    """A variable's value inside a quoted string, so that it can't end the string."""
    import json

    return json.dumps(value)[1:-1].replace("'", "\\u0027")
