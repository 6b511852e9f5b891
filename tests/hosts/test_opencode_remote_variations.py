"""More indexes as opencode 1.18.33 reads them: names, layouts, versions and broken entries."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from prowess.supply.sources import RefreshRequest, open_sources
from tests.hosts.test_opencode_remote import listed, scan
from tests.remote_server import RemoteServer
from tests.workspace import Workspace, skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    with RemoteServer() as running:
        yield running


def offer(server: RemoteServer, *entries: object) -> None:
    """An index of these entries, and a SKILL.md for each name in it."""
    server.routes["/index.json"] = json.dumps({"skills": entries})
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            name = entry["name"]
            server.routes[f"/{name}/SKILL.md"] = skill_text(name.rpartition("/")[2], f"In {name}.")


def entry(name: str, *more: str, **fields: object) -> dict[str, object]:
    return {"name": name, "files": ["SKILL.md", *more], **fields}


def test_an_empty_index_gives_no_skills_and_no_trouble(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server)
    snapshot = scan(workspace, server.url)
    assert (listed(snapshot), snapshot.diagnostics) == ({}, ())


def test_a_name_can_have_folders(workspace: Workspace, server: RemoteServer) -> None:
    offer(server, entry("group/one"), entry("group/two"), entry("one"))
    found = listed(scan(workspace, server.url))
    # Both are called `one`, and the last one that is read has the name.
    assert set(found) == {"one", "two"}


def test_a_hidden_folder_inside_a_skill_is_not_searched(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one", ".inner/SKILL.md"))
    server.routes["/one/.inner/SKILL.md"] = skill_text("inner")
    assert set(listed(scan(workspace, server.url))) == {"one"}


@pytest.mark.parametrize("name", ["Upper_Case", "with space", "naïve", "a.b", "100%"])
def test_a_folder_can_have_any_name_that_stays_inside(
    workspace: Workspace, server: RemoteServer, name: str
) -> None:
    from urllib.parse import quote

    offer(server, entry(name))
    server.routes[f"/{quote(name)}/SKILL.md"] = skill_text("fine", "d")
    assert listed(scan(workspace, server.url)) == {"fine": "d"}


def test_a_name_that_is_listed_twice_is_one_skill(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one"), entry("one"))
    assert listed(scan(workspace, server.url)) == {"one": "In one."}


def test_a_url_that_is_named_twice_is_one_source(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one"))
    snapshot = scan(workspace, server.url, server.url)
    assert listed(snapshot) == {"one": "In one."}
    assert server.requests.count("/index.json") == 1


@pytest.mark.parametrize("text", ["Only text.\n", "", "---\nname: 7\n---\n", "---\nname: [\n---\n"])
def test_a_skill_md_that_the_host_cannot_read_costs_only_itself(
    workspace: Workspace, server: RemoteServer, text: str
) -> None:
    offer(server, entry("bad"), entry("good"))
    server.routes["/bad/SKILL.md"] = text
    assert listed(scan(workspace, server.url)) == {"good": "In good."}


def test_a_skill_without_a_description_is_listed(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one"))
    server.routes["/one/SKILL.md"] = "---\nname: one\n---\nx\n"
    assert listed(scan(workspace, server.url)) == {"one": None}


def test_nested_files_are_fetched_with_their_folders(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one", "references/deep/a.md", "scripts/run.sh"))
    server.routes["/one/references/deep/a.md"] = "A"
    server.routes["/one/scripts/run.sh"] = "echo"
    snapshot = scan(workspace, server.url)
    skill = next(one.skill for one in snapshot.shown if one.name == "one")
    assert skill is not None
    files = workspace.open("opencode", sources=open_sources(offline=True)).project.files
    assert files.find_kind(f"{skill.folder}/references/deep/a.md") == "file"
    assert files.find_kind(f"{skill.folder}/scripts/run.sh") == "file"


def test_a_file_without_a_version_is_never_fetched_again(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("one"))
    assert listed(scan(workspace, server.url)) == {"one": "In one."}
    server.routes["/one/SKILL.md"] = skill_text("one", "Changed.")
    again = workspace.scan("opencode", sources=open_sources())
    assert listed(again) == {"one": "In one."}


def test_a_new_version_replaces_all_files(workspace: Workspace, server: RemoteServer) -> None:
    offer(server, entry("one", "old.md", version="1"))
    server.routes["/one/old.md"] = "old"
    scan(workspace, server.url)
    offer(server, entry("one", "new.md", version="2"))
    server.routes["/one/SKILL.md"] = skill_text("one", "Second.")
    server.routes["/one/new.md"] = "new"
    again = workspace.open("opencode", sources=open_sources(refresh=RefreshRequest()))
    assert listed(again.snapshot) == {"one": "Second."}
    folder = next(one.folder for one in again.snapshot.skills if one.name == "one")
    kinds = [again.project.files.find_kind(f"{folder}/{name}") for name in ("old.md", "new.md")]
    assert kinds == [None, "file"]


def test_a_string_that_is_no_url_costs_only_itself(
    workspace: Workspace, server: RemoteServer
) -> None:
    # The release ends with an error instead; nobody could want that.
    offer(server, entry("one"))
    snapshot = scan(workspace, "not a url", server.url)
    assert listed(snapshot) == {"one": "In one."}
    assert len(snapshot.diagnostics) == 1


def test_a_remote_skill_replaces_the_built_in_one(
    workspace: Workspace, server: RemoteServer
) -> None:
    offer(server, entry("customize-opencode"))
    assert listed(scan(workspace, server.url)) == {"customize-opencode": "In customize-opencode."}


@pytest.mark.parametrize(
    "bad",
    [
        entry("../../../escape"),
        entry("/abs"),
        {"name": "x", "files": ["SKILL.md", "../../../../pwned.txt"]},
        {"name": "x", "files": ["SKILL.md", "/etc/pwned.txt"]},
        {"name": "x", "files": ["SKILL.md", "https://elsewhere.example/pwned.txt"]},
        {"name": "x", "files": ["SKILL.md", "..%2f..%2fpwned.txt"]},
    ],
)
def test_an_entry_that_leaves_its_folder_costs_only_itself(
    workspace: Workspace, server: RemoteServer, bad: dict[str, object]
) -> None:
    offer(server, entry("good"), bad)
    server.routes["/pwned.txt"] = "pwned"
    before = {path for path in workspace.root.rglob("*") if path.name == "pwned.txt"}
    assert "good" in listed(scan(workspace, server.url))
    after = {path for path in workspace.root.rglob("*") if path.name == "pwned.txt"}
    assert before == after == set()
