"""Load the settings files of a host, in order, into one `Settings`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import SettingError, name_cause, nearest_names
from prowess.model.facts import Facts
from prowess.model.hooks import Hook
from prowess.model.mcp import McpProblem, McpServer
from prowess.model.permission import Rule
from prowess.model.sandbox import SandboxOverride, SandboxSettings
from prowess.model.settings import (
    AgentEntry,
    AgentSettings,
    JobSettings,
    NetworkSettings,
    Origin,
    Override,
    Settings,
)
from prowess.ports import FileSystem
from prowess.profiles.places import Place, Places, expand
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.profiles.schema.settings import AgentFilesRule, SettingsFileRule

if TYPE_CHECKING:
    from prowess.settings.read.settings_file import FileSettings

MOST_BYTES = 1 << 20
# Claude Code keeps its history in the file that has its servers.
MOST_BYTES_OF_OTHERS = 1 << 24

Values = dict[tuple[str, ...], tuple[Any, Origin]]


def load_settings(
    profile: Profile,
    places: Places,
    facts: Facts,
    files: FileSystem,
    *,
    listed: Iterable[tuple[str, SettingsFileRule]] | None = None,
) -> Settings:
    """The settings of a host from every file and variable that has any.

    `listed` is what `list_settings_places` gave for the same places, where that is known. Raises a
    `SettingError` if Prowess's own file is wrong. A wrong file of a host is ignored as a whole and
    reported.
    """
    gathered = _Gathered(profile.limits)
    loader = _FileLoader(profile, places, facts, files)
    candidates = list_settings_places(profile, places) if listed is None else listed
    for path, rule in candidates:
        kind = files.find_kind(path)
        if kind is None or not loader.counts(rule, gathered):
            continue
        try:
            found = loader.load_file(path, kind, rule)
        except SettingError as error:
            if rule.is_own:
                raise
            gathered.diagnostics.append(_report_ignored(error))
        else:
            gathered.add(path, rule, found)
    _add_agent_files(gathered, loader)
    _add_variables(gathered, loader)
    return gathered.build(profile)


def _add_agent_files(gathered: _Gathered, loader: _FileLoader) -> None:
    """Add the rules in the files of agents, where the host has such files."""
    for rule in loader.profile.agent_files.values():
        if not loader.counts(rule, gathered):
            continue
        for name, path in loader.find_agent_files(rule):
            try:
                rules = loader.load_agent_file(name, path)
            except SettingError as error:
                gathered.diagnostics.append(_report_ignored(error))
            else:
                gathered.add_rules(path, rules, is_project=rule.is_project)


def _add_variables(gathered: _Gathered, loader: _FileLoader) -> None:
    """Add the settings that are in environment variables."""
    for variable, name in loader.profile.settings_variables.items():
        text = loader.facts.env.get(variable, "")
        if not text.strip():
            continue
        rule, path = loader.profile.settings[name], f"${variable}"
        try:
            gathered.add(path, rule, loader.read_text(text, path, rule))
        except SettingError as error:
            gathered.diagnostics.append(_report_ignored(error))


def _report_ignored(error: SettingError) -> Diagnostic:
    """What is wrong with a file of a host, none of which counts."""
    subject = f"`{error.key}` " if error.key else ""
    message = f"The whole settings file is ignored: {subject}{error.problem.rstrip('.')}."
    return diagnose("settings-ignored", message, file=error.file, line=error.line, field=error.key)


class _FileLoader:
    """What every file is read with. The readers are imported late: most folders have no file."""

    def __init__(self, profile: Profile, places: Places, facts: Facts, files: FileSystem) -> None:
        self.profile = profile
        self.places = places
        self.facts = facts
        self.files = files

    def counts(self, rule: SettingsFileRule | AgentFilesRule, gathered: _Gathered) -> bool:
        """Whether the host reads a file, given what the files before it set."""
        if not rule.when and not rule.unless:
            return True
        from prowess.profiles.conditions import Switches

        settings, facts = gathered.build(self.profile), self.facts
        words = self.profile.switch_words
        switches = Switches(facts.env, settings, words, facts.home, self.places.cwd)
        if any(map(switches.is_true, rule.unless)):
            return False
        return not rule.when or any(map(switches.is_true, rule.when))

    def load_file(self, path: str, kind: str, rule: SettingsFileRule) -> FileSettings:
        """What a file sets. Raises a `SettingError`."""
        if not rule.only_keys:
            return self.read_text(_load_text(path, kind, self.files), path, rule)
        text = _load_text(path, kind, self.files, MOST_BYTES_OF_OTHERS)
        # Decoding only these keys is fast, but loses the lines that errors would name.
        if len(text) > MOST_BYTES:
            text = _pick_keys(text, rule)
        return self.read_text(text, path, rule)

    def read_text(self, text: str, path: str, rule: SettingsFileRule) -> FileSettings:
        """What the text of a file or a variable sets. Raises a `SettingError`."""
        from prowess.settings.read.settings_file import read_settings

        if rule.substitute_env:
            from prowess.settings.read.substitutions import FileReferences, substitute_variables

            references = FileReferences(self.places, self.files, path, is_project=rule.is_project)
            text = references.substitute(substitute_variables(text, self.facts.env))
        return read_settings(text, path, rule, self.places, profile=self.profile.name)

    def find_agent_files(self, rule: AgentFilesRule) -> Iterator[tuple[str, str]]:
        """The names of agents, each with the path of its file."""
        folders: list[Place] = []
        for template in rule.at:
            folders += expand(
                template, self.places, up_to="repository", without_repository="filesystem"
            )
        for folder in sorted(folders, key=lambda place: place.distance):
            if self.files.find_kind(folder.path) != "folder":
                continue
            from prowess.settings.read.agent_files import find_agent_files

            yield from find_agent_files(folder.path, self.files)

    def load_agent_file(self, name: str, path: str) -> list[Rule]:
        """The rules in the file of an agent. Raises a `SettingError`."""
        from prowess.settings.read.agent_files import read_agent_file

        return read_agent_file(name, _load_text(path, "file", self.files), path, self.places)


def list_settings_places(profile: Profile, places: Places) -> list[tuple[str, SettingsFileRule]]:
    """Every file that may have settings of a host, existing or not, in the order of reading."""
    # By path, so that a file which two templates name is read once, where it comes first.
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
                expanded.sort(key=lambda place: place.distance, reverse=not rule.nearest_first)
            for place in expanded:
                found.setdefault(place.path, rule)
    return list(found.items())


class _Gathered:
    """What the files read so far set."""

    def __init__(self, limits: ScanLimits) -> None:
        self.limits = limits
        self.values: Values = {}
        # What the user's own files say, which a project's file can't undo.
        self.users: Values = {}
        self.entries: dict[str, dict[str, Origin]] = {}
        self.rules: list[Rule] = []
        self.hooks: list[Hook] = []
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
        self.hooks += found.hooks
        self.raw = merge(self.raw, found.raw)
        self.diagnostics += found.diagnostics
        self.files.append(path)
        if rule.is_project:
            self.project_files.append(path)

    def add_rules(self, path: str, rules: Iterable[Rule], *, is_project: bool) -> None:
        """Add the permission rules of a file that has nothing else."""
        self.rules += rules
        self.files.append(path)
        if is_project:
            self.project_files.append(path)

    def _add_values(self, rule: SettingsFileRule, found: Values) -> None:
        if not rule.is_own:
            for key, value in found.items():
                self._add_host_value(rule, key, value)
            return
        from prowess.settings.read.project_limits import add_project_values, add_users_values

        if rule.is_project:
            self.diagnostics += add_project_values(self.values, found, self.users, self.limits)
        else:
            add_users_values(self.values, found)
            self.users = dict(self.values)

    def _add_host_value(
        self, rule: SettingsFileRule, key: tuple[str, ...], value: tuple[Any, Origin]
    ) -> None:
        setting = key[0]
        if setting == "mcp_servers" and key in self.users:
            # The user's own prowess.toml has a server with that name.
            return
        before = self.values.get(key)
        if before is not None and setting in rule.join:
            joined = dict.fromkeys((*before[0], *value[0]))
            self.values[key] = tuple(joined), value[1]
            return
        # Once one file of a host turns commands off, no later file can turn them on.
        is_final = setting == "shell_commands" and before is not None and before[0] is False
        if not is_final:
            self.values[key] = value

    def build(self, profile: Profile) -> Settings:
        """The settings as a whole."""
        fields = _nest(self.values)
        overrides = {
            name: _build_override(given) for name, given in fields.pop("overrides", {}).items()
        }
        entries = fields.pop("agent_entries", {})
        agents = {name: AgentEntry(**entry) for name, entry in entries.items()}
        sandbox = _build_sandbox(fields.pop("sandbox", {}))
        agent = AgentSettings(**fields.pop("agent", {}))
        servers, refused = self._build_servers(fields)
        network = NetworkSettings(**fields.pop("network", {}))
        jobs = JobSettings(**fields.pop("jobs", {}))
        # A toggle that the host does not have is reported below and decides nothing.
        given = fields.pop("toggles", {})
        toggles = {name: given.get(name, rule.default) for name, rule in profile.toggles.items()}
        origins = {".".join(path): origin for path, (_, origin) in self.values.items()}
        return Settings(
            **fields,
            toggles=toggles,
            overrides=overrides,
            override_names=profile.resolution.override_names,
            agent_entries=agents,
            sandbox=sandbox,
            agent=agent,
            mcp_servers=servers,
            network=network,
            jobs=jobs,
            origins=origins,
            entries=self._list_entries(),
            permissions=tuple(self.rules),
            hooks=tuple(self.hooks),
            raw=self.raw,
            files=tuple(self.files),
            project_files=tuple(self.project_files),
            diagnostics=(
                *self.diagnostics,
                *refused,
                *_find_unknown_toggles(profile, origins),
            ),
        )

    def _build_servers(
        self, fields: dict[str, Any]
    ) -> tuple[dict[str, McpServer], list[Diagnostic]]:
        """The MCP servers, and why others in the files of hosts can't be used."""
        switches = fields.pop("mcp_enabled", {})
        servers: dict[str, McpServer] = {}
        refused = []
        for name, found in fields.pop("mcp_servers", {}).items():
            if isinstance(found, McpProblem):
                origin = self.values[("mcp_servers", name)][1]
                refused.append(
                    diagnose("setting-ignored", str(found), file=origin.file, line=origin.line)
                )
            else:
                enabled = switches.get(name, found.enabled)
                servers[name] = msgspec.structs.replace(found, enabled=enabled)
        return servers, refused

    def _list_entries(self) -> dict[str, dict[str, Origin]]:
        """The origins of list entries, without those that a later file replaced."""
        kept = {}
        for key, origins in self.entries.items():
            if (key,) not in self.values:
                continue
            value, _ = self.values[(key,)]
            kept[key] = {entry: origin for entry, origin in origins.items() if entry in value}
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
        is_toggle = name != key
        if not is_toggle or name in profile.toggles:
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


def _pick_keys(text: str, rule: SettingsFileRule) -> str:
    """A large JSON object with only the keys that the rule names; as it is if it is none."""
    wanted = {key.partition(".")[0] for key in rule.keys}
    try:
        found = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        # The reader of the whole text says what is wrong with it.
        return text
    picked = {key: value for key, value in found.items() if key in wanted}
    return msgspec.json.encode(picked).decode()


def _load_text(path: str, kind: str, files: FileSystem, most: int = MOST_BYTES) -> str:
    if kind != "file":
        found = "a folder" if kind == "folder" else "a pipe or a device"
        raise SettingError(path, None, None, f"expected a regular file, found {found}")
    try:
        head = files.read_head(path, most)
    except OSError as error:
        reason = name_cause(error)
        problem = f"can't read the file ({reason[:1].lower()}{reason[1:]})"
        raise SettingError(path, None, None, problem) from None
    if head.size > most:
        problem = f"the file has {head.size:,} bytes; at most {most:,} are read"
        raise SettingError(path, None, None, problem)
    try:
        return head.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise SettingError(path, line, None, "not UTF-8; save the file as UTF-8") from None
