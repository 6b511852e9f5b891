"""Sources that hang are waited for together, within one limit, and only once."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Loaded first, so that the short limits below are about servers.
import prowess.machine.mcp.stdio  # noqa: F401
from prowess.errors.mcp import McpServerError
from prowess.machine.mcp import connections as connections_module
from prowess.machine.mcp.connections import McpConnections
from prowess.model.mcp import McpServer
from prowess.model.outcome import Claim
from prowess.model.skill import Candidate
from prowess.ports import Discovered, ManifestReader, Search
from prowess.runtime import Skills
from prowess.supply.mcp.served_skills import AskedServer
from prowess.supply.remote_sync import IndexSync
from prowess.supply.sources import open_sources
from tests.remote_server import RemoteServer
from tests.unit.machine.test_processes import wait_until_gone
from tests.workspace import Workspace

SERVER = Path(__file__).resolve().parent.parent / "mcp" / "skill_server.py"
OWN = "home/.config/prowess/prowess.toml"


def configure(workspace: Workspace, servers: int, more: str = "", mode: str = "silent") -> None:
    tables = []
    for number in range(servers):
        args = json.dumps([str(SERVER), mode, str(workspace.root / f"log{number}")])
        command = json.dumps(sys.executable)
        tables.append(f"[mcp.servers.s{number}]\ncommand = {command}\nargs = {args}\n")
    workspace.write(OWN, "".join(tables) + more)


def list_codes(skills: Skills) -> list[str]:
    return [one.code for one in skills.snapshot.diagnostics]


class Slow:
    """A source that notes what is asked of it."""

    def __init__(self, name: str, events: list[str], failure: Exception | None = None) -> None:
        self.name = name
        self._events = events
        self._failure = failure

    def begin(self, search: Search) -> None:
        self._events.append(f"{self.name} begins")
        if self._failure is not None:
            raise self._failure

    def find(self, search: Search) -> Discovered:
        self._events.append(f"{self.name} is waited for")
        return Discovered()

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        raise AssertionError("it found nothing")


def test_every_source_begins_before_any_is_waited_for(workspace: Workspace) -> None:
    events: list[str] = []
    skills = workspace.open(sources=[Slow("a", events), Slow("b", events)])
    assert list_codes(skills) == []
    assert events == ["a begins", "b begins", "a is waited for", "b is waited for"]


def test_a_source_that_cannot_begin_costs_only_its_own_skills(workspace: Workspace) -> None:
    events: list[str] = []
    workspace.skill("project/.agents/skills/local")
    bad = Slow("bad", events, ValueError("no"))
    skills = workspace.open(sources=[bad, Slow("good", events)])
    assert [one.name for one in skills.snapshot.skills] == ["local"]
    assert list_codes(skills) == ["source-failed"]
    assert events == ["bad begins", "good begins", "good is waited for"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3, 10])
def test_a_hanging_index_and_hanging_servers_are_asked_together_and_once(
    workspace: Workspace,
    server: RemoteServer,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    events: list[str] = []
    begin, wait_index, wait_server = IndexSync.__init__, IndexSync.wait, AskedServer.wait
    ask = McpConnections.begin_request

    def note(event: str, call: Any) -> Any:
        def noted(*args: Any, **options: Any) -> Any:
            events.append(event)
            return call(*args, **options)

        return noted

    monkeypatch.setattr(IndexSync, "__init__", note("begin", begin))
    monkeypatch.setattr(McpConnections, "begin_request", note("begin", ask))
    monkeypatch.setattr(IndexSync, "wait", note("wait", wait_index))
    monkeypatch.setattr(AskedServer, "wait", note("wait", wait_server))
    server.routes["/index.json"] = server.hang
    index = f'[sources.team]\nurl = "{server.url}/index.json"\n[network]\nseconds = 0.5\n'
    configure(workspace, number, index)
    skills = workspace.open(sources=open_sources())
    assert sorted(list_codes(skills)) == ["source-timeout", *["source-unreachable"] * number]
    skills.project.close()
    assert events == ["begin"] * (number + 1) + ["wait"] * (number + 1)
    # Remembered on disk, so another process does not wait either.
    events.clear()
    asked = len(server.requests)
    again = workspace.open(sources=open_sources())
    assert set(list_codes(again)) == {"source-paused"}
    assert events == ["begin"] + ["wait"] * (number + 1)
    assert len(server.requests) == asked
    again.project.close()


# The client is part of the limit


@pytest.fixture
def endless_import(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that is too busy to load the `mcp` package."""
    done = threading.Event()

    def wait(loaded: Any) -> None:
        done.wait(600)
        loaded.set_result(None)

    monkeypatch.setattr(connections_module._ClientLibrary, "_import", staticmethod(wait))
    yield
    done.set()


def test_the_limit_includes_loading_the_client(workspace: Workspace, endless_import: None) -> None:
    program = f"import os,time; open({str(workspace.root / 'pid')!r},'w').write(str(os.getpid()))"
    server = McpServer(
        name="shop", command=sys.executable, args=("-c", f"{program}; time.sleep(600)")
    )
    connections = McpConnections(workspace.facts(), cwd=str(workspace.root))

    async def ask(client: Any) -> None:
        raise AssertionError("there is no client")

    try:
        answer = connections.begin_request(server, ask, seconds=1)
        with pytest.raises(McpServerError, match="loading the MCP client took more than 1 second"):
            answer.result(180)
    finally:
        began = time.monotonic()
        connections.close()
    assert time.monotonic() - began < 300
    pid = workspace.root / "pid"
    if pid.exists() and pid.read_text():
        # The program started meanwhile, and is gone.
        assert wait_until_gone(int(pid.read_text()))


def test_a_busy_machine_is_remembered_too_but_not_for_long(
    workspace: Workspace, endless_import: None
) -> None:
    configure(workspace, 1, "[network]\nseconds = 0.2\n")
    skills = workspace.open(sources=open_sources())
    (finding,) = skills.snapshot.diagnostics
    assert finding.code == "source-unreachable"
    assert "loading the MCP client took more than 0.2 seconds" in finding.message
    skills.reload()
    (finding,) = skills.snapshot.diagnostics
    assert finding.code == "source-paused"
    assert "second" in finding.message.rpartition("not tried again for")[2]
    skills.project.close()


def test_a_server_whose_client_is_not_installed_is_not_started(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    configure(workspace, 1)
    skills = workspace.open(sources=open_sources())
    (finding,) = skills.snapshot.diagnostics
    assert "prowess[mcp]" in finding.message
    assert not (workspace.root / "log0").exists()
    skills.project.close()
