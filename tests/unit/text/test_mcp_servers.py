"""MCP servers as hosts, plugins and users write them."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.model.mcp import McpProblem, McpServer
from prowess.model.origin import Origin
from prowess.text.mcp_servers import MissingVariables, expand_variables, parse_mcp_servers

SECRET = "tok-94f1"


def parse_one(fields: Any) -> McpServer | McpProblem:
    servers, problems = parse_mcp_servers({"tides": fields}, origin=Origin("/p/.mcp.json"))
    return servers[0] if servers else problems[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "tide-server", "args": ["--port", "1"], "env": {"ZONE": "1"}},
        {"command": ["tide-server", "--port", "1"], "environment": {"ZONE": 1}, "type": "local"},
        {"type": "stdio", "command": "tide-server", "args": ["--port", "1"], "env": {"ZONE": "1"}},
    ],
    ids=["claude", "opencode", "typed"],
)
def test_a_program_is_the_same_in_every_spelling(fields: dict[str, Any]) -> None:
    assert parse_one(fields) == McpServer(
        name="tides",
        command="tide-server",
        args=("--port", "1"),
        env={"ZONE": "1"},
        origin=Origin("/p/.mcp.json"),
    )


@pytest.mark.parametrize(
    ("fields", "transport"),
    [
        ({"url": "https://tides.example/mcp"}, "http"),
        ({"type": "remote", "url": "https://tides.example/mcp"}, "http"),
        ({"transport": "streamable-http", "url": "https://tides.example/mcp"}, "http"),
        ({"type": "sse", "url": "https://tides.example/mcp"}, "sse"),
    ],
)
def test_an_address_has_a_transport(fields: dict[str, Any], transport: str) -> None:
    found = parse_one({**fields, "headers": {"Authorization": "Bearer ${TOKEN}"}})
    assert isinstance(found, McpServer)
    assert (found.transport, found.url) == (transport, "https://tides.example/mcp")
    assert found.headers == {"Authorization": "Bearer ${TOKEN}"}


def test_time_limits_are_milliseconds_except_ours() -> None:
    limits = ({"timeout": 5000}, {"requestTimeoutMs": 5000}, {"seconds": 5}, {"timeout": 0})
    found = [parse_one({"command": "x", **limit}) for limit in limits]
    assert [one.seconds for one in found if isinstance(one, McpServer)] == [5, 5, 5, None]


def test_a_server_can_be_off() -> None:
    for fields in ({"enabled": False}, {"disabled": True}):
        found = parse_one({"command": "x", **fields})
        assert isinstance(found, McpServer)
        assert not found.enabled


def test_a_wrong_server_costs_only_itself_and_shows_no_value() -> None:
    table = {
        "good": {"command": "x"},
        "empty": {},
        "text": SECRET,
        "bad-args": {"command": "x", "args": SECRET},
        "bad-env": {"command": "x", "env": {"KEY": [SECRET]}},
        "ftp": {"url": f"ftp://{SECRET}@tides.example"},
        "odd": {"command": "x", "transport": SECRET},
        "slow": {"command": "x", "timeout": -1},
        "ho\nme": {"command": "x"},
    }
    servers, problems = parse_mcp_servers({"mcpServers": table})
    assert [server.name for server in servers] == ["good"]
    assert [(one.server, one.field) for one in problems] == [
        ("empty", ""),
        ("text", ""),
        ("bad-args", "args"),
        ("bad-env", "env.KEY"),
        ("ftp", "url"),
        ("odd", "transport"),
        ("slow", "timeout"),
        ("ho\nme", ""),
    ]
    assert SECRET not in "".join(map(str, problems))
    assert str(problems[2]) == "The MCP server `bad-args.args` must be a list of strings."


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_what_is_no_table_is_a_problem(data: Any) -> None:
    servers, problems = parse_mcp_servers(data)
    assert (servers, len(problems)) == ((), 1)


def test_variables_are_expanded_with_defaults_and_only_in_the_copy() -> None:
    found = parse_one(
        {
            "command": "${BIN:-tide-server}",
            "args": ["--zone=${ZONE}", "$NOT", "${1}"],
            "env": {"KEY": "${KEY}"},
        }
    )
    assert isinstance(found, McpServer)
    ready = expand_variables(found, {"ZONE": "5", "KEY": SECRET})
    assert (ready.command, ready.args) == ("tide-server", ("--zone=5", "$NOT", "${1}"))
    assert ready.env == {"KEY": SECRET}
    assert found.env == {"KEY": "${KEY}"}
    assert SECRET not in repr(ready)


def test_variables_that_are_not_set_are_named() -> None:
    found = parse_one({"url": "https://${HOST}/x", "headers": {"A": "${TOKEN} ${HOST}"}})
    # A host in the middle of a URL is fine, a URL that is a variable too.
    assert isinstance(found, McpServer)
    with pytest.raises(MissingVariables, match="not set") as caught:
        expand_variables(found, {"OTHER": SECRET})
    assert caught.value.names == ("HOST", "TOKEN")


def test_the_target_and_the_repr_show_no_secret_of_an_address() -> None:
    found = parse_one(
        {"url": f"https://me:{SECRET}@tides.example/mcp?key={SECRET}", "headers": {"A": SECRET}}
    )
    assert isinstance(found, McpServer)
    assert found.target == "https://tides.example/mcp?[secret]"
    assert SECRET not in repr(found)
