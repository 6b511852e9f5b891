"""Installing the skills of MCP servers: real servers in processes of their own, which also lie."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Loaded first, so that short limits are about servers.
import prowess.machine.mcp.http
import prowess.machine.mcp.stdio  # noqa: F401
from prowess.errors.install import AgainstPolicy, InvalidSource
from prowess.supply.install.mcp_fetch import parse_mcp
from tests.supply.install.conftest import Desk
from tests.supply.install.test_install import load_lock
from tests.supply.install.test_policy import install, write_policy

SERVER = Path(__file__).resolve().parents[2] / "mcp" / "skill_server.py"
OWN = "home/.config/prowess/prowess.toml"


class ServerDesk:
    """A user with one MCP server that offers skills."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.log = desk.root / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def configure(self, mode: str = "ok", *, file: str = OWN, seconds: float = 120) -> None:
        """Name a server in a settings file, which is a program."""
        args = json.dumps([str(SERVER), mode, str(self.log)])
        text = f"[mcp.servers.shop]\ncommand = {json.dumps(sys.executable)}\nargs = {args}\n"
        self.desk.write(file, f"{text}seconds = {seconds}\n")

    def start(self, mode: str = "ok") -> str:
        """Start a server that speaks HTTP; its address."""
        self._process = subprocess.Popen([sys.executable, str(SERVER), mode, str(self.log), "json"])
        port = Path(f"{self.log}.port")
        deadline = time.monotonic() + 120
        while not (port.exists() and port.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return f"http://127.0.0.1:{port.read_text(encoding='utf-8')}/mcp"

    def change(self) -> None:
        """Serve another version of every skill."""
        Path(f"{self.log}.version").write_text("v2", encoding="utf-8")

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def shop(desk: Desk) -> Iterator[ServerDesk]:
    """A user with one server."""
    made = ServerDesk(desk)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mcp:shop", ("mcp:shop", "mcp:shop", "")),
        ("mcp:shop#refunds", ("mcp:shop", "mcp:shop", "refunds")),
        (
            "mcp+https://x.example/mcp#a",
            ("https://x.example/mcp", "mcp+https://x.example/mcp", "a"),
        ),
    ],
)
def test_what_can_be_written_for_an_mcp_server(text: str, expected: tuple[str, str, str]) -> None:
    found = parse_mcp(text, "/w")
    assert found is not None
    assert (found.location, found.text, found.skill) == expected


@pytest.mark.parametrize(
    "text", ["mcp:", "mcp:a/b", "mcp+ftp://x/y", "mcp+https://u:p@x/y", "mcp+https:///y", "mcp+x"]
)
def test_what_is_no_mcp_server_is_refused(text: str) -> None:
    with pytest.raises(InvalidSource):
        parse_mcp(text, "/w")


def test_a_skill_of_a_configured_server_is_installed_updated_and_restored(
    desk: Desk, shop: ServerDesk
) -> None:
    shop.configure()
    shown = desk.run("install", "mcp:shop#refunds", "--dry-run")
    assert (shown.code, desk.tree()) == (0, [])
    assert desk.run("install", "mcp:shop#refunds", "--yes").code == 0
    assert list(desk.installed()) == ["refunds/SKILL.md", "refunds/notes/harbour one.md"]
    (entry,) = load_lock(desk).skills
    assert (entry.kind, entry.source, entry.path) == ("mcp", "mcp:shop", "refunds")
    assert entry.resolved.startswith("sha256:")
    before = desk.installed()
    assert desk.run("outdated").out == "All installed skills are up to date.\n"
    desk.forget()
    assert desk.run("sync").code == 0
    assert desk.installed() == before
    assert desk.run("verify").code == 0
    shop.change()
    (outdated,) = desk.json("outdated")["skills"]
    assert (outdated["state"], outdated["installed"]) == ("outdated", entry.resolved)
    desk.forget()
    gone = desk.run("sync")
    assert (gone.code, "is no longer what the lock file says" in gone.err) == (4, True)
    assert desk.run("update", "--yes").code == 0
    assert b"v2" in desk.installed()["refunds/SKILL.md"]


def test_all_skills_of_a_server_at_an_address(desk: Desk, shop: ServerDesk) -> None:
    source = f"mcp+{shop.start()}"
    several = desk.run("install", source, "--yes")
    assert (several.code, "has 3 skills" in several.err) == (2, True)
    assert desk.run("install", source, "--skill", "acme/billing", "--yes").code == 0
    assert desk.run("install", source, "--skill", "refunds", "--yes").code == 0
    assert [one.path for one in load_lock(desk).skills] == ["acme/billing", "refunds"]
    (component, _) = json.loads(desk.run("sbom").out)["components"]
    facts = {one["name"]: one["value"] for one in component["properties"]}
    assert facts["prowess:source"] == source


LIES = {
    "wrong-digest": "its content is not what the server promised",
    "grown": "bytes; the server promised",
    "swapped": "SKILL.md: ",
    "other-header": "its header is not the one that the server listed",
    "dynamic": "the server lists none of its files",
    "outside": "there is no SKILL.md",
    "many-files": "there is no SKILL.md",
    "tools": "there is no SKILL.md",
    "endless": "it lists too many skills",
    "crash-read": "“shop”",
}


@pytest.mark.parametrize("mode", LIES)
def test_a_server_that_lies_leaves_nothing_behind(desk: Desk, shop: ServerDesk, mode: str) -> None:
    shop.configure(mode)
    result = desk.run("install", "mcp:shop", "--all", "--yes")
    assert result.code in (4, 5)
    assert LIES[mode] in result.err
    assert desk.tree() == []


def test_a_server_that_is_silent_is_given_up(desk: Desk, shop: ServerDesk) -> None:
    shop.configure("silent-list", seconds=1)
    result = desk.run("install", "mcp:shop", "--all", "--yes")
    assert (result.code, desk.tree()) == (4, [])


def test_bad_entries_cost_only_themselves(desk: Desk, shop: ServerDesk) -> None:
    shop.configure("bad-entries")
    result = desk.run("install", "mcp:shop", "--all", "--yes")
    assert (result.code, {one.name for one in load_lock(desk).skills}) == (0, {"refunds"})
    assert "is not used" in result.err


def test_a_server_that_nobody_named_is_unknown(desk: Desk, shop: ServerDesk) -> None:
    shop.configure()
    result = desk.run("install", "mcp:shob", "--yes")
    assert (result.code, "did you mean shop?" in result.err) == (4, True)


def test_a_server_of_an_untrusted_project_is_not_started(desk: Desk, shop: ServerDesk) -> None:
    shop.configure(file="project/.prowess/prowess.toml")
    result = desk.run("install", "mcp:shop", "--all", "--yes")
    assert (result.code, "its project is not trusted" in result.err) == (4, True)
    assert not shop.log.exists()


def test_a_policy_can_name_mcp_servers(desk: Desk, shop: ServerDesk) -> None:
    source = f"mcp+{shop.start('bad-entries')}"
    write_policy(desk, 'sources = ["mcp:*"]')
    with pytest.raises(AgainstPolicy, match="is not an allowed source"):
        install(desk, source)
    write_policy(desk, 'sources = ["mcp+http://127.0.0.1:*"]')
    assert {one.name for one in install(desk, source)} == {"refunds"}
