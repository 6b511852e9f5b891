"""Plugins that attack: paths that lead out, huge and deep files, loops, and stolen names."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from tests.effort import soon
from tests.workspace import Workspace

CLAUDE = "home/.claude/plugins"
CACHE = f"{CLAUDE}/cache"
STANDARD = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def write_json(workspace: Workspace, path: str, data: Any) -> None:
    workspace.write(path, json.dumps(data))


def install(workspace: Workspace, **folders: str) -> None:
    """Install plugins of the marketplace `m` with Claude Code, and turn them on."""
    entries = {
        f"{name}@m": [{"scope": "user", "installPath": workspace.path(folder)}]
        for name, folder in folders.items()
    }
    write_json(workspace, f"{CLAUDE}/installed_plugins.json", {"version": 2, "plugins": entries})
    switches = dict.fromkeys(entries, True)
    write_json(workspace, "home/.claude/settings.json", {"enabledPlugins": switches})


def codes(snapshot: Snapshot) -> list[str]:
    return [one.code for one in snapshot.diagnostics]


# Paths


@pytest.mark.parametrize("host", ["claude-code", "prowess"])
@pytest.mark.parametrize("field", ["skills", "commands", "agents", "hooks", "mcpServers"])
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "../../../..",
        "/etc",
        "./ok/../../secret",
        "./link",
        "./link/deeper",
        "..\\secret",
        "ok/\0/x",
        "~/secret",
    ],
)
def test_a_manifest_reaches_nothing_outside_its_plugin(
    workspace: Workspace, host: str, field: str, path: str
):
    install(workspace, p=f"{CACHE}/p")
    write_json(workspace, f"{CACHE}/p/.claude-plugin/plugin.json", {"name": "p", field: path})
    for folder in (f"{CACHE}/secret", "home/secret"):
        workspace.skill(f"{folder}/stolen")
        workspace.skill(f"{folder}/deeper/stolen")
        workspace.write(f"{folder}/agent.md", "---\ndescription: d\n---\n")
    workspace.link(f"{CACHE}/p/link", "../secret")
    workspace.skill(f"{CACHE}/p/skills/good", "")
    skills = workspace.open(host)
    assert {outcome.name for outcome in skills.snapshot.outcomes} == {"p:good"}
    [contents] = skills.plugins()
    assert (contents.agents, contents.hooks, contents.servers) == ((), (), ())
    # `~` is no home here, but a name like any other, and nothing has it.
    if not path.startswith("~"):
        assert "plugin-path-outside" in codes(skills.snapshot)


@pytest.mark.parametrize("host", ["claude-code", "prowess"])
def test_links_in_a_plugin_lead_nowhere_else(workspace: Workspace, host: str):
    install(workspace, p=f"{CACHE}/p", q=f"{CACHE}/q")
    workspace.skill("secret/stolen")
    workspace.write("secret/agent.md", "---\ndescription: d\n---\n")
    write_json(workspace, "secret/hooks.json", {"hooks": {"Stop": []}})
    workspace.link(f"{CACHE}/p/skills", workspace.path("secret"))
    workspace.link(f"{CACHE}/p/agents", workspace.path("secret"))
    workspace.link(f"{CACHE}/p/hooks/hooks.json", workspace.path("secret/hooks.json"))
    workspace.link(f"{CACHE}/p/.mcp.json", workspace.path("secret/hooks.json"))
    workspace.link(f"{CACHE}/q/skills/stolen", workspace.path("secret/stolen"))
    workspace.write(f"{CACHE}/q/skills/half/x")
    workspace.link(f"{CACHE}/q/skills/half/SKILL.md", workspace.path("secret/stolen/SKILL.md"))
    workspace.link(f"{CACHE}/q/agents/a.md", workspace.path("secret/agent.md"))
    skills = workspace.open(host)
    assert skills.snapshot.skills == ()
    assert {outcome.state for outcome in skills.snapshot.outcomes} == {State.INVALID}
    assert [one.agents for one in skills.plugins()] == [(), ()]
    assert all(not one.plugin.hook_files for one in skills.plugins())


def test_a_marketplace_reaches_nothing_outside_its_folder(workspace: Workspace):
    listed = [
        {"name": f"p{number}", "source": source}
        for number, source in enumerate(["../secret", "/etc", "./link", "a/../../secret", "\0"])
    ]
    write_json(
        workspace, "market/.claude-plugin/marketplace.json", {"name": "m", "plugins": listed}
    )
    workspace.skill("secret/skills/stolen")
    workspace.link("market/link", "../secret")
    switches = ", ".join(f'"p{number}@m" = true' for number in range(len(listed)))
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'plugins = ["{workspace.path("market")}"]\nenabled_plugins = {{ {switches} }}\n',
    )
    snapshot = workspace.scan()
    assert snapshot.outcomes == ()
    assert codes(snapshot) == ["plugin-path-outside"] * len(listed)


def test_the_root_of_plugins_in_a_marketplace_stays_inside_too(workspace: Workspace):
    marketplace = {
        "name": "m",
        "metadata": {"pluginRoot": "../.."},
        "plugins": [{"name": "p", "source": "secret"}],
    }
    write_json(workspace, "market/.claude-plugin/marketplace.json", marketplace)
    workspace.skill("secret/skills/stolen")
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'plugins = ["{workspace.path("market")}"]\nenabled_plugins = {{ "p@m" = true }}\n',
    )
    assert workspace.scan().outcomes == ()


@pytest.mark.parametrize("path", ["", ".", "..", "relative/path", "/\0", 3, None, ["/x"]])
def test_a_list_with_an_odd_path_costs_only_that_plugin(workspace: Workspace, path: Any):
    install(workspace, good=f"{CACHE}/good")
    workspace.skill(f"{CACHE}/good/skills/s", "")
    place = workspace.root / CLAUDE / "installed_plugins.json"
    data = json.loads(place.read_text(encoding="utf-8"))
    data["plugins"]["bad@m"] = [{"scope": "user", "installPath": path}]
    place.write_text(json.dumps(data), encoding="utf-8")
    assert {skill.name for skill in workspace.scan("claude-code").skills} == {"good:s"}


# Size and shape


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"name": ' * 50_000,
        '{"name": "' + "a" * 1_000_000 + '"}',
        '{"name": "p", "x": "' + "y" * 10_000_000 + '"}',
        "",
        "\ufeff{}",
        "null",
        '"p"',
        "\x00" * 1_000,
    ],
    ids=["deep", "nested", "long-name", "huge", "empty", "bom", "null", "text", "zeros"],
)
@pytest.mark.parametrize("manifest", [".claude-plugin/plugin.json", "plugin.json"])
def test_a_hostile_manifest_costs_its_own_plugin_and_no_time(
    workspace: Workspace, manifest: str, text: str
):
    install(workspace, bad=f"{CACHE}/bad", good=f"{CACHE}/good")
    workspace.write(f"{CACHE}/bad/{manifest}", text)
    workspace.skill(f"{CACHE}/good/skills/s", "")
    skills = {skill.name for skill in soon(workspace.scan).skills}
    assert "good:s" in skills


def test_a_manifest_that_is_a_pipe_is_not_waited_for(workspace: Workspace):
    install(workspace, bad=f"{CACHE}/bad", good=f"{CACHE}/good")
    folder = workspace.root / CACHE / "bad/.claude-plugin"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "plugin.json")
    os.mkfifo(workspace.root / CACHE / "bad/.mcp.json")
    workspace.skill(f"{CACHE}/good/skills/s", "")
    assert {skill.name for skill in workspace.scan("claude-code").skills} == {"good:s"}


def test_a_marketplace_that_lists_itself_and_endless_plugins_ends(workspace: Workspace):
    listed: list[Any] = [{"name": "self", "source": "./"}, *([{"name": "x", "source": "./"}] * 9)]
    listed += [{"name": f"n{number}", "source": "./"} for number in range(5_000)]
    write_json(
        workspace, "market/.claude-plugin/marketplace.json", {"name": "m", "plugins": listed}
    )
    workspace.link("market/skills", ".")
    workspace.link("market/again", "..")
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'plugins = ["{workspace.path("market")}"]\nenabled_plugins = {{ "self@m" = true }}\n',
    )
    skills = workspace.open()
    assert skills.snapshot.skills == ()
    assert len(skills.project.load_plugins(packages=False)) <= 1_000


def test_a_manifest_that_names_many_paths_is_cut(workspace: Workspace):
    install(workspace, p=f"{CACHE}/p")
    paths = [f"./s{number}" for number in range(5_000)]
    write_json(workspace, f"{CACHE}/p/.claude-plugin/plugin.json", {"name": "p", "skills": paths})
    snapshot = workspace.scan("claude-code")
    assert "limit-reached" in codes(snapshot)
    assert len(snapshot.roots) < 1_000


# Names


@pytest.mark.parametrize(
    "name",
    [
        "../up",
        "a/b",
        "a\\b",
        "a:b",
        "a@b",
        "a b",
        "a\nb",
        "a\x1b[31m",
        "\u202ereversed",
        ".hidden",
        "x" * 65,
        "<tag>",
    ],
)
def test_a_name_that_means_more_than_a_name_is_refused(workspace: Workspace, name: str):
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'plugins = ["{workspace.path("bad")}", "{workspace.path("good")}"]\n',
    )
    write_json(workspace, "bad/.claude-plugin/plugin.json", {"name": name})
    workspace.skill("bad/skills/s")
    write_json(workspace, "good/.claude-plugin/plugin.json", {"name": "good"})
    workspace.skill("good/skills/s")
    snapshot = workspace.scan()
    assert [skill.name for skill in snapshot.skills] == ["good:s"]
    assert codes(snapshot) == ["plugin-invalid"]
    assert snapshot.diagnostics[0].message.isprintable()


@pytest.mark.parametrize("id", ["../x@m", "a/b@m", "x@../m", "x", "@m", "x@", "x\0@m", ""])
def test_an_id_that_leads_elsewhere_is_none(workspace: Workspace, id: str):
    entry = {"scope": "user", "installPath": workspace.path("p")}
    data = {"version": 2, "plugins": {id: [entry]}}
    write_json(workspace, f"{CLAUDE}/installed_plugins.json", data)
    write_json(workspace, "home/.claude/settings.json", {"enabledPlugins": {id: True}})
    workspace.skill("p/skills/s")
    snapshot = workspace.scan("claude-code")
    assert snapshot.skills == ()
    assert all(one.message.isprintable() for one in snapshot.diagnostics)


def test_a_plugin_cannot_take_the_name_of_another(workspace: Workspace):
    install(workspace, office=f"{CACHE}/office", evil=f"{CACHE}/evil")
    write_json(workspace, f"{CACHE}/office/.claude-plugin/plugin.json", {"name": "office"})
    write_json(workspace, f"{CACHE}/evil/.claude-plugin/plugin.json", {"name": "office"})
    workspace.skill(f"{CACHE}/office/skills/pdf", "")
    workspace.skill(f"{CACHE}/evil/skills/pdf", "")
    snapshot = workspace.scan("claude-code")
    found = {skill.name: workspace.relative(skill.folder) for skill in snapshot.skills}
    assert found == {
        "office:pdf": f"{CACHE}/office/skills/pdf",
        "evil:pdf": f"{CACHE}/evil/skills/pdf",
    }
    assert codes(snapshot) == ["plugin-name-differs"]


def test_a_marketplace_cannot_take_the_plugin_of_another(workspace: Workspace):
    for market in ("mine", "theirs"):
        listed = [{"name": "office", "source": "./office"}]
        path = f"{market}/.claude-plugin/marketplace.json"
        write_json(workspace, path, {"name": "trusted", "plugins": listed})
        workspace.skill(f"{market}/office/skills/{market}")
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'plugins = ["{workspace.path("mine")}", "{workspace.path("theirs")}"]\n'
        'enabled_plugins = { "office@trusted" = true }\n',
    )
    snapshot = workspace.scan()
    assert [skill.name for skill in snapshot.skills] == ["office:mine"]
    assert codes(snapshot) == ["plugin-name-taken"]


def test_a_project_cannot_replace_a_plugin_of_the_user(workspace: Workspace):
    workspace.git()
    install(workspace, office=f"{CACHE}/office")
    workspace.skill(f"{CACHE}/office/skills/pdf", "")
    folder = "project/.claude/skills/office"
    write_json(workspace, f"{folder}/.claude-plugin/plugin.json", {"name": "office"})
    workspace.skill(f"{folder}/skills/pdf", "")
    snapshot = workspace.scan("prowess")
    found = {skill.name: workspace.relative(skill.folder) for skill in snapshot.skills}
    # The skills of a plugin are the plugin's alone, also where its name is taken.
    assert found == {"office:pdf": f"{CACHE}/office/skills/pdf"}


def test_an_entry_point_runs_nothing_and_stays_in_its_package(workspace: Workspace):
    import msgspec

    from prowess.runtime import Skills

    site = "site-packages"
    workspace.write(f"{site}/pkg/__init__.py", "raise SystemExit('imported')\n")
    workspace.skill("secret/stolen")
    workspace.link(f"{site}/pkg/out", workspace.path("secret"))
    lines = "\n".join(
        ["a = pkg.out", "b = pkg:out", "c = pkg:../..", "d = ..", "e = os", "f = pkg:/etc"]
    )
    workspace.write(f"{site}/pkg-1.dist-info/entry_points.txt", f"[prowess.skills]\n{lines}\n")
    workspace.write(
        "home/.config/prowess/prowess.toml", 'enabled_plugins = { "pkg@python" = true }\n'
    )
    facts = msgspec.structs.replace(workspace.facts(), python_paths=(workspace.path(site),))
    snapshot = Skills(workspace.project, facts=facts, cache=False).snapshot
    assert snapshot.outcomes == ()


def test_a_standard_plugin_with_a_hostile_server_file_keeps_its_skills(workspace: Workspace):
    install(workspace, p=f"{CACHE}/p")
    write_json(workspace, f"{CACHE}/p/plugin.json", {"$schema": STANDARD, "name": "p"})
    workspace.skill(f"{CACHE}/p/skills/good")
    workspace.write(f"{CACHE}/p/mcp.json", "[" * 100_000)
    skills = workspace.open()
    assert [skill.name for skill in skills] == ["p:good"]
    [contents] = skills.plugins()
    assert (contents.servers, [one.code for one in contents.diagnostics]) == (
        (),
        ["plugin-invalid"],
    )


def test_a_version_with_digits_that_are_no_number_is_still_compared(workspace: Workspace) -> None:
    cache = "home/.codex/plugins/cache/m/p"
    workspace.write("home/.codex/config.toml", '[plugins."p@m"]\nenabled = true\n')
    workspace.skill(f"{cache}/1.0²/skills/old")
    workspace.skill(f"{cache}/2.0/skills/new")
    workspace.write(f"{cache}/2.0/.codex-plugin/plugin.json", '{"name": "p"}')
    assert list(workspace.listed(workspace.scan("codex"))) == ["p:new"]
