"""Remote skills as opencode 1.18.33 lists them, from what was measured with its release."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.supply.sources import open_sources
from tests.remote_server import RemoteServer
from tests.workspace import Workspace, skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    with RemoteServer() as running:
        yield running


def scan(workspace: Workspace, *urls: str, where: str = "project/opencode.json") -> Snapshot:
    workspace.git()
    workspace.write(where, json.dumps({"skills": {"urls": urls}}))
    return workspace.scan("opencode", sources=open_sources())


def listed(snapshot: Snapshot) -> dict[str, str | None]:
    return {one.name: one.skill.description for one in snapshot.shown if one.skill is not None}


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("where", ["project/opencode.json", "home/.config/opencode/opencode.json"])
def test_the_urls_of_every_settings_file_are_pulled_with_or_without_a_slash(
    workspace: Workspace, server: RemoteServer, slash: str, where: str
) -> None:
    server.offer("one", base="/skills")
    snapshot = scan(workspace, f"{server.url}/skills{slash}", where=where)
    assert listed(snapshot) == {"one": "About one."}
    assert server.requests == ["/skills/index.json", "/skills/one/SKILL.md"]


def test_the_name_is_that_of_the_header_and_the_index_names_only_the_folder(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("folder")
    server.routes["/folder/SKILL.md"] = skill_text("real", "d")
    assert listed(scan(workspace, server.url)) == {"real": "d"}


@pytest.mark.parametrize(
    "files", [["skill.md"], ["README.md"], [], ["sub/SKILL.md"], ["./SKILL.md"], ["SKILL.MD"]]
)
def test_an_entry_without_exactly_skill_md_is_dropped(
    workspace: Workspace, server: RemoteServer, files: list[str]
) -> None:
    entries = [{"name": "bad", "files": files}, {"name": "good", "files": ["SKILL.md"]}]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    for file in files:
        server.routes[f"/bad/{file}"] = skill_text("bad")
    server.routes["/good/SKILL.md"] = skill_text("good")
    assert listed(scan(workspace, server.url)) == {"good": "d"}


def test_names_that_differ_in_case_only_are_two_skills(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("One", "one")
    assert listed(scan(workspace, server.url)) == {"One": "About One.", "one": "About one."}


def test_a_skill_inside_a_skill_is_one_of_its_own(
    workspace: Workspace, server: RemoteServer
) -> None:
    files = {"SKILL.md": skill_text("outer"), "inner/deep/SKILL.md": skill_text("inner")}
    server.offer_files("outer", {**files})
    assert listed(scan(workspace, server.url)) == {"outer": "d", "inner": "d"}


def test_more_keys_are_ignored_and_the_version_is_one_of_them_to_begin_with(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("one", version="1.2.3", author={"name": "x"}, tags=["a"])
    assert listed(scan(workspace, server.url)) == {"one": "About one."}


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "bad"},
        {"name": "bad", "files": "SKILL.md"},
        {"name": "bad", "files": ["SKILL.md", 7]},
        {"name": "bad", "files": ["SKILL.md"], "version": 2},
        {"name": "bad", "files": ["SKILL.md"], "version": None},
        {"files": ["SKILL.md"]},
        {"name": 7, "files": ["SKILL.md"]},
        "bad",
    ],
    ids=str,
)
def test_one_entry_of_another_shape_costs_the_whole_index(
    workspace: Workspace, server: RemoteServer, entry: Any
) -> None:
    server.offer("good")
    good = {"name": "good", "files": ["SKILL.md"]}
    server.routes["/index.json"] = json.dumps({"skills": [good, entry]})
    snapshot = scan(workspace, server.url)
    assert listed(snapshot) == {}
    assert [one.code for one in snapshot.diagnostics] == ["source-index-invalid"]


@pytest.mark.parametrize("answer", [404, 500, "<html>", "", "[]", "{}"])
def test_an_index_that_cannot_be_read_gives_no_skills(
    workspace: Workspace, server: RemoteServer, answer: Any
) -> None:
    server.routes["/index.json"] = answer
    workspace.skill("project/.opencode/skills/local")
    assert listed(scan(workspace, server.url)) == {"local": "d"}


def test_of_two_urls_that_name_one_folder_the_first_is_used(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("same", "left", base="/a")
    server.offer("same", "right", base="/b")
    server.routes["/b/same/SKILL.md"] = skill_text("same", "The second.")
    snapshot = scan(workspace, f"{server.url}/a", f"{server.url}/b")
    assert listed(snapshot) == {
        "same": "About same.",
        "left": "About left.",
        "right": "About right.",
    }
    skipped = [one for one in snapshot.outcomes if one.state is State.SKIPPED]
    assert [one.name for one in skipped] == ["same"]
    assert f"{server.url}/a has “same” too" in str(skipped[0].reason)


def test_of_two_urls_with_one_name_in_different_folders_the_last_wins(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("x", base="/a")
    server.offer("y", base="/b")
    server.routes["/a/x/SKILL.md"] = skill_text("same", "First.")
    server.routes["/b/y/SKILL.md"] = skill_text("same", "Last.")
    assert listed(scan(workspace, f"{server.url}/a", f"{server.url}/b")) == {"same": "Last."}


def test_a_file_that_is_missing_costs_the_file_and_a_missing_skill_md_the_skill(
    workspace: Workspace, server: RemoteServer
) -> None:
    entries = [
        {"name": "part", "files": ["SKILL.md", "gone.md"]},
        {"name": "none", "files": ["SKILL.md"]},
        {"name": "whole", "files": ["SKILL.md", "gone.md"], "version": "1"},
    ]
    server.routes["/index.json"] = json.dumps({"skills": entries})
    for name in ("part", "whole"):
        server.routes[f"/{name}/SKILL.md"] = skill_text(name)
    assert listed(scan(workspace, server.url)) == {"part": "d"}


def test_the_list_of_a_project_replaces_that_of_the_user(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("mine", base="/mine")
    server.offer("theirs", base="/theirs")
    urls = {"skills": {"urls": [f"{server.url}/mine"]}}
    workspace.write("home/.config/opencode/opencode.json", json.dumps(urls))
    assert listed(scan(workspace, f"{server.url}/theirs")) == {"theirs": "About theirs."}


def test_the_release_writes_outside_its_cache_and_prowess_does_not(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer_files("evil", {"SKILL.md": skill_text("evil"), "../../../../pwned.txt": "x"})
    server.routes["/pwned.txt"] = "x"
    snapshot = scan(workspace, server.url)
    assert listed(snapshot) == {}
    assert [one.code for one in snapshot.diagnostics] == ["source-path-escapes"]
    assert not list(workspace.root.rglob("pwned.txt"))


def test_a_name_in_a_private_network_is_allowed_by_the_users_own_source(
    workspace: Workspace, server: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prowess.machine import http_client
    from prowess.machine.network_address import Endpoint

    def resolve(host: str, port: int, *, seconds: float) -> list[Endpoint]:
        return [Endpoint(socket.AF_INET, "127.0.0.1", port)]

    monkeypatch.setattr(http_client, "resolve", resolve)
    server.offer("one")
    url = server.url.replace("127.0.0.1", "skills.corp.example")
    assert [one.code for one in scan(workspace, url).diagnostics] == ["source-insecure"]
    text = f'[sources.corp]\nurl = "{url}"\nprivate = true\n'
    workspace.write("home/.config/prowess/prowess.toml", text)
    assert listed(workspace.scan("opencode", sources=open_sources())) == {"one": "About one."}


def test_the_label_is_the_hosts_own(workspace: Workspace, server: RemoteServer) -> None:
    server.offer("one")
    [found] = scan(workspace, server.url).skills
    assert (found.source.provider, found.source.label) == ("remote", "remote:global")
