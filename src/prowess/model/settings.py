"""Settings: the values from all settings files of a host, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.hooks import Hook
from prowess.model.mcp import McpServer
from prowess.model.origin import Origin
from prowess.model.permission import Rule
from prowess.model.sandbox import SandboxSettings

# Shown in place of a secret.
MASK = "[secret]"

MAIN_AGENT = "main"
"""The name of the agent of a host for which no agents are set."""

__all__ = ["AgentEntry", "AgentSettings", "DeclaredTool", "Origin", "Override", "Settings"]


class Override(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings for one skill. The `repr` shows the names of secrets, never their values.

    - `enabled`: `false` disables the skill.
    - `visibility`: `on`, `name-only`, `user-only` or `off`.
    - `env`: environment variables for the skill's own processes.
    - `api_key`: an API key for the skill's own processes.
    - `api_key_from`: where the host stores the API key, if not in the file.
    - `config`: further values that the skill can require.
    """

    enabled: bool | None = None
    visibility: str | None = None
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    api_key: str | None = None
    api_key_from: Mapping[str, Any] = msgspec.field(default_factory=dict)
    config: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def is_off(self) -> bool:
        """Whether the skill is disabled."""
        return self.enabled is False or self.visibility == "off"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _show(self, ("env", "api_key", "api_key_from", "config"))

    def __repr__(self) -> str:
        return _render(self)


class AgentEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings for one agent of a host that has several.

    - `default`: whether it is the agent that is used if none is named.
    - `skills`: the skills it may use, instead of those for all agents.
    - `workspace`: its folder.
    - `characters`: the size of its catalog.
    """

    default: bool = False
    skills: tuple[str, ...] | None = None
    workspace: str | None = None
    characters: int | None = None


class DeclaredTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool declared in a settings file.

    - `command`: the program and its arguments; `{argument}` stands for what the user typed.
    - `description`: what the tool does.
    """

    command: tuple[str, ...]
    description: str | None = None


class PathList(msgspec.Struct, frozen=True):
    """A list in a settings file that adds paths and filters what is found.

    - `base`: the folder that relative entries are relative to.
    - `paths`: the absolute paths that are searched too.
    - `filters`: the entries that filter, as written: `!GLOB`, `-PATH`, `+PATH` or a glob.
    """

    base: str
    paths: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings under `[agent]`.

    - `model`: the model of `prowess run`, as `provider:name`.
    - `models`: short names for models, such as those that skills ask for (`haiku`).
    - `context_window`: the tokens that a conversation may have, in place of what is known of the
      model. Models of which nothing is known have 64,000.
    - `private_hosts`: hosts that WebFetch may reach although they are on this machine or in a
      private network.
    - `compact_at`: the share of the window at which a conversation is compacted; 0 is never.
    - `dream_after`: with the feature `dream`, the minutes a chat must be idle before it runs
      `/dream`; 0 turns this off.
    """

    model: str | None = None
    models: Mapping[str, str] = msgspec.field(default_factory=dict)
    context_window: int | None = None
    compact_at: float = 0.8
    dream_after: float = 15.0
    private_hosts: tuple[str, ...] = ()


FEATURES = (
    "keybindings",
    "memory",
    "dream",
    "hunter",
    "loop",
    "schedule-remote-agents",
    "claude-api",
    "claude-in-chrome",
    "run-skill-generator",
)
"""What `[features]` can turn on in Prowess's own agent; all of it is off by default."""


class RemoteSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings under `[sources.NAME]`: a server that offers skills.

    - `url`: the URL of the server, of a folder on it, or of its index (`….json`).
    - `enabled`: `false` leaves its skills out without removing it.
    - `private`: `true` allows a host name that leads to an address in a private network.
    """

    url: str
    enabled: bool = True
    private: bool = False


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings under `[network]`.

    - `offline`: `true` fetches nothing; what was fetched before is used.
    - `seconds`: how long one source may keep a command waiting.
    - `refresh_seconds`: how long `prowess sources refresh` waits for one source.
    - `max_age_hours`: how old fetched skills may be before they are fetched again.
    - `retry_minutes`: how long a source that failed is left alone.
    """

    offline: bool = False
    seconds: float = 2.0
    refresh_seconds: float = 60.0
    max_age_hours: float = 24.0
    retry_minutes: float = 5.0

    def get_limit(self, *, is_forced: bool) -> float:
        """How many seconds to wait for a source; one that the user asks for may take longer."""
        return self.refresh_seconds if is_forced else self.seconds


class JobSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings under `[jobs]`.

    - `database`: where jobs are kept, as `postgresql://…`; without it, a file in the state folder.
    - `concurrency`: how many jobs a worker runs side by side.
    - `pull_requests`: `one` for a whole batch, or `each` for one per unit.
    - `background`: whether sub-agents in the background of `run` and `chat` are jobs, which go on
      when the terminal is closed.
    """

    database: str | None = None
    concurrency: int = 4
    pull_requests: str = "one"
    background: bool = True


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for one scan. The `repr` leaves out secrets.

    Besides the settings themselves there are:

    - `agent_entries`: the settings for single agents, by name.
    - `override_names`: what `overrides` are found by: a skill's own key or its name (`either`), or
      the name only if it has no key (`key`).
    - `mcp_servers`: the MCP servers, also those that are off. Of a project's file none is trusted.
    - `raw`: the host's own merged configuration, for skills that require one of its fields.
    - `origins`: the origin of every value, by its dotted name (`enabled`, `overrides.pdf.enabled`).
    - `entries`: the origin of every list entry, by the name of the list.
    - `files`: the settings files that were read.
    - `project_files`: those that came with the project, which the user may never have seen.
    - `diagnostics`: settings that are valid but have no effect.
    """

    # What is on and what is off
    enabled: bool = True
    toggles: Mapping[str, bool] = msgspec.field(default_factory=dict)
    enabled_providers: tuple[str, ...] = ()
    disabled_providers: tuple[str, ...] = ()
    disabled_extensions: tuple[str, ...] = ()
    default_disabled: tuple[str, ...] = ()
    enabled_names: tuple[str, ...] = ()
    disabled_levels: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    # Where skills come from
    custom_folders: tuple[str, ...] = ()
    remote_urls: tuple[str, ...] = ()
    sources: Mapping[str, RemoteSettings] = msgspec.field(default_factory=dict)
    network: NetworkSettings = NetworkSettings()
    plugin_folders: tuple[str, ...] = ()
    enabled_plugins: Mapping[str, bool] = msgspec.field(default_factory=dict)
    root_markers: tuple[str, ...] | None = None
    catalog: bool | None = None
    skill_paths: Mapping[str, PathList] = msgspec.field(default_factory=dict)
    # What the user trusts
    folder_trust: bool | None = None
    trusted_folders: Mapping[str, str] = msgspec.field(default_factory=dict)
    trusted_links: tuple[str, ...] = ()
    # What an agent gets
    workspace: str | None = None
    allowed_bundled: tuple[str, ...] = ()
    agent_skills: tuple[str, ...] | None = None
    agent_entries: Mapping[str, AgentEntry] = msgspec.field(default_factory=dict)
    override_names: str = "either"
    # What skills may do, and how Prowess behaves
    skill_commands: bool | None = None
    shell_commands: bool | None = None
    approvals: str | None = None
    node_manager: str | None = None
    trust: str | None = None
    host: str | None = None
    usage: bool | None = None
    permissions: tuple[Rule, ...] = ()
    hooks: tuple[Hook, ...] = ()
    limits: Mapping[str, float] = msgspec.field(default_factory=dict)
    budget: Mapping[str, float] = msgspec.field(default_factory=dict)
    # Single skills and their programs
    overrides: Mapping[str, Override] = msgspec.field(default_factory=dict)
    tools: Mapping[str, DeclaredTool] = msgspec.field(default_factory=dict)
    sandbox: SandboxSettings = SandboxSettings()
    # Prowess's own agent
    agent: AgentSettings = AgentSettings()
    mcp_servers: Mapping[str, McpServer] = msgspec.field(default_factory=dict)
    features: Mapping[str, bool] = msgspec.field(default_factory=dict)
    jobs: JobSettings = JobSettings()
    # Where all of it was set
    raw: Mapping[str, Any] = msgspec.field(default_factory=dict)
    origins: Mapping[str, Origin] = msgspec.field(default_factory=dict)
    entries: Mapping[str, Mapping[str, Origin]] = msgspec.field(default_factory=dict)
    files: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def origin(self, key: str) -> Origin:
        """The origin of a value, by its dotted name; `Origin()` if it is a default."""
        return self.origins.get(key, Origin())

    def entry_origin(self, key: str, entry: str) -> Origin:
        """The origin of a list entry. Lists can be combined from several files."""
        return self.entries.get(key, {}).get(entry) or self.origin(key)

    def is_from_project(self, key: str) -> bool:
        """Whether a value was set in a file that came with the project."""
        return self.origin(key).file in self.project_files

    def find_override(self, key: str | None, name: str) -> tuple[str, Override] | None:
        """The override for a skill and the key it was found under: its own key or its name.

        If either disables the skill, that one counts. Otherwise its own key comes before its name.
        Some hosts ignore the name of a skill that has a key.
        """
        keys = [name] if key is None else [key, name]
        if self.override_names == "key":
            # OpenClaw: a key takes the place of the name.
            keys = keys[:1]
        found = [(key, self.overrides[key]) for key in keys if key in self.overrides]
        for candidate, override in found:
            if override.is_off:
                return candidate, override
        return found[0] if found else None

    def choose_agent(self, name: str | None) -> Settings:
        """The settings as they apply to one agent; without a name, to the default agent."""
        name = name or self.default_agent
        entry = self.agent_entries.get(name)
        if entry is None:
            return self
        origins = dict(self.origins)
        changes: dict[str, Any] = {}
        if entry.skills is not None:
            changes["agent_skills"] = entry.skills
            origins["agent_skills"] = self.origin(f"agent_entries.{name}.skills")
        if entry.workspace is not None:
            changes["workspace"] = entry.workspace
        if entry.characters is not None:
            changes["budget"] = {**self.budget, "characters": entry.characters}
        return msgspec.structs.replace(self, **changes, origins=origins)

    @property
    def default_agent(self) -> str:
        """The agent that is used if none is named: the one marked as such, or else the first."""
        for name, entry in self.agent_entries.items():
            if entry.default:
                return name
        return next(iter(self.agent_entries), MAIN_AGENT)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _show(self, ("raw",))

    def __repr__(self) -> str:
        return _render(self)


def _show(struct: Override | Settings, hidden: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The fields of a struct by name, with the values of hidden ones masked."""
    shown = []
    for field in struct.__struct_fields__:
        value = getattr(struct, field)
        if field in hidden and value is not None:
            value = _mask(value)
        shown.append((field, value))
    return shown


def _mask(value: Any) -> Any:
    # The names in a mapping are no secrets, and help to find a mistake.
    return dict.fromkeys(value, MASK) if isinstance(value, Mapping) else MASK


def _render(struct: Override | Settings) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in struct.__rich_repr__())
    return f"{type(struct).__name__}({fields})"
