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
    fields = dict(value.children(is_secret=True)) if isinstance(value.data, dict) else {}
    for key, child in fields.items():
        if rule.is_own and key not in SERVER_FIELDS:
            raise child.unknown([f"mcp.servers.{name}.{known}" for known in SERVER_FIELDS])
    # opencode has an entry with nothing else to turn a server of an earlier file on or off.
    if fields and fields.keys() <= {"enabled"}:
        yield from _switch_server(name, fields["enabled"])
        return
    found = parse_mcp_server(name, value.data, origin=value.origin, is_trusted=not rule.is_project)
    if isinstance(found, McpProblem) and rule.is_own:
        field = fields.get(found.field, value)
        raise field.refuse(found.problem)
    yield ("mcp_servers", name), found, value


def _switch_server(name: str, value: SettingValue) -> Iterator[Entry]:
    # A project can turn servers of the user off but not on.
    if not value.document.rule.is_project or not _read_switch(value):
        yield ("mcp_enabled", name), _read_switch(value), value


def read_disabled_servers(value: SettingValue) -> Iterator[Entry]:
    """The servers in a list of names, which are off."""
    for item in value.items():
        yield ("mcp_enabled", _read_name(item)), False, item


def read_folder_servers(value: SettingValue) -> Iterator[Entry]:
    """The servers of the working folder, in a table by folder as Claude Code has it."""
    places = value.document.places
    for folder in dict.fromkeys((places.repository, places.cwd)):
        found = value.document.find((*value.path, folder)) if folder else None
        if found is None:
            continue
        fields = dict(found.children(is_secret=True))
        if "mcpServers" in fields:
            for name, child in fields["mcpServers"].children(is_secret=True):
                yield from read_mcp_server(name, child)
        for key in ("disabledMcpServers", "disabledMcpjsonServers"):
            if key in fields:
                yield from read_disabled_servers(fields[key])


def _read_switch(value: SettingValue) -> bool:
    if not isinstance(value.data, bool):
        raise value.wrong("true or false")
    return value.data


def _read_name(value: SettingValue) -> str:
    if not isinstance(value.data, str):
        raise value.wrong("a string")
    return value.data
