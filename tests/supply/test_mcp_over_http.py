"""Skills of MCP servers over streamable HTTP: a second process, which also lies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Loaded first, so that short limits are about servers.
import prowess.machine.mcp.http  # noqa: F401
from prowess.errors import MachineError, ProwessError
from prowess.errors.activation import AddressError
from prowess.errors.mcp import McpServerError
from prowess.model.skill import LoadedFrom
from prowess.runtime import Skills
from prowess.supply.mcp.source import McpSource
from tests.workspace import Workspace

SERVER = Path(__file__).resolve().parent.parent / "mcp" / "skill_server.py"
OWN = "home/.config/prowess/prowess.toml"


class HttpShop:
    """A workspace whose user has one server at an address, in a process of its own."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.log = workspace.root / "log"
        self._open: list[Skills] = []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, mode: str, kind: str = "json", *, seconds: float = 120) -> None:
        command = [sys.executable, str(SERVER), mode, str(self.log), kind]
        self._process = subprocess.Popen(command)
        port = Path(f"{self.log}.port")
        deadline = time.monotonic() + 120
        while not port.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port.read_text(encoding='utf-8')}/mcp"
        headers = 'headers = { Authorization = "Bearer tok-94f1" }'
        text = f'[mcp.servers.shop]\nurl = "{url}"\n{headers}\nseconds = {seconds}\n'
        self.workspace.write(OWN, text)

    def open(self, **options: Any) -> Skills:
        skills = self.workspace.open(sources=[McpSource()], **options)
        self._open.append(skills)
        return skills

    @property
    def requests(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line not in ("started", "server/discover")]

    def close(self) -> None:
        for skills in self._open:
            skills.project.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def shop(workspace: Workspace) -> Iterator[HttpShop]:
    made = HttpShop(workspace)
    yield made
    made.close()


def list_codes(skills: Skills) -> list[str]:
    return [one.code for one in skills.snapshot.diagnostics]


@pytest.mark.parametrize("kind", ["json", "events"])
def test_skills_are_listed_loaded_and_read_lazily(shop: HttpShop, kind: str) -> None:
    shop.start("ok", kind)
    skills = shop.open()
    found = {one.name: one for one in skills.snapshot.skills}
    assert list(found) == ["shop:acme:billing", "shop:other:billing", "shop:refunds"]
    assert found["shop:refunds"].source.loaded_from is LoadedFrom.MCP
    assert shop.requests == ["skills/list"]
    text = found["shop:refunds"].load().content
    assert '<skill_of_server server="shop" uri="skill://refunds/SKILL.md">' in text
    note = skills.conversation().read("skill://shop:refunds/notes/harbour one.md", by="user")
    assert note.content == "Notes.\n"
    assert shop.requests[1:] == [
        "resources/read skill://refunds/SKILL.md",
        "resources/read skill://refunds/notes/harbour%20one.md",
    ]


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong-digest", "not what the server promised"),
        ("grown", "bytes; the server promised"),
        ("swapped", "the server promised"),
        ("other-header", "header is not the one"),
    ],
)
def test_a_lie_about_a_skill_is_found_when_it_is_loaded(
    shop: HttpShop, mode: str, said: str
) -> None:
    shop.start(mode)
    skill = next(one for one in shop.open().snapshot.skills if one.name == "shop:refunds")
    with pytest.raises(MachineError, match=said):
        skill.load()


def test_a_file_that_is_not_listed_is_not_even_asked_for(shop: HttpShop) -> None:
    shop.start("unlisted")
    conversation = shop.open().conversation()
    with pytest.raises(AddressError):
        conversation.read("skill://shop:refunds/secret.md", by="user")
    assert shop.requests == ["skills/list"]


@pytest.mark.parametrize(
    ("mode", "codes"),
    [
        ("endless", ["source-entry-invalid"]),
        ("bad-entries", ["source-entry-invalid"] * 6),
        ("not-json", ["source-unreachable"]),
    ],
)
def test_a_bad_list_costs_only_what_is_bad(shop: HttpShop, mode: str, codes: list[str]) -> None:
    shop.workspace.skill("project/.agents/skills/local")
    shop.start(mode)
    skills = shop.open()
    assert "local" in [one.name for one in skills.snapshot.skills]
    assert list_codes(skills) == codes


@pytest.mark.parametrize("mode", ["silent", "silent-list"])
def test_silence_costs_its_time_once(shop: HttpShop, mode: str) -> None:
    shop.start(mode, seconds=0.5)
    skills = shop.open()
    assert list_codes(skills) == ["source-unreachable"]
    assert "within 0.5 seconds" in skills.snapshot.diagnostics[0].message
    skills.reload()
    assert list_codes(skills) == ["source-paused"]


def test_a_crash_in_the_middle_is_an_error_of_that_read(shop: HttpShop) -> None:
    shop.start("crash-read")
    skill = next(one for one in shop.open().snapshot.skills if one.name == "shop:refunds")
    with pytest.raises(McpServerError):
        skill.load()


def test_an_answer_without_an_end_is_cut_off(shop: HttpShop) -> None:
    shop.start("flood")
    skill = next(one for one in shop.open().snapshot.skills if one.name == "shop:refunds")
    with pytest.raises(McpServerError):
        skill.load()
    deadline = time.monotonic() + 120
    while "flood ended" not in shop.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "flood ended" in shop.requests


def test_a_redirect_is_not_followed_and_no_header_leaks(shop: HttpShop) -> None:
    other = HttpShop(shop.workspace)
    other.log = shop.workspace.root / "other"
    try:
        other.start("ok")
        elsewhere = (shop.workspace.root / OWN).read_text(encoding="utf-8").split('"')[1]
        shop.workspace.write("log.elsewhere", elsewhere)
        shop.start("redirect")
        skills = shop.open()
        assert list_codes(skills) == ["source-unreachable"]
        assert "tok-94f1" not in skills.snapshot.diagnostics[0].message
        assert other.requests == []
    finally:
        other.close()


def test_a_server_of_an_untrusted_project_is_not_connected(shop: HttpShop) -> None:
    shop.start("ok")
    text = (shop.workspace.root / OWN).read_text(encoding="utf-8")
    shop.workspace.write("project/prowess.toml", text)
    shop.workspace.write(OWN, "")
    assert list_codes(shop.open()) == ["source-untrusted"]
    assert shop.requests == []
    with pytest.raises(ProwessError):
        shop.open().conversation().activate("shop:refunds", by="user")
