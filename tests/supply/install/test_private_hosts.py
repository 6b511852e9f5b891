"""A lock file cannot make us ask this machine or its network, unless the user names the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from prowess.machine.network_address import resolve
from prowess.supply.install import private_host
from prowess.supply.install.private_host import find_private_host
from prowess.supply.install.source import parse_source
from tests.remote_server import RemoteServer
from tests.supply.install.clawhub_server import ClawHub, make_zip
from tests.supply.install.conftest import Desk, two_skills
from tests.supply.install.test_git import publish
from tests.workspace import skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running


def move_to_another_machine(desk: Desk) -> None:
    """Leave nothing but the lock file, as a clone has it."""
    shutil.rmtree(desk.home / ".local")
    shutil.rmtree(desk.project / ".agents")


def install_archive(desk: Desk, server: RemoteServer) -> None:
    server.routes["/x.zip"] = make_zip({"alpha/SKILL.md": skill_text("alpha")})
    assert desk.run("install", f"{server.url}/x.zip", "--yes").code == 0


def install_clawhub(desk: Desk, server: RemoteServer) -> None:
    hub = ClawHub(server)
    hub.publish("1.0.0")
    assert desk.run("install", hub.source, "--yes").code == 0


def install_site(desk: Desk, server: RemoteServer) -> None:
    server.offer("alpha")
    assert desk.run("install", server.url, "--yes").code == 0


def install_git(desk: Desk, server: RemoteServer) -> None:
    bare = publish(desk, desk.repository(two_skills()))
    for file in bare.rglob("*"):
        if file.is_file():
            server.routes[f"/x.git/{file.relative_to(bare)}"] = file.read_bytes()
    assert desk.run("install", f"{server.url}/x.git", "--skill", "alpha", "--yes").code == 0


@pytest.mark.parametrize("install", [install_archive, install_clawhub, install_site, install_git])
def test_a_lock_file_of_a_stranger_does_not_reach_this_machine(
    desk: Desk, server: RemoteServer, install: object
) -> None:
    assert callable(install)
    install(desk, server)
    before = desk.installed()
    # The user has typed the address, so it is asked again.
    assert desk.run("outdated").code == 0
    move_to_another_machine(desk)
    server.requests.clear()
    refused = desk.run("sync")
    assert (refused.code, desk.installed(), server.requests) == (5, {}, [])
    where = "127.0.0.1 is on this machine or a private network"
    assert f"{where}, and you have not installed from it yourself" in refused.err
    assert "add --private-host 127.0.0.1" in refused.err
    outdated = desk.run("outdated")
    assert (outdated.code, server.requests) == (4, [])
    assert desk.run("sync", "--private-host", "127.0.0.1").code == 0
    assert desk.installed() == before
    assert desk.run("update", "--private-host", "127.0.0.1", "--yes").code == 0


def test_a_dry_run_remembers_nothing(desk: Desk, server: RemoteServer) -> None:
    server.offer("alpha")
    assert desk.run("install", server.url, "--dry-run").code == 0
    assert not (desk.home / ".local/state/prowess/private-hosts.json").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://localhost/x.zip", "localhost"),
        ("https://169.254.169.254/x.zip", "169.254.169.254"),
        ("git+https://10.0.0.1/x", "10.0.0.1"),
        ("https://1.1.1.1/x.zip", None),
        ("git@10.0.0.1:x.git", None),
        ("ssh://10.0.0.1/x.git", None),
        ("/srv/x.git", None),
        ("./x", None),
    ],
)
def test_which_hosts_are_private(text: str, expected: str | None) -> None:
    assert find_private_host(parse_source(text, cwd="/w", home="/h")) == expected


def test_a_name_that_leads_into_a_private_network_is_private(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint = resolve("localhost", 443, seconds=5)
    monkeypatch.setattr(private_host, "resolve", lambda *_, **__: endpoint)
    source = parse_source("https://git.example.com/x.git", cwd="/w", home="/h")
    assert find_private_host(source) == "git.example.com"
