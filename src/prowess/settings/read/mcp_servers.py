"""Read MCP servers from settings files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prowess.model.mcp import McpProblem
from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path
from prowess.text.mcp_servers import SERVER_FIELDS, parse_mcp_server

Entry = tuple[Path, Any, SettingValue]


def read_mcp_server(name: str, value: SettingValue) -> Iterator[Entry]:
    """A server as a whole: two files never make up one together.

    Otherwise a project could have its program run with the user's keys.
    """
    rule = value.document.rule
    fields: dict[str, SettingValue] = {}
    if isinstance(value.data, dict):
        fields.update(value.children(is_secret=True))
    if rule.is_own:
        for key, child in fields.items():
            child.check_known(key, SERVER_FIELDS, table=f"mcp.servers.{name}")
    # opencode has an entry with nothing else to turn a server of an earlier file on or off.
    if fields.keys() == {"enabled"}:
        yield from _switch_server(name, fields["enabled"])
        return
    server = parse_mcp_server(name, value.data, origin=value.origin, is_trusted=not rule.is_project)
    # prowess.toml is refused as a whole; in a host's file only this server is not used.
    if isinstance(server, McpProblem) and rule.is_own:
        field = fields.get(server.field, value)
        raise field.refuse(server.problem)
    yield ("mcp_servers", name), server, value


def _switch_server(name: str, value: SettingValue) -> Iterator[Entry]:
    is_on = value.as_bool()
    # A project can turn servers of the user off but not on.
    if is_on and value.document.rule.is_project:
        return
    yield ("mcp_enabled", name), is_on, value


def read_disabled_servers(value: SettingValue) -> Iterator[Entry]:
    """The servers in a list of names, which are off."""
    for item in value.items():
        yield ("mcp_enabled", item.as_string()), False, item


def read_folder_servers(value: SettingValue) -> Iterator[Entry]:
    """The servers of the working folder, in a table by folder as Claude Code has it."""
    places = value.document.places
    # In this order, so that the working folder outranks the repository around it.
    folders = dict.fromkeys(filter(None, (places.repository, places.cwd)))
    for folder in folders:
        table = value.document.find((*value.path, folder))
        if table is not None:
            yield from _read_folder(table)


def _read_folder(table: SettingValue) -> Iterator[Entry]:
    fields = dict(table.children(is_secret=True))
    if "mcpServers" in fields:
        for name, child in fields["mcpServers"].children(is_secret=True):
            yield from read_mcp_server(name, child)
    for key in ("disabledMcpServers", "disabledMcpjsonServers"):
        if key in fields:
            yield from read_disabled_servers(fields[key])
