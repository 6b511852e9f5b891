"""Plugins: folders that bring skills, commands, agents, hooks and MCP servers together."""

# Annotations are real types, as in `model.skill`.

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin

Owner = Literal["user", "project", "managed", "bundled"]
"""Who brought a plugin: the user, a project, an administrator, or Prowess itself."""

PluginFormat = Literal["standard", "host", "package", "plain"]
"""What describes a plugin: Agent Plugins 1.0, a host's manifest, a package, or nothing."""


class PluginFolder(msgspec.Struct, frozen=True, gc=False):
    """A folder of a plugin with skills or commands.

    One that a manifest names (`is_declared`) may also be a single skill or a Markdown file.
    """

    path: str
    is_declared: bool = False


class PluginParts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is in the folder of a plugin.

    - `manifest`: the file that describes it, if there is one.
    - `skills`, `commands`: folders to search.
    - `agents`: Markdown files of agents, and folders of them.
    - `hook_files`, `server_files`: JSON files with hooks and with MCP servers.
    - `inline`: hooks and MCP servers that the manifest itself has, by `hooks` and `mcpServers`.
    """

    manifest: str | None = None
    format: PluginFormat = "plain"
    version: str = ""
    description: str = ""
    skills: tuple[PluginFolder, ...] = ()
    commands: tuple[PluginFolder, ...] = ()
    agents: tuple[str, ...] = ()
    hook_files: tuple[str, ...] = ()
    server_files: tuple[str, ...] = ()
    inline: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Plugin(PluginParts, frozen=True, kw_only=True, gc=False):
    """A plugin that was found, whether it is on or off. Nothing of it is loaded yet.

    - `name`: what its author calls it; comes before the names of its skills where hosts do that.
    - `id`: what settings switch it by, such as `name@marketplace` or `name@builtin`.
    - `kind`: the table `[plugins.KIND]` of the profile that found it.
    - `folder`: where it is; `real` is that path without links.
    - `origin`: the file or folder that says that it is installed.
    - `owner`: who brought it.
    - `within`: the folder that it must really be in, where a project says where it is.
    - `prefix`: what comes before the names of its skills, with a colon; empty for nothing.
    - `disabled_by`: the setting or switch that turns it off, or why it is off; None if it is on.
    - `switched_in`: the settings file that turns it on or off, if any does.
    """

    name: str
    id: str
    kind: str
    folder: str
    origin: str
    real: str | None = None
    owner: Owner = "user"
    within: str | None = None
    prefix: str = ""
    disabled_by: str | None = None
    switched_in: Origin = Origin()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def is_enabled(self) -> bool:
        """Whether the plugin is on."""
        return self.disabled_by is None
