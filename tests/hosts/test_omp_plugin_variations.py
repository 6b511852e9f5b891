"""Plugins among oh-my-pi's other sources: order, filters and layouts, from what was measured."""

from __future__ import annotations

import os

import pytest

from tests.hosts.test_omp_plugins import STANDARD, configure, registry, sources, write_json
from tests.workspace import Workspace, skill_text

HOST = "omp"


def test_of_one_name_the_provider_with_the_highest_priority_wins(workspace: Workspace):
    workspace.git()
    configure(workspace, extensions=["../ext"])
    write_json(workspace, "std/plugin.json", {"$schema": STANDARD, "name": "std"})
    own = "home/.omp/plugins/installed_plugins.json"
    registry(workspace, own, std__m="std", market__m="market")
    ranked = [
        ("project/.omp/skills/same", "omp:project"),
        ("ext/skills/same", "omp-plugins:user"),
        ("project/.claude/skills/same", "claude:project"),
        ("std/skills/same", "agent-plugins:user"),
        ("market/skills/same", "claude-plugins:user"),
        ("project/.agents/skills/same", "agents:project"),
        ("project/.github/skills/same", "github:project"),
    ]
    for folder, _ in ranked:
        workspace.skill(folder)
    # Take the winner away, and the next one in the order of providers has the name.
    for folder, _ in ranked:
        assert workspace.listed(workspace.scan(HOST)) == {"same": f"{folder}/SKILL.md"}
        (workspace.root / folder / "SKILL.md").unlink()


def test_a_plugins_loser_is_silent(workspace: Workspace):
    workspace.git()
    configure(workspace, extensions=["../ext"])
    workspace.skill("project/.omp/skills/same")
    workspace.skill("ext/skills/same")
    assert workspace.scan(HOST).diagnostics == ()


def test_names_that_differ_in_case_are_two(workspace: Workspace):
    configure(workspace, extensions=["../ext"])
    workspace.skill("project/.omp/skills/dup")
    workspace.write("ext/skills/other/SKILL.md", skill_text("DUP"))
    assert set(workspace.listed(workspace.scan(HOST))) == {"dup", "DUP"}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("disabledProviders", ["omp-plugins"]),
        ("disabledExtensions", ["skill:a"]),
        ("skills", {"ignoredSkills": ["a*"]}),
        ("skills", {"includeSkills": ["other"]}),
        ("skills", {"enabled": False}),
    ],
)
def test_settings_filter_skills_of_extensions_like_all_others(
    workspace: Workspace, setting: str, value: object
):
    configure(workspace, **{"extensions": ["../ext"], setting: value})
    workspace.skill("ext/skills/a")
    assert workspace.listed(workspace.scan(HOST)) == {}


@pytest.mark.parametrize("value", [["skill:a*"], ["a"], ["skill:A"]])
def test_disabled_extensions_are_exact(workspace: Workspace, value: list[str]):
    configure(workspace, extensions=["../ext"], disabledExtensions=value)
    workspace.skill("ext/skills/a")
    assert set(workspace.listed(workspace.scan(HOST))) == {"a"}


def test_a_disabled_plugin_skill_no_longer_hides_a_lower_one(workspace: Workspace):
    workspace.git()
    configure(workspace, extensions=["../ext"], disabledProviders=["omp-plugins"])
    workspace.skill("ext/skills/same")
    workspace.skill("project/.claude/skills/same")
    assert sources(workspace.scan(HOST)) == {"same": "claude:project"}


@pytest.mark.parametrize("toggle", ["enablePiUser", "enablePiProject", "enableClaudeProject"])
def test_no_toggle_is_about_extensions(workspace: Workspace, toggle: str):
    configure(workspace, extensions=["../ext"], skills={toggle: False})
    workspace.skill("ext/skills/a")
    assert sources(workspace.scan(HOST)) == {"a": "omp-plugins:user"}


def test_only_folders_directly_in_skills_count(workspace: Workspace):
    configure(workspace, extensions=["../ext"])
    workspace.skill("ext/skills/good")
    workspace.skill("ext/skills/deep/inner")
    workspace.skill("ext/skills/.hidden")
    workspace.write("ext/skills/SKILL.md", skill_text("root"))
    workspace.write("ext/skills/flat.md", skill_text("flat"))
    workspace.write("ext/skills/lower/skill.md", skill_text("lower"))
    workspace.write("ext/skills/empty/SKILL.md", "")
    (workspace.root / "ext/skills/folder/SKILL.md").mkdir(parents=True)
    assert set(workspace.listed(workspace.scan(HOST))) == {"good"}


@pytest.mark.parametrize("name", ["../evil", "with space", "x:y", "Ünïcode", "n" * 80, "a/b"])
def test_an_extensions_skill_can_have_any_name(workspace: Workspace, name: str):
    configure(workspace, extensions=["../ext"])
    workspace.write("ext/skills/folder/SKILL.md", skill_text(name))
    assert set(workspace.listed(workspace.scan(HOST))) == {name}


@pytest.mark.parametrize(
    "header", ["description: d", "name: 7\ndescription: d", "name: ' '\ndescription: d"]
)
def test_without_a_name_the_folder_gives_it(workspace: Workspace, header: str):
    configure(workspace, extensions=["../ext"])
    workspace.write("ext/skills/folder/SKILL.md", f"---\n{header}\n---\nx\n")
    assert set(workspace.listed(workspace.scan(HOST))) == {"folder"}


@pytest.mark.parametrize(
    ("description", "is_listed"),
    [("''", False), ("~", False), ("7", True), ("[a]", True), ("true", True), ("false", False)],
)
def test_a_description_beside_an_extension_has_to_be_truthy(
    workspace: Workspace, description: str, is_listed: bool
):
    configure(workspace, extensions=["../ext"])
    text = f"---\nname: a\ndescription: {description}\n---\nx\n"
    workspace.write("ext/skills/a/SKILL.md", text)
    assert ("a" in workspace.listed(workspace.scan(HOST))) == is_listed


def test_a_plugin_of_a_list_needs_no_description(workspace: Workspace):
    registry(workspace, "home/.omp/plugins/installed_plugins.json", p__m="p")
    workspace.write("p/skills/bare/SKILL.md", "---\nname: bare\n---\nx\n")
    workspace.write("p/skills/none/SKILL.md", "Only text.\n")
    assert set(workspace.listed(workspace.scan(HOST))) == {"bare", "none"}


def test_enabled_false_in_a_header_drops_a_skill_and_a_string_does_not(workspace: Workspace):
    configure(workspace, extensions=["../ext"])
    for name, value in (("off", "false"), ("word", '"false"')):
        text = f"---\nname: {name}\ndescription: d\nenabled: {value}\n---\nx\n"
        workspace.write(f"ext/skills/{name}/SKILL.md", text)
    assert set(workspace.listed(workspace.scan(HOST))) == {"word"}


def test_one_real_file_counts_once_and_the_stronger_provider_keeps_it(workspace: Workspace):
    workspace.git()
    configure(workspace, extensions=["../ext"])
    workspace.write("ext/skills/second/SKILL.md", "---\ndescription: d\n---\nx\n")
    (workspace.project / ".omp/skills").mkdir(parents=True)
    os.symlink(workspace.root / "ext/skills/second", workspace.project / ".omp/skills/first")
    assert set(workspace.listed(workspace.scan(HOST))) == {"first"}


def test_of_two_extensions_the_first_has_the_name(workspace: Workspace):
    configure(workspace, extensions=["../one", "../two", "../one"])
    workspace.skill("one/skills/same")
    workspace.skill("two/skills/same")
    workspace.skill("two/skills/more")
    assert workspace.listed(workspace.scan(HOST)) == {
        "same": "one/skills/same/SKILL.md",
        "more": "two/skills/more/SKILL.md",
    }


def test_a_custom_folder_replaces_a_plugins_skill(workspace: Workspace):
    configure(
        workspace,
        extensions=["../ext"],
        skills={"customDirectories": [workspace.path("custom")]},
    )
    workspace.skill("ext/skills/same")
    workspace.skill("custom/same")
    assert workspace.listed(workspace.scan(HOST)) == {"same": "custom/same/SKILL.md"}


@pytest.mark.parametrize("providers", [["claude-plugins"], ["*"], ["all"]])
def test_claudes_list_counts_once_it_is_allowed(workspace: Workspace, providers: list[str]):
    registry(workspace, "home/.claude/plugins/installed_plugins.json", p__m="p")
    workspace.skill("p/skills/a")
    configure(workspace, enabledProviders=[])
    assert workspace.listed(workspace.scan(HOST)) == {}
    configure(workspace, enabledProviders=providers)
    assert sources(workspace.scan(HOST)) == {"a": "claude-plugins:user"}


def test_a_provider_that_is_disabled_stays_off_although_it_is_enabled(workspace: Workspace):
    registry(workspace, "home/.claude/plugins/installed_plugins.json", p__m="p")
    workspace.skill("p/skills/a")
    configure(workspace, enabledProviders=["claude-plugins"], disabledProviders=["claude-plugins"])
    assert workspace.listed(workspace.scan(HOST)) == {}
