"""MCP servers in the settings files of Prowess and of hosts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.errors import SettingError
from prowess.model.mcp import McpServer
from prowess.model.origin import Origin
from prowess.state.server_trust import mark_trusted
from prowess.state.trust import GivenTrust, TrustFile
from tests.workspace import Workspace

OWN = "home/.config/prowess/prowess.toml"
SECRET = "tok-94f1"


def servers(table: dict[str, Any], key: str = "mcpServers") -> str:
    return json.dumps({key: table})


def list_commands(workspace: Workspace, host: str) -> dict[str, str]:
    found = workspace.open(host).settings().mcp_servers
    return {name: server.target for name, server in found.items()}


def test_prowess_toml_has_servers(workspace: Workspace) -> None:
    text = """
    [mcp.servers.tides]
    command = "tide-server"
    args = ["--fast"]
    env = { KEY = "${KEY}" }
    seconds = 5

    [mcp.servers.charts]
    url = "https://charts.example/mcp"
    enabled = false
    """
    file = str(workspace.write(OWN, text))
    settings = workspace.open().settings()
    assert dict(settings.mcp_servers) == {
        "tides": McpServer(
            name="tides",
            command="tide-server",
            args=("--fast",),
            env={"KEY": "${KEY}"},
            seconds=5.0,
            origin=Origin(file, 2),
        ),
        "charts": McpServer(
            name="charts",
            transport="http",
            url="https://charts.example/mcp",
            enabled=False,
            origin=Origin(file, 8),
        ),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp.servers.x]\ncomand = 'x'\n", "command"),
        ("[mcp.servers.x]\nargs = []\n", "neither a `command` nor a `url`"),
        (f"[mcp.servers.x]\ncommand = 'x'\nargs = '{SECRET}'\n", "a list of strings"),
        (f"[mcp.servers]\nx = '{SECRET}'\n", "a table"),
        ("[mcp]\nserver = 1\n", "mcp.servers"),
    ],
)
def test_a_wrong_server_in_prowess_toml_is_refused(
    workspace: Workspace, text: str, said: str
) -> None:
    workspace.write(OWN, text)
    with pytest.raises(SettingError, match=said) as caught:
        workspace.open().settings()
    assert SECRET not in str(caught.value)


def test_a_project_adds_servers_that_are_not_trusted_and_replaces_none(
    workspace: Workspace,
) -> None:
    workspace.write(OWN, "[mcp.servers.tides]\ncommand = 'mine'\n")
    workspace.write("project/prowess.toml", "[mcp.servers.tides]\ncommand = 'theirs'\n")
    shared = {"tides": {"command": "theirs"}, "more": {"command": "more"}}
    workspace.write("project/.mcp.json", servers(shared))
    settings = workspace.open().settings()
    found = {
        name: (server.command, server.is_trusted) for name, server in settings.mcp_servers.items()
    }
    assert found == {"tides": ("mine", True), "more": ("more", False)}
    assert [(one.code, one.field) for one in settings.diagnostics] == [
        ("setting-ignored", "mcp.servers.tides")
    ]


def test_claude_code_has_servers_of_the_project_the_user_and_this_folder(
    workspace: Workspace,
) -> None:
    workspace.write("project/.mcp.json", servers({"a": {"command": "project"}, "b": {}}))
    here = {"c": {"type": "http", "url": "https://c.example"}}
    state = {
        "mcpServers": {"a": {"command": "user"}},
        "projects": {
            str(workspace.project): {"mcpServers": here},
            "/elsewhere": {"mcpServers": {"z": {"command": "z"}}},
        },
        "history": ["x" * 2_000_000],
    }
    workspace.write("home/.claude.json", json.dumps(state))
    settings = workspace.open("claude-code").settings()
    assert list_commands(workspace, "claude-code") == {"a": "user", "c": "https://c.example"}
    assert [one.message for one in settings.diagnostics] == [
        "The MCP server `b` has neither a `command` nor a `url`."
    ]
    # The rest of these files is not the host's configuration.
    assert "history" not in settings.raw


def test_claude_code_turns_servers_of_the_project_off(workspace: Workspace) -> None:
    workspace.write("project/.mcp.json", servers({"a": {"command": "x"}, "b": {"command": "x"}}))
    workspace.write("home/.claude/settings.json", json.dumps({"disabledMcpjsonServers": ["a"]}))
    found = workspace.open("claude-code").settings().mcp_servers
    assert [(name, one.enabled) for name, one in found.items()] == [("a", False), ("b", True)]


def test_opencode_has_servers_in_its_settings(workspace: Workspace) -> None:
    table = {
        "tides": {"type": "local", "command": ["tides", "-v"], "environment": {"A": "{env:KEY}"}},
        "charts": {"type": "remote", "url": "https://charts.example/mcp", "timeout": 1500},
        "wrong": {"type": "local", "command": 3},
    }
    workspace.write("home/.config/opencode/opencode.json", servers(table, "mcp"))
    # An entry with nothing else is a switch; a project can only turn servers off.
    switches = {"tides": {"enabled": False}, "charts": {"enabled": True}}
    workspace.write("project/opencode.json", servers(switches, "mcp"))
    skills = workspace.open("opencode", env={"KEY": SECRET})
    settings = skills.settings()
    found = settings.mcp_servers
    assert [(name, one.enabled, one.is_trusted) for name, one in found.items()] == [
        ("tides", False, True),
        ("charts", True, True),
    ]
    assert found["tides"].args == ("-v",)
    assert found["tides"].env == {"A": SECRET}
    assert found["charts"].seconds == 1.5
    assert [one.code for one in settings.diagnostics] == ["setting-ignored"]
    assert SECRET not in repr(found["tides"])


def test_omp_has_files_of_its_own(workspace: Workspace) -> None:
    workspace.write("project/.mcp.json", servers({"a": {"command": "folder"}}))
    workspace.write("home/.omp/agent/mcp.json", servers({"a": {"command": "user"}}))
    workspace.write("project/.omp/mcp.json", servers({"b": {"command": "project"}}))
    for host in ("omp", "omp@documented"):
        assert list_commands(workspace, host) == {"a": "user", "b": "project"}


def test_openclaw_has_servers_in_its_configuration(workspace: Workspace) -> None:
    text = json.dumps({"mcp": {"servers": {"docs": {"url": "https://docs.example/mcp"}}}})
    workspace.write("home/.openclaw/openclaw.json", text)
    assert list_commands(workspace, "openclaw") == {"docs": "https://docs.example/mcp"}


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("home/.config/opencode/opencode.json", "mcp"),
        ("home/.config/opencode/opencode.jsonc", "mcp"),
        ("home/.opencode/opencode.json", "mcp"),
        ("project/opencode.json", "mcp"),
        ("project/.opencode/opencode.jsonc", "mcp"),
        ("home/.omp/agent/mcp.json", "mcpServers"),
        ("home/.omp/agent/.mcp.json", "mcpServers"),
        ("project/.omp/mcp.json", "mcpServers"),
        ("project/.mcp.json", "mcpServers"),
        ("home/.openclaw/openclaw.json", "mcp.servers"),
    ],
)
def test_prowess_takes_servers_from_the_files_of_every_host(
    workspace: Workspace, file: str, key: str
) -> None:
    workspace.git()
    table: dict[str, Any] = {"tides": {"command": "x", "env": {"KEY": SECRET}}}
    for part in reversed(key.split(".")):
        table = {part: table}
    # Nothing else in such a file is about Prowess, and nothing else is read.
    more = {"skills": {"paths": ["/elsewhere"], "entries": 3}, "permission": {"skill": "deny"}}
    workspace.write(file, json.dumps({**table, **more}))
    settings = workspace.open().settings()
    (server,) = settings.mcp_servers.values()
    assert (server.name, server.command) == ("tides", "x")
    assert server.is_trusted == file.startswith("home/")
    assert (settings.diagnostics, settings.permissions, settings.custom_folders) == ((), (), ())
    assert SECRET not in repr(settings.raw)


def test_of_one_name_prowess_takes_the_server_of_the_user(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("project/.mcp.json", servers({"a": {"command": "project"}}))
    workspace.write("project/opencode.json", servers({"b": {"command": "project"}}, "mcp"))
    workspace.write("home/.omp/agent/mcp.json", servers({"a": {"command": "omp"}}))
    users = {"a": {"command": "opencode"}, "b": {"command": "opencode"}}
    workspace.write("home/.config/opencode/opencode.json", servers(users, "mcp"))
    assert list_commands(workspace, "prowess") == {"a": "omp", "b": "opencode"}
    workspace.write(OWN, "[mcp.servers.a]\ncommand = 'mine'\n[mcp.servers.b]\nenabled = false\n")
    assert list_commands(workspace, "prowess")["a"] == "mine"
    found = workspace.open().settings().mcp_servers["b"]
    assert (found.command, found.enabled) == ("opencode", False)


def test_a_broken_file_of_a_host_costs_only_itself(workspace: Workspace) -> None:
    workspace.write("home/.config/opencode/opencode.json", '{"mcp": {')
    workspace.write("home/.openclaw/openclaw.json", '{"mcp": {"servers": [1]}}')
    workspace.write("home/.omp/agent/mcp.json", servers({"a": {"command": "omp"}, "b": 7}))
    settings = workspace.open().settings()
    assert list(settings.mcp_servers) == ["a"]
    codes = sorted(one.code for one in settings.diagnostics)
    assert codes == ["setting-ignored", "settings-ignored", "settings-ignored"]


def test_a_broken_file_of_servers_costs_only_itself(workspace: Workspace) -> None:
    workspace.write("project/.mcp.json", '{"mcpServers": {')
    workspace.write(OWN, "[mcp.servers.tides]\ncommand = 'mine'\n")
    settings = workspace.open().settings()
    assert list(settings.mcp_servers) == ["tides"]
    assert [one.code for one in settings.diagnostics] == ["settings-ignored"]


# Trust


def test_servers_of_a_project_are_trusted_with_it(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("project/.mcp.json", servers({"a": {"command": "x"}}))
    workspace.write(OWN, "[mcp.servers.b]\ncommand = 'x'\n")
    facts = workspace.facts()
    found = workspace.open().settings().mcp_servers.values()
    trust = TrustFile.of(facts, cwd=str(workspace.project))

    def list_trusted() -> list[str]:
        marked = mark_trusted(
            found, trust.is_trusted_folder, project=str(workspace.project), home=facts.home
        )
        return sorted(server.name for server in marked if server.is_trusted)

    assert list_trusted() == ["b"]
    trust.trust(str(workspace.project))
    assert list_trusted() == ["a", "b"]


def test_a_file_of_the_user_inside_the_project_is_the_projects(workspace: Workspace) -> None:
    workspace.write("project/conf/.claude.json", servers({"a": {"command": "x"}}))
    facts = workspace.facts(env={"CLAUDE_CONFIG_DIR": str(workspace.project / "conf")})
    env = dict(facts.env)
    found = workspace.open("claude-code", env=env).settings().mcp_servers.values()
    assert [server.is_trusted for server in found] == [True]
    for is_trusted in (False, True):
        trust = GivenTrust(lambda skill: True, trusts_project=is_trusted)
        project = str(workspace.project)
        marked = mark_trusted(found, trust.is_trusted_folder, project=project, home=facts.home)
        assert [server.is_trusted for server in marked] == [is_trusted]
