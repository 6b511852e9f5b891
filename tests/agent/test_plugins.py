"""What an agent uses of plugins: agents, hooks and MCP servers of those that are on and trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.agent.configuration import load_configuration
from prowess.agent.definitions import AgentDefinitions
from prowess.agent.hooks.sources import gather_hooks
from prowess.agent.mcp_tools import find_servers
from prowess.runtime import Skills
from prowess.state.trust import TrustFile
from tests.workspace import Workspace

HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "check"}]}]}}
SERVERS = {"mcpServers": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/db"}, "bad": 3}}


def write_json(workspace: Workspace, path: str, data: Any) -> None:
    workspace.write(path, json.dumps(data))


def fill(workspace: Workspace, folder: str, name: str) -> None:
    """A plugin with an agent, a hook and an MCP server."""
    write_json(workspace, f"{folder}/.claude-plugin/plugin.json", {"name": name})
    write_json(workspace, f"{folder}/hooks/hooks.json", HOOKS)
    write_json(workspace, f"{folder}/.mcp.json", SERVERS)
    workspace.write(f"{folder}/agents/reviewer.md", "---\ndescription: d\n---\nReview.\n")


def list_agents(skills: Skills) -> set[str]:
    definitions = AgentDefinitions(
        (skills.cwd,),
        skills.project.files,
        skills.profile.header,
        skills.profile.limits,
        home=skills.facts.home,
        plugins=skills.plugins(),
    )
    return set(definitions.load()) - {"general-purpose"}


def used(skills: Skills) -> tuple[set[str], list[str], list[tuple[str, bool]]]:
    """The agents, the names of plugins whose hooks run, and the servers that may be started."""
    hooks = [hook.name for hook in gather_hooks(skills, load_configuration(skills)).hooks]
    servers = [
        (server.name, server.is_trusted)
        for server in find_servers(skills, load_configuration(skills))
    ]
    return list_agents(skills), hooks, servers


@pytest.fixture
def installed(workspace: Workspace) -> Workspace:
    """A plugin that the user installed with Claude Code, and turned on."""
    folder = "home/.claude/plugins/cache/tools"
    fill(workspace, folder, "tools")
    entry = {"scope": "user", "installPath": workspace.path(folder)}
    listed = {"version": 2, "plugins": {"tools@m": [entry]}}
    write_json(workspace, "home/.claude/plugins/installed_plugins.json", listed)
    write_json(workspace, "home/.claude/settings.json", {"enabledPlugins": {"tools@m": True}})
    return workspace


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
def test_what_the_user_installed_and_turned_on_is_used(installed: Workspace, host: str):
    assert used(installed.open(host)) == ({"tools:reviewer"}, ["tools@m"], [("tools:db", True)])


def test_a_plugin_that_is_off_is_not_used(installed: Workspace):
    write_json(installed, "home/.claude/settings.json", {"enabledPlugins": {"tools@m": False}})
    assert used(installed.open()) == (set(), [], [])


def test_a_hook_of_a_plugin_knows_its_folder_and_a_bad_server_costs_only_itself(
    installed: Workspace,
):
    [contents] = installed.open().plugins()
    folder = installed.path("home/.claude/plugins/cache/tools")
    assert [(hook.source, hook.root) for hook in contents.hooks] == [("plugin", folder)]
    assert [(one.command, one.cwd, one.plugin) for one in contents.servers] == [
        (f"{folder}/db", folder, "tools@m")
    ]
    assert [one.code for one in contents.diagnostics] == ["plugin-invalid"]


def test_what_a_project_brings_is_used_once_the_project_is_trusted(workspace: Workspace):
    workspace.git()
    fill(workspace, "project/tools", "tools")
    workspace.write("project/prowess.toml", 'plugins = ["tools"]\n')
    skills = workspace.open()
    assert used(skills) == (set(), [], [("tools:db", False)])
    warnings = gather_hooks(skills, load_configuration(skills)).warnings
    assert [one.message for one in warnings] == [
        "The hooks of the plugin tools@folder do not run, because it is not trusted."
    ]
    TrustFile.of(workspace.facts(), cwd=workspace.path("project")).trust(workspace.path("project"))
    assert used(workspace.open()) == ({"tools:reviewer"}, ["tools@folder"], [("tools:db", True)])


def test_a_list_that_a_project_brings_trusts_nothing(workspace: Workspace):
    workspace.git()
    fill(workspace, "home/.cache/fetched", "tools")
    entry = {"scope": "user", "installPath": workspace.path("home/.cache/fetched")}
    listed = {"version": 2, "plugins": {"tools@m": [entry]}}
    write_json(workspace, "project/.omp/plugins/installed_plugins.json", listed)
    skills = workspace.open("omp")
    [contents] = skills.plugins()
    assert (contents.plugin.is_enabled, contents.is_trusted) == (True, False)
    assert used(skills)[1] == []


def test_trust_in_content_covers_no_hooks_of_a_project(workspace: Workspace):
    workspace.git()
    fill(workspace, "project/tools", "tools")
    workspace.write("project/prowess.toml", 'plugins = ["tools"]\n')
    workspace.write("home/.config/prowess/prowess.toml", 'trust = "content"\n')
    TrustFile.of(workspace.facts(), cwd=workspace.path("project")).trust(workspace.path("project"))
    assert used(workspace.open())[1] == []


def test_skills_of_a_plugin_that_the_user_installed_are_trusted(installed: Workspace):
    installed.skill("home/.claude/plugins/cache/tools/skills/pdf", "")
    skills = installed.open("claude-code")
    trust = skills.project.open_trust()
    assert trust.is_trusted(skills.get("tools:pdf"))


def test_skills_of_a_package_are_not(workspace: Workspace):
    workspace.skill("ext/skills/a")
    skills = workspace.open(plugins=[workspace.path("ext")])
    assert not skills.project.open_trust().is_trusted(skills.get("a"))
