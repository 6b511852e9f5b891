"""Plugins as Prowess itself finds them: folders, other hosts' lists, and installed packages."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from prowess.model.outcome import State
from prowess.model.plugin import Plugin
from prowess.runtime import Skills
from tests.workspace import Workspace

USER_FILE = "home/.config/prowess/prowess.toml"
SITE = "site-packages"


def write_json(workspace: Workspace, path: str, data: Any) -> None:
    workspace.write(path, json.dumps(data))


def open_with_packages(workspace: Workspace, **options: Any) -> Skills:
    """The skills of a machine that has Python packages."""
    facts = msgspec.structs.replace(workspace.facts(), python_paths=(workspace.path(SITE),))
    return Skills(workspace.project, facts=facts, cache=False, **options)


def find(skills: Skills, id: str) -> Plugin:
    return next(plugin for plugin in skills.project.load_plugins() if plugin.id == id)


# Folders


def test_a_plain_folder_keeps_the_names_of_its_skills(workspace: Workspace):
    workspace.write("project/prowess.toml", 'plugins = ["tools"]\n')
    workspace.skill("project/tools/skills/pdf")
    skills = workspace.open()
    assert [skill.name for skill in skills] == ["pdf"]
    [plugin] = skills.project.load_plugins(packages=False)
    assert (plugin.id, plugin.owner, plugin.format) == ("tools@folder", "project", "plain")


@pytest.mark.parametrize(
    ("manifest", "fields"),
    [
        (".claude-plugin/plugin.json", {}),
        (
            "plugin.json",
            {"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"},
        ),
    ],
)
def test_a_folder_with_a_manifest_names_its_skills(
    workspace: Workspace, manifest: str, fields: dict[str, str]
):
    workspace.write(USER_FILE, f'plugins = ["{workspace.path("tools")}"]\n')
    write_json(workspace, f"tools/{manifest}", {"name": "office", "version": "1.2.0", **fields})
    workspace.skill("tools/skills/pdf")
    skills = workspace.open()
    assert [skill.name for skill in skills] == ["office:pdf"]
    assert find(skills, "office@folder").version == "1.2.0"


def test_the_plugins_of_a_marketplace_are_off_until_they_are_turned_on(workspace: Workspace):
    workspace.write(USER_FILE, f'plugins = ["{workspace.path("market")}"]\n')
    listed = [{"name": "a", "source": "./a"}, {"name": "b", "source": "./b"}]
    marketplace = {"name": "m", "plugins": listed}
    write_json(workspace, "market/.claude-plugin/marketplace.json", marketplace)
    for name in "ab":
        workspace.skill(f"market/{name}/skills/s")
    assert workspace.scan().skills == ()
    with (workspace.root / USER_FILE).open("a", encoding="utf-8") as file:
        file.write('enabled_plugins = { "b@m" = true }\n')
    assert [skill.name for skill in workspace.scan().skills] == ["b:s"]


def test_a_plain_folder_can_have_any_name(workspace: Workspace):
    workspace.write(USER_FILE, f'plugins = ["{workspace.path("my tools: old")}"]\n')
    workspace.skill("my tools: old/skills/pdf")
    snapshot = workspace.scan()
    assert [skill.name for skill in snapshot.skills] == ["pdf"]
    assert snapshot.diagnostics == ()


def test_one_bad_skill_never_loses_its_plugin_nor_one_bad_plugin_the_others(workspace: Workspace):
    folders = ", ".join(f'"{workspace.path(name)}"' for name in ("one", "two", "three"))
    workspace.write(USER_FILE, f"plugins = [{folders}]\n")
    workspace.write("one/.claude-plugin/plugin.json", "{")
    workspace.skill("one/skills/x")
    write_json(workspace, "two/.claude-plugin/plugin.json", {"name": "two"})
    workspace.skill("two/skills/good")
    workspace.write("two/skills/bad/SKILL.md", "---\nname: [\n")
    workspace.skill("three/skills/y")
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {
        "three/skills/y/SKILL.md": "ready",
        "two/skills/bad/SKILL.md": "invalid",
        "two/skills/good/SKILL.md": "ready",
    }
    assert [(one.code, workspace.relative(one.file)) for one in snapshot.diagnostics] == [
        ("plugin-invalid", "one/.claude-plugin/plugin.json")
    ]


def test_a_project_cannot_turn_on_what_the_user_turns_off(workspace: Workspace):
    workspace.write(
        USER_FILE,
        f'plugins = ["{workspace.path("tools")}"]\nenabled_plugins = {{ "tools@folder" = false }}\n',
    )
    workspace.write("project/prowess.toml", 'enabled_plugins = { "tools@folder" = true }\n')
    workspace.skill("tools/skills/pdf")
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {"tools/skills/pdf/SKILL.md": "disabled"}
    assert [one.code for one in snapshot.diagnostics] == ["setting-ignored"]


# Other hosts


def test_what_claude_code_turns_on_is_on(workspace: Workspace):
    entries = {
        f"{name}@m": [{"scope": "user", "installPath": workspace.path(f"cache/{name}")}]
        for name in ("on", "off")
    }
    write_json(
        workspace,
        "home/.claude/plugins/installed_plugins.json",
        {"version": 2, "plugins": entries},
    )
    write_json(workspace, "home/.claude/settings.json", {"enabledPlugins": {"on@m": True}})
    for name in ("on", "off"):
        workspace.skill(f"cache/{name}/skills/s")
    assert [skill.name for skill in workspace.scan().skills] == ["on:s"]
    workspace.write(USER_FILE, 'enabled_plugins = { "on@m" = false, "off@m" = true }\n')
    assert [skill.name for skill in workspace.scan().skills] == ["off:s"]


def test_extensions_of_gemini_and_openclaw_are_plugins(workspace: Workspace):
    write_json(workspace, "home/.gemini/extensions/g/gemini-extension.json", {"name": "gem"})
    workspace.skill("home/.gemini/extensions/g/skills/a")
    write_json(
        workspace,
        "home/.openclaw/extensions/o/openclaw.plugin.json",
        {"id": "claw", "skills": ["lib"]},
    )
    workspace.skill("home/.openclaw/extensions/o/lib/b")
    workspace.skill("home/.openclaw/extensions/o/skills/not-listed")
    assert {skill.name for skill in workspace.scan().skills} == {"gem:a", "claw:b"}


# OpenClaw


@pytest.mark.seed("W-28")
@pytest.mark.parametrize("host", ["openclaw", "openclaw@documented"])
def test_a_plugin_registers_its_skills_by_the_manifest_of_the_sdk(workspace: Workspace, host: str):
    manifest = {"id": "voice", "skills": ["./skills"], "configSchema": {}}
    write_json(workspace, "home/.openclaw/extensions/v/openclaw.plugin.json", manifest)
    workspace.skill("home/.openclaw/extensions/v/skills/call")
    write_json(workspace, "project/.openclaw/extensions/w/openclaw.plugin.json", manifest)
    snapshot = workspace.scan(host)
    assert [(skill.name, skill.source.label) for skill in snapshot.skills] == [
        ("call", "openclaw-extra")
    ]
    config = '{plugins: {entries: {voice: {enabled: false}}, load: {paths: ["/gone"]}}}'
    workspace.write("home/.openclaw/openclaw.json", config)
    assert workspace.scan(host).skills == ()


def test_openclaws_settings_name_and_deny_plugins(workspace: Workspace):
    for name in ("one", "two"):
        manifest = {"id": name, "skills": ["s"]}
        write_json(workspace, f"ext/{name}/openclaw.plugin.json", manifest)
        workspace.skill(f"ext/{name}/s/{name}")
    paths = [workspace.path("ext/one"), workspace.path("ext/two")]
    config = {"plugins": {"load": {"paths": paths}, "deny": ["two"]}}
    write_json(workspace, "home/.openclaw/openclaw.json", config)
    assert [skill.name for skill in workspace.scan("openclaw").skills] == ["one"]


# Packages of Python


def ship(workspace: Workspace, package: str, *skills: str) -> None:
    """A Python package that ships skills in `.agents/skills`."""
    workspace.write(f"{SITE}/{package}/__init__.py", "raise RuntimeError('imported')\n")
    for skill in skills:
        workspace.skill(f"{SITE}/{package}/.agents/skills/{skill}")


def test_a_package_that_ships_skills_is_found_and_off(workspace: Workspace):
    ship(workspace, "my_agents", "build")
    workspace.write(f"{SITE}/my_agents-2.1.dist-info/METADATA")
    skills = open_with_packages(workspace)
    assert skills.snapshot.outcomes == ()
    plugin = find(skills, "my-agents@python")
    assert (plugin.version, plugin.is_enabled) == ("2.1", False)
    [outcome] = open_with_packages(workspace, packages=True).snapshot.outcomes
    assert (outcome.name, outcome.state) == ("my-agents:build", State.DISABLED)


@pytest.mark.parametrize("switch", ["my-agents@python", "my-agents"])
def test_a_package_can_be_turned_on(workspace: Workspace, switch: str):
    ship(workspace, "my_agents", "build", "test")
    ship(workspace, "others", "other")
    workspace.write(USER_FILE, f'enabled_plugins = {{ "{switch}" = true }}\n')
    names = {skill.name for skill in open_with_packages(workspace)}
    assert names == {"my-agents:build", "my-agents:test"}


@pytest.mark.parametrize("switch", ["my-agents@python", "my-agents"])
def test_a_project_cannot_turn_a_package_on(workspace: Workspace, switch: str):
    ship(workspace, "my_agents", "build")
    workspace.write("project/prowess.toml", f'enabled_plugins = {{ "{switch}" = true }}\n')
    skills = open_with_packages(workspace)
    assert [skill.name for skill in skills] == []
    plugin = find(skills, "my-agents@python")
    assert plugin.disabled_by == "only your own settings turn on an installed package"


@pytest.mark.seed("W-28")
def test_a_package_registers_folders_of_skills_by_entry_points(workspace: Workspace):
    workspace.write(f"{SITE}/pkg/__init__.py", "raise RuntimeError('imported')\n")
    workspace.skill(f"{SITE}/pkg/skills/a")
    workspace.skill(f"{SITE}/pkg/data/more/b")
    workspace.skill(f"{SITE}/pkg/single")
    entries = (
        "[console_scripts]\nx = pkg:main\n\n[prowess.skills]\n"
        "one = pkg.skills\ntwo = pkg:data/more\nthree = pkg.single\nfour = pkg.missing\n"
        "five = pkg:../../..\nsix = os;rm\n"
    )
    workspace.write(f"{SITE}/my_pkg-1.0.dist-info/entry_points.txt", entries)
    workspace.write(USER_FILE, 'enabled_plugins = { "my-pkg@python" = true }\n')
    skills = open_with_packages(workspace)
    assert {skill.name for skill in skills} == {"my-pkg:a", "my-pkg:b", "my-pkg:single"}
    assert [one.code for one in skills.snapshot.diagnostics] == ["plugin-missing"] * 3


def test_the_projects_own_environment_is_the_projects(workspace: Workspace):
    place = "project/.venv/lib/python3.12/site-packages/pkg"
    workspace.write(f"{place}/__init__.py")
    workspace.skill(f"{place}/.agents/skills/a")
    assert find(workspace.open(), "pkg@python").owner == "project"


# Packages of npm


def test_direct_dependencies_with_skills_are_found_and_off(workspace: Workspace):
    package = {"dependencies": {"one": "1"}, "devDependencies": {"@team/two": "1", "../up": "1"}}
    write_json(workspace, "project/package.json", package)
    modules = "project/node_modules"
    workspace.skill(f"{modules}/one/skills/a")
    workspace.skill(f"{modules}/@team/two/.agents/skills/b")
    workspace.skill(f"{modules}/indirect/skills/c")
    workspace.skill("elsewhere/skills/d")
    skills = workspace.open()
    assert skills.snapshot.skills == ()
    found = {plugin.id for plugin in skills.project.load_plugins()}
    assert found == {"one@npm", "team-two@npm"}
    workspace.write(USER_FILE, 'enabled_plugins = { "team-two@npm" = true }\n')
    assert [skill.name for skill in workspace.scan().skills] == ["team-two:b"]


def test_a_package_that_leads_out_of_the_project_is_left_out(workspace: Workspace):
    write_json(workspace, "project/package.json", {"dependencies": {"one": "1"}})
    workspace.skill("elsewhere/skills/a")
    workspace.link("project/node_modules/one", "../../elsewhere")
    assert workspace.open().project.load_plugins() == ()


# Changes


def test_a_plugin_that_is_installed_later_is_noticed(workspace: Workspace):
    skills = workspace.open(refresh="auto")
    workspace.skill("home/.gemini/extensions/g/skills/a")
    assert skills.reload().skills == ()
    write_json(workspace, "home/.gemini/extensions/g/gemini-extension.json", {"name": "gem"})
    assert [skill.name for skill in skills.reload().skills] == ["gem:a"]
