"""What a plugin brings for an agent to use, besides its skills and commands."""

from __future__ import annotations

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.hooks import Hook
from prowess.model.mcp import McpServer
from prowess.model.plugin import Plugin


class PluginContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin brings besides skills and commands, for an agent to use.

    - `is_trusted`: whether its hooks may run and its MCP servers may start. What a project brings
      is trusted with the project.
    - `agents`: the files of its agents.
    - `diagnostics`: what is wrong with its files; each costs only itself.
    """

    plugin: Plugin
    is_trusted: bool = False
    agents: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    servers: tuple[McpServer, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether an agent may use its agents, hooks and MCP servers."""
        return self.plugin.is_enabled and self.is_trusted
