"""What users set, gathered from every settings file of a host, each value with the place it came
from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin
from prowess.model.permission import Rule
from prowess.model.sandbox import SandboxSettings

# Stands where a secret would be shown.
MASK = "[secret]"

__all__ = ["DeclaredTool", "Origin", "Override", "Settings"]


class Override(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user set for one skill.

    `visibility` is one of `on`, `name-only`, `user-only`, `off`; `env` and `api_key` only ever
    reach the skill's own processes. `api_key_from` is a host's description of where the key is
    kept, in place of the key. What may be secret is not shown in the `repr`, only its name.
    """

    enabled: bool | None = None
    visibility: str | None = None
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    api_key: str | None = None
    api_key_from: Mapping[str, Any] = msgspec.field(default_factory=dict)
    config: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def is_off(self) -> bool:
        """Whether the skill is switched off."""
        return self.enabled is False or self.visibility == "off"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _show(self, ("env", "api_key", "api_key_from", "config"))

    def __repr__(self) -> str:
        return _render(self)


class DeclaredTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that a settings file declares: the program and its arguments, with `{argument}` for
    what was typed.
    """

    command: tuple[str, ...]
    description: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that hold for one scan.

    `raw` is the host's own merged configuration, for requirements that name a field of it.
    `origins` has the place of every value, by its dotted name here (`enabled`,
    `toggles.enableClaudeUser`, `ignored`, `overrides.pdf.enabled`), `entries` that of every entry
    of a list, by the list's name. `permissions` are the rules of all files, in the order of
    reading. `approvals` says where “always” is remembered, `memory` or `disk`. `project_files` are
    those of `files` that a project brings along, which its user need not have read.
    `shell_commands` says whether commands inside bodies run. `tools` are programs that commands can
    go to. `diagnostics` are settings that are well formed but have no effect. The `repr` leaves out
    what may be secret.
    """

    enabled: bool = True
    toggles: Mapping[str, bool] = msgspec.field(default_factory=dict)
    enabled_providers: tuple[str, ...] = ()
    disabled_providers: tuple[str, ...] = ()
    disabled_extensions: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    custom_folders: tuple[str, ...] = ()
    remote_urls: tuple[str, ...] = ()
    plugin_folders: tuple[str, ...] = ()
    trusted_links: tuple[str, ...] = ()
    workspace: str | None = None
    allowed_bundled: tuple[str, ...] = ()
    agent_skills: tuple[str, ...] | None = None
    skill_commands: bool | None = None
    shell_commands: bool | None = None
    approvals: str | None = None
    usage: bool | None = None
    permissions: tuple[Rule, ...] = ()
    limits: Mapping[str, float] = msgspec.field(default_factory=dict)
    budget: Mapping[str, float] = msgspec.field(default_factory=dict)
    overrides: Mapping[str, Override] = msgspec.field(default_factory=dict)
    tools: Mapping[str, DeclaredTool] = msgspec.field(default_factory=dict)
    sandbox: SandboxSettings = SandboxSettings()
    raw: Mapping[str, Any] = msgspec.field(default_factory=dict)
    origins: Mapping[str, Origin] = msgspec.field(default_factory=dict)
    entries: Mapping[str, Mapping[str, Origin]] = msgspec.field(default_factory=dict)
    files: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key was set; the default's origin where nobody set it."""
        return self.origins.get(key, Origin())

    def entry_origin(self, key: str, entry: str) -> Origin:
        """Where an entry of a list was set; lists of several files add up, so each has a place of
        its own.
        """
        return self.entries.get(key, {}).get(entry) or self.origin(key)

    def is_from_project(self, key: str) -> bool:
        """Whether the value of a dotted key was set by a file that a project brings along."""
        return self.origin(key).file in self.project_files

    def find_override(self, key: str | None, name: str) -> tuple[str, Override] | None:
        """What the user set for a skill, under its own key or under its name, and which of both it
        was.

        Whoever switched it off under either is heard first; else its own key comes before its name.
        """
        found = [
            (one, self.overrides[one])
            for one in (key, name)
            if one is not None and one in self.overrides
        ]
        return next((one for one in found if one[1].is_off), found[0] if found else None)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _show(self, ("raw",))

    def __repr__(self) -> str:
        return _render(self)


def _show(struct: Override | Settings, hidden: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The fields of a struct by name; of those that are hidden only which names are set."""
    shown = []
    for field in struct.__struct_fields__:
        value = getattr(struct, field)
        if field in hidden and value is not None:
            value = dict.fromkeys(value, MASK) if isinstance(value, Mapping) else MASK
        shown.append((field, value))
    return shown


def _render(struct: Override | Settings) -> str:
    return f"{type(struct).__name__}({', '.join(f'{name}={value!r}' for name, value in struct.__rich_repr__())})"
