"""Parse MCP servers as hosts, plugins and users write them.

Every host has a table of servers by name (`mcpServers`, `mcp`, `mcp.servers`), and its own names
for their fields. None of these names means different things in two hosts, so one parser reads all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from prowess.model.mcp import McpProblem, McpServer, Transport
from prowess.model.origin import Origin
from prowess.text.values import describe_value

# What hosts call the fields of a server. opencode has a list as `command` and `environment`,
# OpenClaw `workingDirectory`.
_SPELLINGS = {"environment": "env", "workingDirectory": "cwd", "type": "transport"}
_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "remote": "http",
    "sse": "sse",
}
_MILLISECONDS = ("timeout", "requestTimeoutMs", "connectionTimeoutMs")
SERVER_FIELDS = (
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "transport",
    "seconds",
    "skills",
    "enabled",
)
"""The fields of a server in prowess.toml."""

# No wait is so long, in seconds or in milliseconds; infinity and NaN are not below it.
_TOO_LONG = 1e9
_NOWHERE = Origin()
_NAME = re.compile(r"[\w.:@/ -]{1,100}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")


class McpServers(NamedTuple):
    """The servers of a table, and why others of it cannot be used."""

    servers: tuple[McpServer, ...]
    problems: tuple[McpProblem, ...]


def parse_mcp_servers(
    data: Any, *, origin: Origin = _NOWHERE, plugin: str = "", is_trusted: bool = True
) -> McpServers:
    """The servers in a table by name. A server that is wrong costs only itself.

    The table may be inside of one with the single key `mcpServers`, as files have it.
    """
    if isinstance(data, Mapping) and isinstance(data.get("mcpServers"), Mapping):
        data = data["mcpServers"]
    if not isinstance(data, Mapping):
        problem = f"must be a table of servers by name; got {describe_value(data, is_secret=True)}"
        return McpServers((), (McpProblem("mcpServers", "", problem),))
    servers: list[McpServer] = []
    problems: list[McpProblem] = []
    for name, fields in data.items():
        server = parse_mcp_server(
            str(name), fields, origin=origin, plugin=plugin, is_trusted=is_trusted
        )
        if isinstance(server, McpProblem):
            problems.append(server)
        else:
            servers.append(server)
    return McpServers(tuple(servers), tuple(problems))


class _Wrong(ValueError):
    """A field with a value that cannot be used."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        super().__init__(problem)


def parse_mcp_server(
    name: str,
    data: Any,
    *,
    origin: Origin = _NOWHERE,
    plugin: str = "",
    is_trusted: bool = True,
) -> McpServer | McpProblem:
    """One server, or what is wrong with it. Values that may be secret are never repeated."""
    if not _NAME.fullmatch(name):
        return McpProblem(name[:64], "", "has a name that tools cannot be named after")
    if not isinstance(data, Mapping):
        found = describe_value(data, is_secret=True)
        return McpProblem(name, "", f"must be a table; got {found}")
    try:
        server = _read(name, data, origin)
    except _Wrong as wrong:
        return McpProblem(name, wrong.field, str(wrong))
    return msgspec.structs.replace(server, plugin=plugin, is_trusted=is_trusted)


def _read(name: str, data: Mapping[str, Any], origin: Origin) -> McpServer:
    # null is how a JSON file unsets a field.
    given = {key: value for key, value in data.items() if value is not None}
    fields = {_SPELLINGS.get(key, key): value for key, value in given.items()}
    command, args = _read_command(fields)
    url = _read_string(fields, "url")
    transport = _read_transport(fields, has_url=bool(url))
    reached: dict[str, Any]
    if transport == "stdio":
        if not command:
            raise _Wrong("", "has neither a `command` nor a `url`")
        reached = {"command": command, "args": args, "env": _read_strings_by_name(fields, "env")}
    else:
        _check_url(url)
        reached = {"url": url, "headers": _read_strings_by_name(fields, "headers")}
    return McpServer(
        name=name,
        transport=transport,
        cwd=_read_string(fields, "cwd") or None,
        seconds=_read_seconds(fields),
        skills=_read_skills(fields),
        enabled=_read_enabled(fields),
        origin=origin,
        **reached,
    )


def _check_url(url: str) -> None:
    if not url:
        raise _Wrong("", "has no `url`")
    # A whole URL in a variable is known only when the server is connected.
    if not url.startswith(("http://", "https://", "${")):
        raise _Wrong("url", "must begin with `http://` or `https://`")


def _read_command(fields: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The program and its arguments, which some hosts have in one list."""
    given = fields.get("command", "")
    words = [given] if isinstance(given, str) else given
    args = fields.get("args", [])
    if not _is_strings(words) or not words:
        raise _Wrong("command", "must be a string or a list of strings")
    if not _is_strings(args):
        raise _Wrong("args", "must be a list of strings")
    return words[0], (*words[1:], *args)


def _is_strings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _read_transport(fields: Mapping[str, Any], *, has_url: bool) -> Transport:
    given = fields.get("transport")
    if given is None:
        return "http" if has_url else "stdio"
    transport = _TRANSPORTS.get(given) if isinstance(given, str) else None
    if transport is None:
        raise _Wrong("transport", "must be one of stdio, http, sse")
    return transport


def _read_string(fields: Mapping[str, Any], field: str) -> str:
    value = fields.get(field, "")
    if not isinstance(value, str):
        raise _Wrong(field, "must be a string")
    return value.strip()


def _read_strings_by_name(fields: Mapping[str, Any], field: str) -> dict[str, str]:
    value = fields.get(field, {})
    if not isinstance(value, Mapping):
        raise _Wrong(field, "must be a table of strings")
    texts: dict[str, str] = {}
    for name, text in value.items():
        # Numbers and booleans are common in hand-written files, and mean their text.
        if isinstance(text, bool):
            texts[str(name)] = "true" if text else "false"
        elif isinstance(text, str | int | float):
            texts[str(name)] = str(text)
        else:
            raise _Wrong(f"{field}.{name}", "must be a string")
    return texts


def _read_seconds(fields: Mapping[str, Any]) -> float | None:
    """The time limit: in seconds in prowess.toml, in milliseconds in the files of hosts."""
    for field in ("seconds", *_MILLISECONDS):
        value = fields.get(field)
        if value is None:
            continue
        # In Python true and false are numbers, too.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < _TOO_LONG:
            raise _Wrong(field, "must be a number, 0 or more")
        seconds = float(value) if field == "seconds" else value / 1000
        # 0 is no limit in the files of hosts; here the usual one applies.
        return seconds or None
    return None


def _read_skills(fields: Mapping[str, Any]) -> tuple[str, ...]:
    given = fields.get("skills", [])
    if not _is_strings(given):
        raise _Wrong("skills", "must be a list of strings")
    return tuple(given)


def _read_enabled(fields: Mapping[str, Any]) -> bool:
    for field, on in (("enabled", True), ("disabled", False)):
        value = fields.get(field)
        if value is None:
            continue
        if not isinstance(value, bool):
            raise _Wrong(field, "must be true or false")
        return value is on
    return True


class MissingVariables(ValueError):
    """Variables that a server needs and that are not set."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        listed = ", ".join(f"${{{name}}}" for name in names)
        super().__init__(f"{listed} {'is' if len(names) == 1 else 'are'} not set")


def list_variables(server: McpServer) -> tuple[str, ...]:
    """The names of the environment variables that a server is configured with, in order."""
    texts = (server.command, *server.args, server.cwd or "", server.url)
    values = (*server.env.values(), *server.headers.values())
    everything = "\n".join((*texts, *values))
    return tuple(sorted({match[1] for match in _VARIABLE.finditer(everything)}))


def expand_variables(server: McpServer, env: Mapping[str, str]) -> McpServer:
    """The server with `${VAR}` and `${VAR:-default}` replaced; its texts are secret from now on.

    Raises `MissingVariables`, with names and never with values.
    """
    missing: dict[str, None] = {}

    def replace(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name not in env and default is None:
            missing[name] = None
        return env.get(name, default or "")

    def expand(text: str) -> str:
        return _VARIABLE.sub(replace, text)

    expanded = msgspec.structs.replace(
        server,
        command=expand(server.command),
        args=tuple(map(expand, server.args)),
        env={name: expand(value) for name, value in server.env.items()},
        cwd=None if server.cwd is None else expand(server.cwd),
        url=expand(server.url),
        headers={name: expand(value) for name, value in server.headers.items()},
    )
    if missing:
        raise MissingVariables(tuple(missing))
    return expanded
