"""oh-my-pi's plugins: extension packages, lists of installed plugins, and Agent Plugins 1.0."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from tests.workspace import Workspace, skill_text

HOST = "omp"
STANDARD = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def configure(workspace: Workspace, **settings: Any) -> None:
    workspace.write("home/.omp/agent/config.yml", json.dumps(settings))


def write_json(workspace: Workspace, path: str, data: Any) -> None:
    workspace.write(path, json.dumps(data))


def registry(workspace: Workspace, path: str, **plugins: Any) -> None:
    """A list of installed plugins: by id with `__` for `@`, the folder or the whole entry."""
    listed = {}
    for id, entry in plugins.items():
        given = entry if isinstance(entry, dict) else {"installPath": workspace.path(entry)}
        listed[id.replace("__", "@")] = [{"scope": "user", "version": "1.0.0", **given}]
    write_json(workspace, path, {"version": 2, "plugins": listed})


def sources(snapshot: Snapshot) -> dict[str, str]:
    """The source of each listed skill, in the host's own words."""
    return {outcome.name: outcome.candidate.root.source.label for outcome in snapshot.shown}


# Extension packages


@pytest.mark.seed("P-20")
@pytest.mark.parametrize("host", ["omp", "omp@documented"])
def test_skills_beside_extensions_of_the_setting_and_of_the_option_are_read(
    workspace: Workspace, host: str
):
    configure(workspace, extensions=["~/tools/one", "../two", "missing"])
    workspace.skill("home/tools/one/skills/a")
    workspace.skill("two/skills/b")
    workspace.skill("three/skills/c")
    snapshot = workspace.scan(host, plugins=[workspace.path("three")])
    assert workspace.listed(snapshot) == {
        "a": "home/tools/one/skills/a/SKILL.md",
        "b": "two/skills/b/SKILL.md",
        "c": "three/skills/c/SKILL.md",
    }
    assert set(sources(snapshot).values()) == {"omp-plugins:user"}


def test_what_a_project_sets_replaces_the_users_list_and_is_the_projects(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("one")])
    workspace.write("project/.omp/config.yml", json.dumps({"extensions": ["ext"]}))
    workspace.skill("one/skills/a")
    workspace.skill("project/ext/skills/b")
    assert sources(workspace.scan(HOST)) == {"b": "omp-plugins:project"}


def test_an_extension_that_is_a_file_has_nothing_beside_it(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("one/index.ts")])
    workspace.write("one/index.ts")
    workspace.skill("one/skills/a")
    snapshot = workspace.scan(HOST)
    assert snapshot.outcomes == ()
    assert snapshot.diagnostics == ()


@pytest.mark.parametrize("table", ["omp", "pi"])
def test_a_package_can_list_its_folders_of_skills(workspace: Workspace, table: str):
    configure(workspace, extensions=[workspace.path("ext")])
    listed = ["./more", "lib/one", "../outside", "/etc", "gone", 3]
    write_json(workspace, "ext/package.json", {"name": "ext", table: {"skills": listed}})
    workspace.skill("ext/skills/usual")
    workspace.skill("ext/more/a")
    workspace.skill("ext/lib/one", "self")
    workspace.skill("ext/lib/one/inner")
    workspace.skill("outside/b")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {
        "a": "ext/more/a/SKILL.md",
        "self": "ext/lib/one/SKILL.md",
    }
    outside = [one for one in snapshot.diagnostics if one.code == "plugin-path-outside"]
    assert [one.message.split("'")[1] for one in outside] == ["../outside", "/etc"]


def test_a_package_that_lists_nothing_has_no_skills(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    write_json(workspace, "ext/package.json", {"name": "ext", "omp": {"skills": "skills"}})
    workspace.skill("ext/skills/usual")
    assert workspace.scan(HOST).outcomes == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"omp": true}'])
def test_a_package_without_a_list_has_its_usual_folder(workspace: Workspace, text: str):
    configure(workspace, extensions=[workspace.path("ext")])
    workspace.write("ext/package.json", text)
    workspace.skill("ext/skills/usual")
    assert sources(workspace.scan(HOST)) == {"usual": "omp-plugins:user"}


def test_a_description_is_required_beside_extensions(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    workspace.skill("ext/skills/bad", description=None)
    workspace.skill("ext/skills/good")
    assert workspace.ends(workspace.scan(HOST)) == {
        "ext/skills/bad/SKILL.md": "invalid",
        "ext/skills/good/SKILL.md": "ready",
    }


def install(workspace: Workspace, root: str, name: str, **manifest: Any) -> None:
    """An npm package with a skill of its own name."""
    write_json(workspace, f"{root}/node_modules/{name}/package.json", {"name": name, **manifest})
    workspace.skill(f"{root}/node_modules/{name}/skills/{name.rpartition('/')[2]}")


def test_packages_that_are_installed_are_extensions(workspace: Workspace):
    root = "home/.omp/plugins"
    names = ["on", "@team/scoped", "plain", "off", "left-over", "../up"]
    for name in names[:-1]:
        install(workspace, root, name, omp={} if name == "plain" else {"tools": []})
    depends_on = dict.fromkeys([*names[:4], "gone", "../up"], "1.0.0")
    write_json(workspace, f"{root}/package.json", {"dependencies": depends_on})
    lock = {"off": {"enabled": False}, "left-over": {"enabled": True}}
    write_json(workspace, f"{root}/omp-plugins.lock.json", {"plugins": lock})
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"on": "omp-plugins:user", "scoped": "omp-plugins:user"}
    off = workspace.outcome(snapshot, f"{root}/node_modules/off/skills/off/SKILL.md")
    assert off.state is State.DISABLED


def test_a_project_can_install_packages_and_turn_some_off(workspace: Workspace):
    workspace.git()
    for root, name in (("home", "one"), ("project", "one"), ("project", "two")):
        install(workspace, f"{root}/.omp/plugins", name, pi={"x": 1})
    for root in ("home", "project"):
        lock = {"plugins": {"one": {"enabled": True}, "two": {"enabled": True}}}
        write_json(workspace, f"{root}/.omp/plugins/omp-plugins.lock.json", lock)
    workspace.write("project/.omp/plugin-overrides.json", json.dumps({"disabled": ["two"]}))
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"one": "omp-plugins:project"}
    assert workspace.listed(snapshot)["one"].startswith("project/")


# Lists of installed plugins


CLAUDE = "home/.claude/plugins/installed_plugins.json"
OWN = "home/.omp/plugins/installed_plugins.json"


def test_the_users_own_list_needs_no_permission_and_claudes_does(workspace: Workspace):
    registry(workspace, CLAUDE, claude__m="cache/claude")
    registry(workspace, OWN, own__m="cache/own")
    for name in ("claude", "own"):
        workspace.skill(f"cache/{name}/skills/{name}", description=None)
    assert sources(workspace.scan(HOST)) == {"own": "claude-plugins:user"}
    configure(workspace, enabledProviders=["claude-plugins"])
    assert sources(workspace.scan(HOST)) == {
        "claude": "claude-plugins:user",
        "own": "claude-plugins:user",
    }


def test_the_own_list_replaces_claudes_entry_and_a_projects_list_both(workspace: Workspace):
    workspace.git()
    configure(workspace, enabledProviders=["*"])
    for where in ("claude", "own", "mine"):
        workspace.skill(f"cache/{where}/skills/{where}")
    registry(workspace, CLAUDE, p__m="cache/claude")
    registry(workspace, OWN, p__m="cache/own")
    assert sources(workspace.scan(HOST)) == {"own": "claude-plugins:user"}
    registry(workspace, "project/.omp/plugins/installed_plugins.json", p__m="cache/mine")
    assert sources(workspace.scan(HOST)) == {"mine": "claude-plugins:project"}


def test_a_list_can_have_a_plugin_in_several_folders(workspace: Workspace):
    entries = [{"installPath": workspace.path(f"cache/{version}")} for version in ("1", "2")]
    write_json(workspace, OWN, {"version": 2, "plugins": {"p@m": entries}})
    workspace.skill("cache/1/skills/old")
    workspace.skill("cache/2/skills/new")
    snapshot = workspace.scan(HOST)
    assert set(sources(snapshot)) == {"old", "new"}
    assert snapshot.diagnostics == ()


def test_an_extension_can_have_any_name(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("my ext: @old")])
    workspace.skill("my ext: @old/skills/a")
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"a": "omp-plugins:user"}
    assert snapshot.diagnostics == ()


def test_what_claude_code_turns_off_is_off(workspace: Workspace):
    configure(workspace, enabledProviders=["*"])
    registry(workspace, CLAUDE, a__m="cache/a", b__m="cache/b", c__m="cache/c")
    for name in "abc":
        workspace.skill(f"cache/{name}/skills/{name}")
    switches = {"enabledPlugins": {"a@m": False, "b@m": False, "c@m": True}}
    write_json(workspace, "home/.claude/settings.json", switches)
    write_json(workspace, "project/.claude/settings.json", {"enabledPlugins": {"b@m": True}})
    assert set(sources(workspace.scan(HOST))) == {"b", "c"}


def test_a_plugin_of_another_project_is_not_for_this_one(workspace: Workspace):
    workspace.git()
    here = {"scope": "project", "projectPath": workspace.path("project")}
    there = {"scope": "local", "projectPath": workspace.path("other")}
    entries = {
        name: {"installPath": workspace.path(f"cache/{name}"), **entry}
        for name, entry in (("here", here), ("there", there))
    }
    registry(workspace, CLAUDE, here__m=entries["here"], there__m=entries["there"])
    for name in entries:
        workspace.skill(f"cache/{name}/skills/{name}")
    assert sources(workspace.scan(HOST)) == {"here": "claude-plugins:project"}


def test_the_own_list_counts_in_every_project(workspace: Workspace):
    entry = {"installPath": workspace.path("cache/p"), "scope": "local", "projectPath": "/gone"}
    registry(workspace, OWN, p__m=entry)
    workspace.skill("cache/p/skills/a")
    assert sources(workspace.scan(HOST)) == {"a": "claude-plugins:project"}


def test_a_plugin_of_another_project_can_be_turned_on_here(workspace: Workspace):
    entry = {"installPath": workspace.path("cache/p"), "scope": "project", "projectPath": "/gone"}
    registry(workspace, CLAUDE, p__m=entry)
    workspace.skill("cache/p/skills/a")
    assert workspace.scan(HOST).outcomes == ()
    write_json(workspace, "project/.claude/settings.local.json", {"enabledPlugins": {"p@m": True}})
    assert sources(workspace.scan(HOST)) == {"a": "claude-plugins:project"}


def test_the_folder_of_skills_can_be_a_link_or_a_skill(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    workspace.skill("shared/a")
    workspace.link("ext/skills", workspace.path("shared"))
    registry(workspace, OWN, p__m="cache/p")
    workspace.skill("cache/p/skills", "self")
    workspace.skill("cache/p/skills/b")
    assert sources(workspace.scan(HOST)) == {
        "a": "omp-plugins:user",
        "b": "claude-plugins:user",
        "self": "claude-plugins:user",
    }


def test_a_manifest_adds_folders_and_a_folder_can_be_a_skill(workspace: Workspace):
    registry(workspace, OWN, p__m="cache/p")
    manifest = {"name": "p", "skills": ["./extra", "./single", "../../out"]}
    write_json(workspace, "cache/p/.claude-plugin/plugin.json", manifest)
    for folder in ("skills/usual", "extra/more", "single"):
        workspace.skill(f"cache/p/{folder}")
    assert set(sources(workspace.scan(HOST))) == {"usual", "more", "single"}


def test_plugins_that_are_each_the_whole_marketplace_have_only_what_they_list(
    workspace: Workspace,
):
    registry(workspace, OWN, one__m="cache/m")
    listed = [
        {"name": "one", "source": "./", "skills": ["./skills/a"]},
        {"name": "two", "source": "./", "skills": ["./skills/b"]},
    ]
    write_json(workspace, "cache/m/.claude-plugin/marketplace.json", {"plugins": listed})
    for name in "ab":
        workspace.skill(f"cache/m/skills/{name}")
    assert set(sources(workspace.scan(HOST))) == {"a"}


def test_a_bad_entry_costs_only_itself(workspace: Workspace):
    data = {
        "version": 2,
        "plugins": {
            "no-marketplace": [{"installPath": workspace.path("cache/x")}],
            "no-path@m": [{}],
            "../up@m": [{"installPath": workspace.path("cache/x")}],
            "odd@m": 3,
            "gone@m": [{"installPath": workspace.path("gone")}],
            "off@m": [{"installPath": workspace.path("cache/x"), "enabled": False}],
            "good@m": [{"installPath": workspace.path("cache/good")}],
        },
    }
    write_json(workspace, OWN, data)
    workspace.skill("cache/x/skills/x")
    workspace.skill("cache/good/skills/good")
    snapshot = workspace.scan(HOST)
    assert set(sources(snapshot)) == {"good"}
    assert sorted(one.code for one in snapshot.diagnostics) == [
        *["plugin-invalid"] * 4,
        "plugin-missing",
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"plugins": []}', "[" * 100_000])
def test_a_list_that_cannot_be_read_costs_only_its_plugins(workspace: Workspace, text: str):
    workspace.write(OWN, text)
    workspace.skill("home/.omp/agent/skills/mine")
    snapshot = workspace.scan(HOST)
    assert set(sources(snapshot)) == {"mine"}
    assert [one.code for one in snapshot.diagnostics] == ["plugin-list-unreadable"]


# Agent Plugins 1.0


def standard(workspace: Workspace, folder: str, **fields: Any) -> None:
    data = {"$schema": STANDARD, "name": folder.rpartition("/")[2], **fields}
    write_json(workspace, f"{folder}/plugin.json", data)


def test_a_plugin_of_the_standard_has_its_own_provider_and_strict_skills(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    standard(workspace, "ext", version="1.0.0", surprising=1)
    workspace.skill("ext/skills/good", license="MIT")
    workspace.skill("ext/skills/hidden", hide="true")
    workspace.skill("ext/skills/other", "another-name")
    workspace.write("ext/skills/broken/SKILL.md", "---\nname: broken\ndescription: a: b\n---\n")
    workspace.skill("ext/skills/deep/er")
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"good": "agent-plugins:user"}
    assert {workspace.ends(snapshot)[f"ext/skills/{x}/SKILL.md"] for x in ("hidden", "other")} == {
        "invalid"
    }
    assert "plugin-field-unknown" in [one.code for one in snapshot.diagnostics]


@pytest.mark.parametrize(
    "header",
    [
        "description: d",
        "name: s",
        "name: s\ndescription: ''",
        "name: s\ndescription: 7",
        "name: S\ndescription: d",
        "name: s\ndescription: d\nlicense: [MIT]",
        "name: s\ndescription: d\nallowed-tools: [Read]",
        "name: s\ndescription: d\nmetadata: {a: [1]}",
        "name: s\ndescription: d\nenabled: true",
        "name: s\ndescription: d\ndisable-model-invocation: true",
        f"name: s\ndescription: {'x' * 1025}",
        f"name: s\ndescription: d\ncompatibility: {'x' * 501}",
    ],
)
def test_a_skill_that_breaks_the_standard_is_left_out_alone(workspace: Workspace, header: str):
    configure(workspace, extensions=[workspace.path("ext")])
    standard(workspace, "ext")
    workspace.write("ext/skills/s/SKILL.md", f"---\n{header}\n---\nBody\n")
    workspace.skill("ext/skills/good")
    assert sources(workspace.scan(HOST)) == {"good": "agent-plugins:user"}


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Upper"},
        {"name": "a--b"},
        {"name": "../up"},
        {"name": 3},
        {"version": 1},
        {"keywords": "x"},
        {"author": {"nick": "x"}},
        {"$schema": "https://agent-plugins.org/schemas/2.0.0/plugin.schema.json"},
    ],
)
def test_a_manifest_that_breaks_the_standard_rejects_its_plugin_alone(
    workspace: Workspace, fields: dict[str, Any]
):
    configure(workspace, extensions=[workspace.path("bad"), workspace.path("good")])
    standard(workspace, "bad", **fields)
    workspace.skill("bad/skills/x")
    workspace.skill("good/skills/y")
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"y": "omp-plugins:user"}
    assert [one.code for one in snapshot.diagnostics] == ["plugin-invalid"]


def test_a_plugin_json_of_something_else_is_no_manifest(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    write_json(workspace, "ext/plugin.json", {"name": "ext"})
    workspace.skill("ext/skills/a", hide="false")
    assert sources(workspace.scan(HOST)) == {"a": "omp-plugins:user"}


def test_links_out_of_a_plugin_of_the_standard_are_refused(workspace: Workspace):
    configure(workspace, extensions=[workspace.path("ext")])
    standard(workspace, "ext")
    workspace.skill("outside/out")
    workspace.skill("ext/shared/inner")
    workspace.link("ext/skills/out", "../../outside/out")
    workspace.link("ext/skills/inner", "../shared/inner")
    snapshot = workspace.scan(HOST)
    assert sources(snapshot) == {"inner": "agent-plugins:user"}
    assert workspace.ends(snapshot)["ext/skills/out/SKILL.md"] == "invalid"


def test_a_package_that_only_links_to_an_installed_plugin_counts_once(workspace: Workspace):
    registry(workspace, OWN, p__m="cache/p")
    write_json(workspace, "cache/p/package.json", {"name": "p", "omp": {"x": 1}})
    workspace.write("cache/p/skills/a/SKILL.md", skill_text("a"))
    os.makedirs(workspace.root / "home/.omp/plugins/node_modules")
    workspace.link("home/.omp/plugins/node_modules/p", workspace.path("cache/p"))
    lock = {"plugins": {"p": {"enabled": True}}}
    write_json(workspace, "home/.omp/plugins/omp-plugins.lock.json", lock)
    assert sources(workspace.scan(HOST)) == {"a": "claude-plugins:user"}
