"""The agents, hooks and MCP servers of a plugin, as values. Nothing is started or run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.links import is_inside
from prowess.discover.plugins.json_tables import ManifestError, read_json
from prowess.errors import name_cause
from prowess.model.hooks import HOOK_TYPES, Hook
from prowess.model.mcp import McpServer
from prowess.model.origin import Origin
from prowess.model.plugin import Plugin
from prowess.model.plugin_contents import PluginContents
from prowess.ports import FileSystem
from prowess.text.hooks import parse_hooks
from prowess.text.mcp_servers import parse_mcp_servers

_MOST_AGENTS = 200
# What files of a plugin write for its own folder.
_ROOT_VARIABLES = ("${CLAUDE_PLUGIN_ROOT}", "${PLUGIN_ROOT}", "${extensionPath}")


def load_contents(plugin: Plugin, files: FileSystem, *, is_trusted: bool) -> PluginContents:
    """What a plugin brings besides skills. A file that is wrong costs only itself."""
    findings: list[Diagnostic] = []
    hooks: list[Hook] = []
    servers: list[McpServer] = []
    for file, data in _list_tables(plugin, "hooks", plugin.hook_files, files, findings):
        found, problems = parse_hooks(
            data.get("hooks", data),
            source="plugin",
            name=plugin.id,
            root=plugin.folder,
            file=file,
            types=HOOK_TYPES,
        )
        hooks += found
        findings += problems
    for file, data in _list_tables(plugin, "mcpServers", plugin.server_files, files, findings):
        servers += _read_servers(plugin, file, data, findings, is_trusted=is_trusted)
    return PluginContents(
        plugin=plugin,
        is_trusted=is_trusted,
        agents=tuple(_list_agents(plugin, files)),
        hooks=tuple(hooks),
        servers=tuple(servers),
        diagnostics=tuple(findings),
    )


def _list_tables(
    plugin: Plugin,
    key: str,
    paths: Iterable[str],
    files: FileSystem,
    findings: list[Diagnostic],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The table that the manifest has itself, then those of files."""
    inline = plugin.inline.get(key)
    if isinstance(inline, dict):
        yield plugin.manifest or plugin.origin, inline
    for path in dict.fromkeys(paths):
        try:
            data = read_json(files, path)
        except (OSError, ManifestError) as error:
            message = f"The file is ignored: {name_cause(error)}."
            findings.append(diagnose("plugin-invalid", message, file=path))
        else:
            yield path, data


def _read_servers(
    plugin: Plugin,
    file: str,
    data: dict[str, Any],
    findings: list[Diagnostic],
    *,
    is_trusted: bool,
) -> Iterator[McpServer]:
    """The servers of a table, named after their plugin."""
    # The schema of Agent Plugins is no server.
    table = {name: value for name, value in data.items() if name != "$schema"}
    placed = _fill_root(table, plugin.folder)
    parsed = parse_mcp_servers(placed, origin=Origin(file), plugin=plugin.id, is_trusted=is_trusted)
    for problem in parsed.problems:
        findings.append(diagnose("plugin-invalid", str(problem), file=file))
    for server in parsed.servers:
        name = f"{plugin.name}:{server.name}"
        yield msgspec.structs.replace(server, name=name, cwd=server.cwd or plugin.folder)


def _fill_root(value: Any, folder: str) -> Any:
    """Texts with the folder of the plugin in place of its variable."""
    if isinstance(value, str):
        for variable in _ROOT_VARIABLES:
            value = value.replace(variable, folder)
        return value
    if isinstance(value, list):
        return [_fill_root(one, folder) for one in value]
    if isinstance(value, dict):
        return {key: _fill_root(one, folder) for key, one in value.items()}
    return value


def _list_agents(plugin: Plugin, files: FileSystem) -> Iterator[str]:
    """The Markdown files of agents: those that are named, and those directly in folders."""
    named = itertools.chain.from_iterable(_list_files(path, files) for path in plugin.agents)
    agents = (file for file in named if _is_agent(file, plugin, files))
    return itertools.islice(agents, _MOST_AGENTS)


def _list_files(path: str, files: FileSystem) -> list[str]:
    """A file itself, or what is in a folder."""
    if files.find_kind(path) != "folder":
        return [path]
    try:
        return [f"{path}/{one.name}" for one in files.list_folder(path)]
    except OSError:
        # A folder that nobody can list has no agents that anybody could use.
        return []


def _is_agent(file: str, plugin: Plugin, files: FileSystem) -> bool:
    if not file.endswith(".md") or files.find_kind(file) != "file":
        return False
    real = files.find_real_path(file)
    return real is not None and is_inside(real, (plugin.real,))
