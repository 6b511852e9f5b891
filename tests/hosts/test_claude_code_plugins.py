"""Claude Code's plugins: what is installed, what its settings turn on, and marketplaces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.errors.activation import AddressError, NotPermitted
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom, Scope
from tests.workspace import Workspace, skill_text

HOST = "claude-code"
LIST = "home/.claude/plugins/installed_plugins.json"


def write_json(workspace: Workspace, path: str, data: Any) -> None:
    workspace.write(path, json.dumps(data))


def install(workspace: Workspace, *ids: str, version: int = 2) -> None:
    """List plugins as installed, each in `cache/NAME`."""
    plugins: dict[str, Any] = {}
    for id in ids:
        folder = workspace.path(f"home/.claude/plugins/cache/{id.partition('@')[0]}")
        entry = {"scope": "user", "installPath": folder, "version": "1.0.0"}
        plugins[id] = [entry] if version == 2 else entry
    write_json(workspace, LIST, {"version": version, "plugins": plugins})


def switch(workspace: Workspace, path: str = "home/.claude/settings.json", **ids: bool) -> None:
    switches = {id.replace("__", "@"): is_on for id, is_on in ids.items()}
    write_json(workspace, path, {"enabledPlugins": switches})


def plugin(workspace: Workspace, name: str, **manifest: Any) -> str:
    """The folder of an installed plugin with a manifest."""
    folder = f"home/.claude/plugins/cache/{name}"
    write_json(workspace, f"{folder}/.claude-plugin/plugin.json", {"name": name, **manifest})
    return folder


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("host", [HOST, f"{HOST}@documented"])
def test_skills_and_commands_of_a_plugin_are_named_after_it(
    workspace: Workspace, host: str, version: int
):
    install(workspace, "tools@market", version=version)
    switch(workspace, tools__market=True)
    folder = plugin(workspace, "tools", description="Tools.")
    workspace.skill(f"{folder}/skills/pdf", "fancy")
    workspace.write(f"{folder}/commands/hello.md", "Say hello.\n")
    workspace.write(f"{folder}/commands/sub/deep.md", "Go deep.\n")
    snapshot = workspace.scan(host)
    assert {skill.name: skill.label for skill in snapshot.skills} == {
        "tools:pdf": "tools:fancy",
        "tools:hello": None,
        "tools:sub:deep": None,
    }
    assert {(skill.scope, skill.source.loaded_from) for skill in snapshot.skills} == {
        (Scope.PLUGIN, LoadedFrom.PLUGIN),
        (Scope.PLUGIN, LoadedFrom.COMMANDS),
    }


def test_a_plugins_skill_can_be_typed_by_its_name_its_label_and_briefly(workspace: Workspace):
    install(workspace, "tools@market")
    switch(workspace, tools__market=True)
    workspace.skill(f"{plugin(workspace, 'tools')}/skills/pdf", "fancy")
    workspace.write("home/.claude/plugins/cache/tools/commands/hello.md", "Say hello.\n")
    skills = workspace.open(HOST)
    assert "hello" not in skills.commands().by_name
    for typed in ("tools:pdf", "tools:fancy", "fancy"):
        assert skills.commands().by_name[typed].skill_name == "tools:pdf"


def test_a_plugin_is_off_until_its_settings_turn_it_on(workspace: Workspace):
    install(workspace, "never@m", "off@m", "on@m", "local@m")
    for name in ("never", "off", "on", "local"):
        workspace.skill(f"{plugin(workspace, name)}/skills/s")
    switch(workspace, off__m=False, on__m=True, local__m=False)
    switch(workspace, "project/.claude/settings.local.json", local__m=True)
    snapshot = workspace.scan(HOST)
    assert {skill.name for skill in snapshot.skills} == {"on:s", "local:s"}
    outcome = snapshot.find("off:s")
    assert outcome is not None
    assert outcome.state is State.DISABLED
    assert outcome.reason == "its source is switched off because the plugin off@m is off"


def test_what_a_manifest_names_adds_to_skills_and_replaces_commands(workspace: Workspace):
    install(workspace, "tools@m")
    switch(workspace, tools__m=True)
    fields = {"skills": "./extra", "commands": ["./one.md", "./more"]}
    folder = plugin(workspace, "tools", **fields)
    workspace.skill(f"{folder}/skills/usual")
    workspace.skill(f"{folder}/extra/added")
    for path in ("commands/left.md", "one.md", "more/two.md"):
        workspace.write(f"{folder}/{path}", skill_text(None, "d"))
    names = {skill.name for skill in workspace.scan(HOST).skills}
    assert names == {"tools:usual", "tools:added", "tools:one", "tools:two"}


def test_a_plugin_of_a_known_marketplace_needs_no_installation(workspace: Workspace):
    market = workspace.path("market")
    known = {"mine": {"source": {"source": "directory", "path": market}, "installLocation": market}}
    write_json(workspace, "home/.claude/plugins/known_marketplaces.json", known)
    listed = [
        {"name": "one", "source": "./plugins/one"},
        {"name": "two", "source": "./plugins/two"},
        {"name": "far", "source": {"source": "github", "repo": "a/b"}},
        {"name": "out", "source": "../elsewhere"},
        {"name": "docs", "source": "./", "strict": False, "skills": ["./skills/pdf"]},
    ]
    marketplace = {"name": "pretends-to-be-another", "plugins": listed}
    write_json(workspace, "market/.claude-plugin/marketplace.json", marketplace)
    for folder in ("market/plugins/one", "market/plugins/two", "elsewhere"):
        workspace.skill(f"{folder}/skills/s")
    workspace.skill("market/skills/pdf")
    workspace.skill("market/skills/other")
    switch(workspace, one__mine=True, far__mine=True, out__mine=True, docs__mine=True)
    snapshot = workspace.scan(HOST)
    assert {skill.name for skill in snapshot.skills} == {"one:s", "docs:pdf"}
    assert [one.code for one in snapshot.diagnostics] == ["plugin-path-outside"]


def test_a_folder_between_skills_can_be_a_plugin(workspace: Workspace):
    for place in ("home/.claude/skills", "project/.claude/skills"):
        folder = f"{place}/{place.partition('/')[0]}"
        name = folder.rpartition("/")[2]
        write_json(workspace, f"{folder}/.claude-plugin/plugin.json", {"name": name})
        workspace.skill(f"{folder}/skills/inner", "")
    assert {skill.name for skill in workspace.scan(HOST).skills} == {"home:inner"}
    switches = {"project@skills-dir": True, "home@skills-dir": False}
    write_json(workspace, "home/.claude/settings.json", {"enabledPlugins": switches})
    assert {skill.name for skill in workspace.scan(HOST).skills} == {"project:inner"}


def test_an_option_names_a_plugin(workspace: Workspace):
    workspace.skill("dev/skills/s")
    write_json(workspace, "dev/.claude-plugin/plugin.json", {"name": "mine"})
    snapshot = workspace.scan(HOST, plugins=[workspace.path("dev")])
    assert [skill.name for skill in snapshot.skills] == ["mine:s"]


@pytest.mark.seed("C-139", "C-141", "C-143")
@pytest.mark.parametrize("host", [f"{HOST}@documented", "prowess"])
def test_a_builtin_plugin_is_a_container_and_its_skills_are_bundled(
    workspace: Workspace, host: str
):
    folder = "builtin/review"
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    write_json(workspace, f"{folder}/.claude-plugin/plugin.json", {"name": "review"})
    write_json(workspace, f"{folder}/hooks/hooks.json", hooks)
    write_json(workspace, f"{folder}/.mcp.json", {"mcpServers": {"s": {"command": "true"}}})
    workspace.skill(f"{folder}/skills/review-code", "")
    places = {"builtin_plugins": workspace.path("builtin")}
    skills = workspace.open(host, places=places)
    [found] = skills.project.load_plugins(packages=False)
    assert (found.id, found.owner) == ("review@builtin", "bundled")
    assert (len(found.skills), len(found.hook_files), len(found.server_files)) == (1, 1, 1)
    [skill] = skills.snapshot.skills
    # A skill's id is its name, without that of the plugin.
    assert skill.name == "review-code"
    assert (skill.scope, skill.source.loaded_from) == (Scope.BUNDLED, LoadedFrom.BUNDLED)
    # C-66: the model is offered what is not `builtin`.
    assert "review-code" in skills.catalog().text


@pytest.mark.seed("C-142")
def test_the_switch_of_a_builtin_plugin_is_kept_in_the_settings(workspace: Workspace):
    write_json(workspace, "builtin/review/.claude-plugin/plugin.json", {"name": "review"})
    workspace.skill("builtin/review/skills/review-code", "")
    places = {"builtin_plugins": workspace.path("builtin")}
    switch(workspace, review__builtin=False)
    skills = workspace.open(f"{HOST}@documented", places=places)
    assert skills.snapshot.skills == ()
    [found] = skills.project.load_plugins(packages=False)
    assert found.switched_in.file == workspace.path("home/.claude/settings.json")


def test_a_skill_address_of_a_plugin_has_the_guards_of_all_others(workspace: Workspace):
    install(workspace, "tools@m")
    switch(workspace, tools__m=True)
    folder = plugin(workspace, "tools")
    workspace.skill(f"{folder}/skills/pdf", "")
    workspace.write(f"{folder}/skills/pdf/notes.md", "Notes\n")
    workspace.write(f"{folder}/secret.md", "Secret\n")
    workspace.link(f"{folder}/skills/pdf/out.md", "../../secret.md")
    skills = workspace.open(HOST)
    assert skills.read("skill://tools:pdf/notes.md").content == "Notes\n"
    for path in ("../../secret.md", "%2e%2e%2f%2e%2e%2fsecret.md", "out.md"):
        with pytest.raises(AddressError):
            skills.read(f"skill://tools:pdf/{path}")
    denied = {"permissions": {"deny": ["Skill(tools:pdf)"]}, "enabledPlugins": {"tools@m": True}}
    write_json(workspace, "home/.claude/settings.json", denied)
    with pytest.raises((NotPermitted, AddressError)):
        workspace.open(HOST).read("skill://tools:pdf/notes.md")
