"""Skills from remote indexes, through a scan: fetched, kept, used offline, and never trusted."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.supply.sources import open_sources
from tests.remote_server import RemoteServer, digest, send
from tests.workspace import Workspace, skill_text


def configure(workspace: Workspace, server: RemoteServer, more: str = "") -> None:
    """Name the server in the user's own settings."""
    if "seconds" not in more:
        # On a busy machine an answer takes longer than a user is kept waiting.
        table = "[network]\nseconds = 60\n"
        more = more.replace("[network]\n", table) if "[network]" in more else more + table
    workspace.write(
        "home/.config/prowess/prowess.toml", f'[sources.team]\nurl = "{server.url}"\n{more}'
    )


def scan(workspace: Workspace, host: str = "prowess", **options: Any) -> Snapshot:
    offline = options.pop("offline", False)
    return workspace.scan(host, sources=open_sources(offline=offline), **options)


def ready(snapshot: Snapshot) -> list[str]:
    return [one.name for one in snapshot.outcomes if one.state is State.READY]


def codes(snapshot: Snapshot) -> list[str]:
    return [one.code for one in snapshot.diagnostics]


def test_the_skills_of_an_index_are_listed_with_their_source(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy", "review")
    configure(workspace, server)
    snapshot = scan(workspace)
    assert ready(snapshot) == ["deploy", "review"]
    found = snapshot.find("deploy")
    assert found is not None
    assert found.skill is not None
    assert (found.skill.scope.value, found.skill.source.provider) == ("remote", "team")
    assert found.skill.content.strip() == "Body"
    assert snapshot.diagnostics == ()


def test_a_second_scan_fetches_nothing(workspace: Workspace, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(workspace, server)
    scan(workspace)
    before = list(server.requests)
    assert ready(scan(workspace)) == ["deploy"]
    assert server.requests == before


def test_a_cache_that_is_too_old_is_fetched_again(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    scan(workspace)
    server.offer("review")
    assert ready(scan(workspace)) == ["review"]


def test_offline_serves_the_cache_and_fetches_nothing(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    scan(workspace)
    server.stop()
    snapshot = scan(workspace, offline=True)
    assert ready(snapshot) == ["deploy"]
    assert snapshot.diagnostics == ()


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"offline": True}, ""),
        ({"env": {"PROWESS_OFFLINE": "1"}}, ""),
        ({}, "[network]\noffline = true\n"),
    ],
    ids=["option", "environment", "setting"],
)
def test_offline_without_a_cache_says_so(
    workspace: Workspace, server: RemoteServer, options: dict[str, Any], more: str
) -> None:
    server.offer("deploy")
    configure(workspace, server, more)
    snapshot = scan(workspace, **options)
    assert (ready(snapshot), codes(snapshot), server.requests) == ([], ["source-offline"], [])


def test_a_server_that_went_away_leaves_its_skills_and_says_how_old_they_are(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    scan(workspace)
    server.stop()
    snapshot = scan(workspace)
    assert ready(snapshot) == ["deploy"]
    assert codes(snapshot) == ["source-unreachable", "source-stale"]
    assert " ago." in snapshot.diagnostics[1].message


def test_a_server_that_hangs_is_waited_for_once(workspace: Workspace, server: RemoteServer) -> None:
    server.routes["/.well-known/agent-skills/index.json"] = server.hang
    configure(workspace, server, "[network]\nseconds = 0.3\n")
    workspace.skill("project/.agents/skills/local")
    first = scan(workspace)
    assert (ready(first), codes(first)) == (["local"], ["source-timeout"])
    asked = list(server.requests)
    second = scan(workspace)
    assert (ready(second), codes(second)) == (["local"], ["source-paused"])
    assert "failed" in second.diagnostics[0].message
    assert server.requests == asked


def test_several_servers_that_hang_cost_no_more_than_one(
    workspace: Workspace, server: RemoteServer
) -> None:
    # Each answers when all are asked, so one after the other they would hang.
    all_asked = threading.Barrier(8)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        all_asked.wait(120)
        send(handler, b'{"skills": []}')

    names = [f'[sources.s{number}]\nurl = "{server.url}/{number}.json"\n' for number in range(8)]
    for number in range(8):
        server.routes[f"/{number}.json"] = answer
    workspace.write(
        "home/.config/prowess/prowess.toml", "".join(names) + "[network]\nseconds = 100\n"
    )
    assert codes(scan(workspace)) == []
    assert len(server.requests) == 8


def test_one_bad_source_costs_only_its_own_skills(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy", base="/good")
    server.routes["/bad.json"] = "<html>"
    workspace.write(
        "home/.config/prowess/prowess.toml",
        f'[sources.bad]\nurl = "{server.url}/bad.json"\n[sources.good]\nurl = "{server.url}/good"\n',
    )
    snapshot = scan(workspace)
    assert (ready(snapshot), codes(snapshot)) == (["deploy"], ["source-index-invalid"])


def test_a_source_that_is_disabled_is_not_asked(workspace: Workspace, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(workspace, server, "enabled = false\n")
    assert (ready(scan(workspace)), server.requests) == ([], [])


def test_a_skill_of_the_user_beats_a_remote_one(workspace: Workspace, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(workspace, server)
    workspace.skill("home/.agents/skills/deploy", description="Mine.")
    found = scan(workspace).find("deploy")
    assert found is not None
    assert found.skill is not None
    assert found.skill.description == "Mine."


def test_the_index_of_a_project_that_is_not_trusted_is_not_asked(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy")
    workspace.git()
    workspace.write("project/prowess.toml", f'[sources.team]\nurl = "{server.url}"\n')
    snapshot = scan(workspace)
    assert (ready(snapshot), codes(snapshot), server.requests) == ([], ["source-untrusted"], [])
    assert ready(scan(workspace, trust=True)) == ["deploy"]


def test_a_project_cannot_change_a_source_of_the_user_or_allow_private_names(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(workspace, server)
    workspace.git()
    workspace.write(
        "project/prowess.toml",
        '[sources.team]\nurl = "https://evil.example"\n'
        '[sources.other]\nurl = "https://intranet.example"\nprivate = true\n'
        "[network]\nseconds = 600\n",
    )
    snapshot = scan(workspace, trust=True)
    assert ready(snapshot) == ["deploy"]
    assert codes(snapshot) == ["setting-ignored"] * 3


def test_a_skill_that_is_gone_from_the_index_is_gone(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer_files("a", {"SKILL.md": skill_text("a"), "refs/x.md": "x"}, version="1")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    first = scan(workspace).find("a")
    assert first is not None
    assert first.skill is not None
    folder = Path(first.skill.folder)
    assert (folder / "refs/x.md").read_text() == "x"
    server.offer_files("a", {"SKILL.md": skill_text("a", "New.")}, version="2")
    second = scan(workspace).find("a")
    assert second is not None
    assert second.skill is not None
    assert (second.skill.description, second.skill.folder) == ("New.", str(folder))
    assert sorted(os.listdir(folder)) == ["SKILL.md"]


def test_a_version_that_did_not_change_is_not_fetched_again(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer_files("a", {"SKILL.md": skill_text("a")}, version="1")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    scan(workspace)
    server.requests.clear()
    assert ready(scan(workspace)) == ["a"]
    assert "/a/SKILL.md" not in server.requests


def test_a_failed_update_keeps_every_file_of_the_old_version(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer_files("a", {"SKILL.md": skill_text("a", "Old."), "x.md": "old"}, version="1")
    configure(workspace, server, "[network]\nmax_age_hours = 0\n")
    scan(workspace)
    server.offer_files("a", {"SKILL.md": skill_text("a", "New."), "x.md": 404}, version="2")
    snapshot = scan(workspace)
    found = snapshot.find("a")
    assert found is not None
    assert found.skill is not None
    assert found.skill.description == "Old."
    assert (Path(found.skill.folder) / "x.md").read_text() == "old"
    assert codes(snapshot) == ["source-http-error"]


def test_a_file_that_is_missing_costs_a_skill_without_a_version_only_that_file(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer_files("a", {"SKILL.md": skill_text("a"), "x.md": 404})
    configure(workspace, server)
    snapshot = scan(workspace)
    assert (ready(snapshot), codes(snapshot)) == (["a"], ["source-file-missing"])


def test_the_well_known_index_is_found_and_its_digests_are_verified(
    workspace: Workspace, server: RemoteServer
) -> None:
    good, bad = skill_text("good"), skill_text("bad")
    entries = [
        {"name": "good", "type": "skill-md", "url": "good/SKILL.md", "digest": digest(good)},
        {"name": "bad", "type": "skill-md", "url": "/bad.md", "digest": digest("something else")},
    ]
    folder = "/.well-known/agent-skills"
    server.routes[f"{folder}/index.json"] = json.dumps(
        {
            "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
            "skills": entries,
        }
    )
    server.routes[f"{folder}/good/SKILL.md"] = good
    server.routes["/bad.md"] = bad
    configure(workspace, server)
    snapshot = scan(workspace)
    assert (ready(snapshot), codes(snapshot)) == (["good"], ["source-digest-mismatch"])


def test_the_older_well_known_folder_is_found_too(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.offer("old", base="/.well-known/skills")
    configure(workspace, server)
    assert ready(scan(workspace)) == ["old"]
    assert server.requests[:2] == [
        "/.well-known/agent-skills/index.json",
        "/.well-known/skills/index.json",
    ]


def test_a_server_that_asks_for_patience_gets_it(
    workspace: Workspace, server: RemoteServer
) -> None:
    answers = iter([503, 429])

    def busy(handler: Any) -> None:
        status = next(answers, 200)
        body = b'{"skills": []}' if status == 200 else b""
        send(handler, body, status=status, headers={"Retry-After": "0"})

    server.routes["/a.json"] = busy
    workspace.write(
        "home/.config/prowess/prowess.toml", f'[sources.team]\nurl = "{server.url}/a.json"\n'
    )
    assert codes(scan(workspace)) == []
    assert server.requests == ["/a.json"] * 3


def test_a_server_that_is_busy_for_an_hour_is_left_alone_for_an_hour(
    workspace: Workspace, server: RemoteServer
) -> None:
    server.routes["/a.json"] = lambda handler: send(
        handler, b"", status=429, headers={"Retry-After": "3000"}
    )
    workspace.write(
        "home/.config/prowess/prowess.toml", f'[sources.team]\nurl = "{server.url}/a.json"\n'
    )
    assert codes(scan(workspace)) == ["source-http-error"]
    paused = scan(workspace)
    assert codes(paused) == ["source-paused"]
    assert "49 minutes" in paused.diagnostics[0].message
    assert server.requests == ["/a.json"]
