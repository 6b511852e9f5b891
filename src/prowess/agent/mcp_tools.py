"""Tools of MCP servers, named `mcp__server__tool`. Each call is planned and judged as any other.

A server is started when a model first works. What it says about itself is no instruction: only its
tools are shown to the model. One that fails costs its own tools, and the user is told.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pydantic_ai import RunContext, ToolDefinition, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from prowess.agent.configuration import Configuration
from prowess.agent.events import Event, Warned
from prowess.agent.tools.plan import Access, Plan
from prowess.errors import MissingExtra
from prowess.errors.mcp import McpServerError
from prowess.model.mcp import McpServer
from prowess.model.permission import Action
from prowess.runtime import Skills
from prowess.state.server_trust import find_folder_trust, list_configured, mark_trusted
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import MCP_PREFIX

if TYPE_CHECKING:
    from prowess.machine.mcp.connections import McpConnections

# What one server may put into every request to the model.
_MOST_TOOLS = 100
_MOST_PAGES = 20
# The first request to the model waits for the lists.
_LIST_SECONDS = 15.0
_MOST_DESCRIPTION = 2_000
_MOST_SCHEMA = 20_000
# Providers accept at most this many characters, and no others.
_MOST_NAME = 64
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_ARGUMENTS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class McpTool(msgspec.Struct, frozen=True):
    """A tool as a server lists it, and the name that the model sees."""

    name: str
    server: McpServer
    own_name: str
    description: str
    schema: Mapping[str, Any]


def find_servers(skills: Skills, configuration: Configuration) -> tuple[McpServer, ...]:
    """The servers that are configured here: Prowess's own, those of the host, and of plugins."""
    project, own = skills.project, configuration.own
    marked = mark_trusted(
        list_configured(configuration.host, own),
        find_folder_trust(own, project.open_trust().is_trusted_folder),
        project=skills.snapshot.repository or skills.cwd,
        home=skills.facts.home,
    )
    of_plugins = [
        server
        for contents in configuration.plugins
        if contents.plugin.is_enabled
        for server in contents.servers
    ]
    return tuple(server for server in (*marked, *of_plugins) if server.enabled)


class McpTools:
    """The tools of all servers of a session. They are listed once, when they are first needed."""

    def __init__(
        self,
        servers: Sequence[McpServer],
        connections: McpConnections,
        emit: Callable[[Event], None],
    ) -> None:
        self._servers = servers
        self._connections = connections
        self._emit = emit
        self._tools: dict[str, McpTool] | None = None

    async def load(self) -> Mapping[str, McpTool]:
        """The tools by the name that the model sees."""
        if self._tools is None:
            listed = await asyncio.gather(*map(self._list, self._servers))
            tools: dict[str, McpTool] = {}
            for tool in (one for found in listed for one in found):
                if tool.name in tools:
                    self._warn(f"Two tools are named {tool.name}; the first is used.")
                tools.setdefault(tool.name, tool)
            self._tools = tools
        return self._tools

    def plan(self, tool: McpTool, arguments: Mapping[str, Any]) -> Plan:
        """A call before it happens. Without a rule about it, a person is asked."""
        shown = msgspec.json.encode(arguments).decode()

        async def call() -> str:
            result = await self._connections.request_async(
                tool.server, lambda client: client.call_tool(tool.own_name, dict(arguments))
            )
            text = render_result(result)
            if result.is_error:
                raise ToolFailed(text or "The tool failed.")
            return text

        return Plan(
            title=f"{tool.name} {shown}" if arguments else tool.name,
            permissions=(tool.name,),
            accesses=(Access(names=(shown,)),),
            default=Action.ASK,
            delegate=call,
            details=(shown,),
        )

    def close(self) -> None:
        """End every server."""
        self._connections.close()

    async def _list(self, server: McpServer) -> list[McpTool]:
        """The tools of one server; none, and a warning, where it fails."""
        try:
            seconds = server.seconds or _LIST_SECONDS
            listed = await self._connections.request_async(server, _list_tools, seconds=seconds)
        except (McpServerError, MissingExtra) as error:
            hint = f" {error.hint}" if error.hint else ""
            self._warn(f"{error} Its tools are missing.{hint}")
            return []
        tools = [_make_tool(server, one) for one in listed[:_MOST_TOOLS]]
        usable = [tool for tool in tools if tool is not None]
        left_out = len(listed) - len(usable)
        if left_out:
            self._warn(
                f"The MCP server “{server.name}” lists {len(listed)} tools; {left_out} of them"
                " cannot be used: there are too many, or their arguments cannot be described."
            )
        return usable

    def _warn(self, message: str) -> None:
        self._emit(Warned(code="mcp-server", message=message))


async def _list_tools(client: Any) -> list[Any]:
    found: list[Any] = []
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) > _MOST_TOOLS:
            break
    return found


def _make_tool(server: McpServer, listed: Any) -> McpTool | None:
    schema = listed.input_schema
    # An object is the only thing that models can send as arguments.
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return None
    if len(msgspec.json.encode(schema)) > _MOST_SCHEMA:
        return None
    text = " ".join((listed.description or listed.title or "").split())
    return McpTool(
        name=make_tool_name(server.name, listed.name),
        server=server,
        own_name=listed.name,
        description=text[:_MOST_DESCRIPTION],
        schema=schema,
    )


def make_tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, with characters that all providers accept, and no longer than they do.

    Where something is left out, a part of a digest keeps two names apart.
    """
    name = f"{MCP_PREFIX}{_NO_NAME.sub('_', server)}__{_NO_NAME.sub('_', tool)}"
    if name == f"{MCP_PREFIX}{server}__{tool}" and len(name) <= _MOST_NAME:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{name[: _MOST_NAME - 7]}_{digest}"


def render_result(result: Any) -> str:
    """What the model sees of an answer: its texts, and what else it has, by name."""
    parts = list(_render_parts(result.content))
    if not parts and result.structured_content is not None:
        parts.append(msgspec.json.encode(result.structured_content).decode())
    return "\n".join(parts)


def _render_parts(content: Iterable[Any]) -> Iterator[str]:
    for part in content:
        if part.type == "text":
            yield part.text
        elif part.type == "resource" and hasattr(part.resource, "text"):
            yield part.resource.text
        elif part.type == "resource_link":
            yield f"[link: {part.uri}]"
        else:
            yield f"[{part.type} left out: {getattr(part, 'mime_type', None) or 'no text'}]"


class McpToolset(AbstractToolset[Any]):
    """The tools of MCP servers for one agent, which may have only some of them."""

    def __init__(self, tools: McpTools, only: Container[str] | None) -> None:
        self._tools = tools
        self._only = only

    @property
    def id(self) -> str | None:
        """Toolsets with state in durable runs have one; this has none."""
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What the model is shown. The servers are started the first time."""
        tools = await self._tools.load()
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=tool.description,
                    parameters_json_schema=dict(tool.schema),
                    sequential=True,
                ),
                max_retries=ctx.max_retries,
                args_validator=_ARGUMENTS,
            )
            for name, tool in tools.items()
            if _may_have(name, self._only)
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Plan:
        """The plan of a call."""
        tools = await self._tools.load()
        return self._tools.plan(tools[name], tool_args)


def _may_have(name: str, only: Container[str] | None) -> bool:
    """Whether the definition of an agent gives it a tool, by name or for the whole server."""
    if only is None or name in only:
        return True
    patterns = only if isinstance(only, Iterable) else ()
    return any(_names_tool(str(pattern), name) for pattern in patterns)


def _names_tool(pattern: str, name: str) -> bool:
    if not pattern.startswith(MCP_PREFIX):
        return False
    return matches_wildcard(name, pattern) or name.startswith(f"{pattern}__")


def open_mcp_tools(
    skills: Skills,
    configuration: Configuration,
    emit: Callable[[Event], None],
    given: Sequence[McpServer] = (),
    *,
    read_only: bool,
) -> McpTools | None:
    """The tools of MCP servers: those given, and those configured; none of them is started yet.

    A read-only session has none, because nothing keeps another program from writing.
    """
    named = {server.name for server in given}
    found = (one for one in find_servers(skills, configuration) if one.name not in named)
    servers = (*given, *found)
    if not servers or read_only:
        return None
    from prowess.machine.mcp.connections import McpConnections

    return McpTools(servers, McpConnections(skills.facts, cwd=skills.cwd), emit)
