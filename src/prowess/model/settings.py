"""What users set, gathered from every settings file of a host, each value with the place it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin
from prowess.model.permission import Rule

__all__ = ["Origin", "Override", "Settings"]


class Override(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a user set for one skill.

    `visibility` is one of `on`, `name-only`, `user-only`, `off`; `env` and `api_key` only ever reach the
    skill's own processes. `api_key_from` is a host's description of where the key is kept, in place of the key.
    """

    enabled: bool | None = None
    visibility: str | None = None
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    api_key: str | None = None
    api_key_from: Mapping[str, Any] = msgspec.field(default_factory=dict)
    config: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that hold for one scan.

    `raw` is the host's own merged configuration, for requirements that name a field of it. `origins` has
    the place of every value, by its dotted name here (`enabled`, `toggles.enableClaudeUser`, `ignored`,
    `overrides.pdf.enabled`). `permissions` are the rules of all files, in the order of reading. `approvals` says where
    “always” is remembered, `memory` or `disk`. `diagnostics` are settings that are well formed but have no effect.
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
    approvals: str | None = None
    usage: bool | None = None
    permissions: tuple[Rule, ...] = ()
    limits: Mapping[str, int] = msgspec.field(default_factory=dict)
    budget: Mapping[str, float] = msgspec.field(default_factory=dict)
    overrides: Mapping[str, Override] = msgspec.field(default_factory=dict)
    raw: Mapping[str, Any] = msgspec.field(default_factory=dict)
    origins: Mapping[str, Origin] = msgspec.field(default_factory=dict)
    files: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key was set; the default's origin where nobody set it."""
        return self.origins.get(key, Origin())
