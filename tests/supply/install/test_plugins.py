"""Installing the skills of plugins, by folder and by marketplace."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from prowess.errors.install import AgainstPolicy, InvalidSource, SourceFailed
from prowess.supply.install import plugin_fetch
from prowess.supply.install.fetch import FetchContext
from prowess.supply.install.plugin_fetch import PluginFetcher, parse_plugin
from prowess.testing.machine import make_facts
from tests.remote_server import RemoteServer
from tests.supply.install.conftest import Desk
from tests.supply.install.test_download import Seen
from tests.supply.install.test_install import load_lock
from tests.supply.install.test_policy import install, write_policy
from tests.workspace import skill_text

HOOKS = {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo"}]}]}


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running


def make_plugin(folder: str = "", name: str = "tools", skill: str = "alpha") -> dict[str, str]:
    """A plugin with a skill, and with all that is not installed."""
    top = f"{folder}/" if folder else ""
    return {
        f"{top}.claude-plugin/plugin.json": json.dumps({"name": name, "version": "1.0.0"}),
        f"{top}skills/{skill}/SKILL.md": skill_text(skill),
        f"{top}hooks/hooks.json": json.dumps({"hooks": HOOKS}),
        f"{top}.mcp.json": json.dumps({"mcpServers": {"x": {"command": "x"}}}),
        f"{top}commands/go.md": "Go.",
    }


def make_market(*entries: Mapping[str, Any], **fields: Any) -> dict[str, str]:
    """A marketplace with these plugins."""
    data = {"name": "market", "owner": {"name": "Ann"}, "plugins": list(entries), **fields}
    return {".claude-plugin/marketplace.json": json.dumps(data)}


def make_two_plugins() -> dict[str, str]:
    """A marketplace with two plugins in folders of it."""
    return {
        **make_market(
            {"name": "tools", "source": "./plugins/tools"},
            {"name": "other", "source": "./plugins/other"},
        ),
        **make_plugin("plugins/tools"),
        **make_plugin("plugins/other", "other", "beta"),
        "README.md": "Not a part of any plugin.",
    }


@pytest.mark.parametrize(
    ("text", "location", "shown", "ref"),
    [
        ("plugin:pdf@ann/market", "ann/market", "plugin:pdf@ann/market", ""),
        ("plugin:pdf@ann/market/sub#v1", "ann/market/sub", "plugin:pdf@ann/market/sub", "v1"),
        ("plugin:./one", "/w/one", "plugin:./one", ""),
        ("plugin:pdf@/m/x.git#v1", "/m/x.git", "plugin:pdf@/m/x.git", "v1"),
        (
            "plugin:pdf@https://x.example/m.json",
            "https://x.example/m.json",
            "plugin:pdf@https://x.example/m.json",
            "",
        ),
    ],
)
def test_what_can_be_written_for_a_plugin(text: str, location: str, shown: str, ref: str) -> None:
    found = parse_plugin(text, "/w")
    assert found is not None
    assert (found.location, found.text, found.ref) == (location, shown, ref)


@pytest.mark.parametrize(
    "text", ["plugin:", "plugin:x@", "plugin:x@~/m", "plugin:x@nothing", "plugin:x@ann/m/../.."]
)
def test_what_is_no_plugin_is_refused(text: str) -> None:
    with pytest.raises(InvalidSource):
        parse_plugin(text, "/w")


def test_the_skills_of_a_plugin_are_installed_and_nothing_else(desk: Desk) -> None:
    desk.source(make_plugin(), folder="project/parts")
    shown = desk.run("install", "plugin:./parts", "--dry-run")
    assert shown.code == 0
    assert (
        "tools also has hooks, MCP servers and commands; only its skills are installed"
        in shown.out + shown.err
    )
    assert desk.run("install", "plugin:./parts", "--yes").code == 0
    assert list(desk.installed()) == ["alpha/SKILL.md"]
    (entry,) = load_lock(desk).skills
    assert (entry.kind, entry.source, entry.path) == ("plugin", "plugin:./parts", "skills/alpha")
    assert desk.run("verify").code == 0


def test_a_plugin_that_is_typed_in_a_subfolder_is_noted_from_the_top(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.source(make_plugin(), folder="project/sub/parts")
    monkeypatch.chdir(desk.project / "sub")
    assert desk.run("install", "plugin:./parts", "--yes").code == 0
    assert [one.source for one in load_lock(desk).skills] == ["plugin:./sub/parts"]


def test_a_plugin_of_a_marketplace_in_git_is_installed_updated_and_restored(desk: Desk) -> None:
    folder = desk.repository(make_two_plugins(), name="market.git")
    source = f"plugin:tools@{folder}"
    assert desk.run("install", source, "--yes").code == 0
    (entry,) = load_lock(desk).skills
    commit = desk.do_git(folder, "rev-parse", "HEAD")
    assert (entry.source, entry.resolved, entry.path) == (
        source,
        commit,
        "plugins/tools/skills/alpha",
    )
    before = desk.installed()
    assert list(before) == ["alpha/SKILL.md"]
    assert desk.run("outdated").out == "All installed skills are up to date.\n"
    changed = {"plugins/tools/skills/alpha/SKILL.md": skill_text("alpha", "New.")}
    desk.repository(changed, name="market.git")
    desk.forget()
    assert desk.run("sync").code == 0
    assert desk.installed() == before
    (outdated,) = desk.json("outdated")["skills"]
    assert outdated["state"] == "outdated"
    assert desk.run("update", "--yes").code == 0
    assert b"New." in desk.installed()["alpha/SKILL.md"]


def test_a_plugin_that_is_the_whole_marketplace_has_the_skills_of_its_entry(desk: Desk) -> None:
    files = {
        **make_market(
            {"name": "docs", "source": "./", "strict": False, "skills": ["./skills/alpha"]},
            {"name": "rest", "source": "./", "strict": False, "skills": ["./skills/beta"]},
        ),
        "skills/alpha/SKILL.md": skill_text("alpha"),
        "skills/beta/SKILL.md": skill_text("beta"),
    }
    folder = desk.repository(files, name="market.git")
    assert desk.run("install", f"plugin:docs@{folder}", "--yes").code == 0
    assert list(desk.installed()) == ["alpha/SKILL.md"]


def test_a_marketplace_in_an_archive(desk: Desk) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in make_two_plugins().items():
            archive.writestr(f"market-main/{path}", text)
    (desk.root / "m.zip").write_bytes(buffer.getvalue())
    assert desk.run("install", f"plugin:other@{desk.root}/m.zip", "--yes").code == 0
    assert list(desk.installed()) == ["beta/SKILL.md"]


@pytest.fixture
def is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine count as a server of somebody else."""
    monkeypatch.setattr(plugin_fetch, "find_private_host", lambda source: None)


@pytest.mark.usefixtures("is_public")
def test_a_plugin_in_a_repository_of_its_own_is_locked_with_both_commits(
    desk: Desk, server: RemoteServer
) -> None:
    plugin = desk.repository(make_plugin("inner"), name="plugin")
    offer(desk, server)
    entry = {
        "name": "tools",
        "source": {"source": "git-subdir", "url": f"{server.url}/plugin.git", "path": "inner"},
    }
    market = desk.repository(make_market(entry), name="market.git")
    assert desk.run("install", f"plugin:tools@{market}", "--yes").code == 0
    (locked,) = load_lock(desk).skills
    commits = [desk.do_git(one, "rev-parse", "HEAD") for one in (market, plugin)]
    assert (locked.resolved, locked.path) == ("+".join(commits), "inner/skills/alpha")
    before = desk.installed()
    desk.repository({"inner/skills/alpha/SKILL.md": skill_text("alpha", "New.")}, "plugin")
    offer(desk, server)
    desk.forget()
    assert desk.run("sync").code == 0
    assert desk.installed() == before
    assert desk.run("update", "--yes").code == 0
    assert b"New." in desk.installed()["alpha/SKILL.md"]


@pytest.mark.usefixtures("is_public")
def test_a_list_of_plugins_at_a_url(desk: Desk, server: RemoteServer) -> None:
    plugin = desk.repository(make_plugin(), name="plugin")
    offer(desk, server)
    (listed,) = make_market(
        {"name": "tools", "source": {"source": "url", "url": f"{server.url}/plugin.git"}},
        {"name": "near", "source": "./near"},
    ).values()
    server.routes["/market.json"] = listed
    assert desk.run("install", f"plugin:tools@{server.url}/market.json", "--yes").code == 0
    commit = desk.do_git(plugin, "rev-parse", "HEAD")
    assert [one.resolved for one in load_lock(desk).skills] == [f"+{commit}"]
    near = desk.run("install", f"plugin:near@{server.url}/market.json", "--yes")
    assert (near.code, "the folder near of the plugin is missing" in near.err) == (4, True)


def test_the_download_of_a_list_is_reported_in_percent(desk: Desk, server: RemoteServer) -> None:
    url = f"{server.url}/market.json"
    (listed,) = make_market({"name": "near", "source": "./near"}).values()
    server.routes["/market.json"] = listed
    source = parse_plugin(f"plugin:near@{url}", "/")
    assert source is not None
    seen = Seen()
    context = FetchContext(facts=make_facts(str(desk.home)), reporter=seen)
    with pytest.raises(SourceFailed, match="the folder near of the plugin is missing"):
        PluginFetcher().fetch(source, str(desk.root / "staging"), context)
    assert seen.told[-1] == (f"downloading {url}, percent", 100)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("../outside", "not a folder of the marketplace"),
        ("/etc", "not a folder of the marketplace"),
        (
            {"source": "npm", "package": "x"},
            "its source is “npm”; Prowess installs from folders, github, url, git-subdir",
        ),
        ({"source": "github"}, "its source “github” has no `repo`"),
        ({"source": "url", "url": "file:///etc/x.git"}, "is not a public git repository"),
        ({"source": "url", "url": "/etc/x.git"}, "is not a public git repository"),
        ({"source": "url", "url": "https://127.0.0.1/x.git"}, "is not a public git repository"),
        ({"source": "url", "url": "https://x.example/x.zip"}, "is not a public git repository"),
        ({"source": "url", "url": "ext::sh -c id"}, "the plugin “tools”"),
        ({"source": "github", "repo": "a/b", "ref": "--upload-pack=x"}, "the plugin “tools”"),
        (7, "it has no source; Prowess installs from folders"),
    ],
)
def test_a_marketplace_cannot_lead_elsewhere(desk: Desk, source: Any, problem: str) -> None:
    files = {**make_market({"name": "tools", "source": source}), "x/SKILL.md": skill_text("x")}
    folder = desk.source(files)
    result = desk.run("install", f"plugin:tools@{folder}", "--yes")
    assert (result.code, desk.tree()) == (5, [])
    assert problem in result.err


def test_an_unknown_plugin_names_those_that_there_are(desk: Desk) -> None:
    folder = desk.source(make_two_plugins())
    wrong = desk.run("install", f"plugin:tool@{folder}", "--yes")
    assert (wrong.code, "it has no plugin “tool”" in wrong.err) == (4, True)
    assert "with one of tools, other" in wrong.err
    several = desk.run("install", f"plugin:{folder}", "--yes")
    assert (several.code, "it has several plugins" in several.err) == (4, True)


def test_what_is_no_plugin_says_so(desk: Desk) -> None:
    folder = desk.source({"skills/alpha/SKILL.md": skill_text("alpha")})
    result = desk.run("install", f"plugin:{folder}", "--yes")
    assert (result.code, "neither a plugin nor a marketplace" in result.err) == (4, True)


@pytest.mark.parametrize("is_git", [False, True])
def test_a_skill_with_a_link_is_refused_and_its_plugin_is_not(desk: Desk, is_git: bool) -> None:
    name = "plugin.git" if is_git else "plugin"
    folder = desk.root / name
    desk.source({**make_plugin(), "skills/beta/SKILL.md": skill_text("beta")}, folder=name)
    os.symlink("/etc/passwd", folder / "skills/beta/secret")
    if is_git:
        desk.do_git(folder, "init", "--quiet", "--initial-branch=main")
        desk.commit(folder)
    result = desk.run("install", f"plugin:{folder}", "--yes")
    assert (result.code, list(desk.installed())) == (0, ["alpha/SKILL.md"])
    assert "skills/beta" in result.out + result.err


def test_a_policy_can_name_plugins(desk: Desk) -> None:
    folder = desk.source(make_plugin())
    write_policy(desk, 'sources = ["plugin:*@ann/*"]')
    with pytest.raises(AgainstPolicy, match="is not an allowed source"):
        install(desk, f"plugin:{folder}")
    write_policy(desk, f'sources = ["plugin:{desk.root}/*"]')
    assert [one.name for one in install(desk, f"plugin:{folder}")] == ["alpha"]


@pytest.mark.usefixtures("is_public")
def test_a_marketplace_on_this_disk_does_not_make_a_fresh_plugin_old_enough(
    desk: Desk, server: RemoteServer
) -> None:
    desk.repository(make_plugin(), name="plugin")
    offer(desk, server)
    far = {"name": "far", "source": {"source": "url", "url": f"{server.url}/plugin.git"}}
    near = {"name": "near", "source": "./near"}
    market = desk.source({**make_market(far, near), **make_plugin("near", "near", "beta")})
    write_policy(desk, "minimum_age = 7")
    with pytest.raises(AgainstPolicy, match="a release must be at least 7 days old"):
        install(desk, f"plugin:far@{market}")
    assert [one.name for one in install(desk, f"plugin:near@{market}")] == ["beta"]


def test_the_bill_of_materials_has_the_plugin(desk: Desk) -> None:
    folder = desk.source(make_plugin())
    assert desk.run("install", f"plugin:{folder}", "--yes").code == 0
    (component,) = json.loads(desk.run("sbom").out)["components"]
    facts = {one["name"]: one["value"] for one in component["properties"]}
    assert facts["prowess:source"] == f"plugin:{folder}"


def offer(desk: Desk, server: RemoteServer, name: str = "plugin") -> Path:
    """Offer a repository on the server, as it is now; the files of the bare copy are routes."""
    bare = desk.root / f"{name}-bare"
    shutil.rmtree(bare, ignore_errors=True)
    desk.do_git(desk.root, "clone", "--quiet", "--bare", str(desk.root / name), str(bare))
    desk.do_git(bare, "update-server-info")
    for file in bare.rglob("*"):
        if file.is_file():
            server.routes[f"/{name}.git/{file.relative_to(bare)}"] = file.read_bytes()
    return bare
