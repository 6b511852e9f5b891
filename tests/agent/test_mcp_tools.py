"""Tools of MCP servers in a session: real servers in processes of their own, and bad ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prowess.agent import mcp_tools
from prowess.agent.events import Event, ToolFinished, ToolStarted, Warned
from prowess.agent.mcp_tools import make_tool_name
from prowess.gate.permissions import parse_given
from prowess.model.permission import ApprovalChoice
from prowess.text.permission_rules import AGENT_TOOLS
from tests.agent.studio import Asked, Studio, call, pick, say
from tests.unit.machine.test_processes import is_alive

SERVERS = Path(__file__).resolve().parent.parent / "mcp"
OWN = "home/.config/prowess/prowess.toml"
SECRET = "tok-94f1"


def configure(studio: Studio, **servers: dict[str, Any]) -> None:
    """Write the user's own settings with these servers."""
    lines = []
    for name, fields in servers.items():
        lines.append(f"[mcp.servers.{name}]")
        lines += [f"{key} = {_render(value)}" for key, value in fields.items()]
    studio.workspace.write(OWN, "\n".join(lines) + "\n")


def _render(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {json.dumps(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


def raw(mode: str, *more: str, **fields: Any) -> dict[str, Any]:
    """A server that is written by hand, in one of its modes."""
    args = [str(SERVERS / "raw_server.py"), mode, *more]
    return {"command": sys.executable, "args": args, **fields}


def finish(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(one.tool, one.outcome, one.output) for one in pick(events, ToolFinished)]


def warned(events: list[Event]) -> list[str]:
    return [one.message for one in pick(events, Warned) if one.code == "mcp-server"]


@pytest.fixture(autouse=True, scope="module")
def _loaded_client() -> None:
    """Loading the client takes a second or more, which short limits of tests must not include."""
    import prowess.machine.mcp.http
    import prowess.machine.mcp.stdio  # noqa: F401


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer for a list than a user is kept waiting."""
    monkeypatch.setattr(mcp_tools, "_LIST_SECONDS", 120.0)


def list_pids(log: Path) -> list[int]:
    lines = log.read_text(encoding="utf-8").splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("pid")]


# A real server


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a real server that answers over HTTP, on a port that it chooses."""
    log = tmp_path / "tides.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(SERVERS / "tide_server.py"), "0"], stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + 180
        while not (found := re.search(r"running on (http://[0-9.]+:\d+) ", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield f"{found[1]}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_real_server_is_started_called_and_ended(studio: Studio) -> None:
    server = {
        "command": sys.executable,
        "args": [str(SERVERS / "tide_server.py")],
        "env": {"TIDE_KEY": "${KEY}"},
        "seconds": 60,
    }
    configure(studio, tides=server)
    studio.env = {"KEY": SECRET, "OTHER_SECRET": "hidden"}
    ended, events = studio.run(
        call("mcp__tides__height", harbour="Brest", hour=3),
        call("mcp__tides__secret"),
        call("mcp__tides__broken"),
        say("Done."),
        rules={"allow": ["mcp__tides__*"]},
    )
    assert ended.status == "done"
    height, secret, broken = finish(events)
    assert height == ("mcp__tides__height", "done", "Brest at 3: 3.2 m")
    shown = f"{{'TIDE_KEY': '{SECRET}', 'OTHER_SECRET': None}} in {studio.project}"
    assert secret == ("mcp__tides__secret", "done", shown)
    assert broken[1] == "failed"
    assert warned(events) == []


@pytest.mark.slow
def test_a_server_at_an_address_is_called(studio: Studio, address: str) -> None:
    configure(studio, tides={"url": address, "headers": {"X-Key": "${KEY}"}})
    studio.env = {"KEY": SECRET}
    _, events = studio.run(
        call("mcp__tides__height", harbour="Brest"),
        say("Done."),
        rules={"allow": ["mcp__tides"]},
    )
    assert finish(events) == [("mcp__tides__height", "done", "Brest at 0: 3.2 m")]


# Rules


def test_a_call_is_asked_about_unless_a_rule_says_otherwise(studio: Studio) -> None:
    configure(studio, raw=raw("ok"))
    asked = Asked(ApprovalChoice.ONCE)
    answers = (call("mcp__raw__fine", a=1), say("Done."))
    _, events = studio.run(*answers, approver=asked)
    assert finish(events) == [("mcp__raw__fine", "done", "fine {'a': 1}")]
    (request,) = asked.requests
    assert (request.permission, request.metadata["details"]) == ("mcp__raw__fine", ['{"a":1}'])
    ended, events = studio.run(*answers)
    assert ended.status == "refused"
    assert finish(events)[0][2] == (
        "mcp__raw__fine needs approval or `--allow mcp__raw__fine`, and there is no one to ask."
    )


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        ({"allow": ["mcp__raw"]}, "done"),
        ({"allow": ["mcp__raw__*"]}, "done"),
        ({"allow": ["mcp__raw__fine"]}, "done"),
        ({"allow": ["mcp__*"]}, "done"),
        ({"allow": ["mcp__raw__f"]}, "refused"),
        ({"allow": ["mcp__other"]}, "refused"),
        ({"allow": ["mcp__raw"], "deny": ["mcp__raw__fine"]}, "refused"),
    ],
)
def test_rules_name_a_tool_or_a_server(studio: Studio, rules: Any, outcome: str) -> None:
    configure(studio, raw=raw("ok"))
    _, events = studio.run(call("mcp__raw__fine"), say("Done."), rules=rules)
    assert finish(events)[0][1] == outcome


def test_a_wrong_rule_is_refused() -> None:
    from prowess.errors import UsageError

    with pytest.raises(UsageError, match="mcp__SERVER__TOOL"):
        parse_given(allow=["mcp__raw(x)"], tools=AGENT_TOOLS)


def test_the_rules_of_a_project_allow_no_tool_of_a_server(studio: Studio) -> None:
    configure(studio, raw=raw("ok"))
    studio.write("prowess.toml", '[permissions]\n"mcp__raw__*" = "allow"\n')
    studio.trust()
    _, events = studio.run(call("mcp__raw__fine"), say("Done."))
    assert finish(events)[0][1] == "refused"


def test_a_read_only_session_has_no_servers(studio: Studio, tmp_path: Path) -> None:
    log = tmp_path / "log"
    configure(studio, raw=raw("ok", str(log)))
    studio.run(call("mcp__raw__fine"), say("Done."), rules={"allow": ["mcp__raw"]}, read_only=True)
    assert not log.exists()


# Trust


def test_a_server_of_a_project_is_started_only_if_the_project_is_trusted(
    studio: Studio, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = raw("ok", str(log))
    studio.write(".mcp.json", json.dumps({"mcpServers": {"raw": server}}))
    answers = (call("mcp__raw__fine"), say("Done."))
    _, events = studio.run(*answers, rules={"allow": ["mcp__raw"]})
    assert not log.exists()
    assert warned(events) == [
        "The MCP server “raw” belongs to a project that you do not trust; `prowess trust` trusts"
        " it. Its tools are missing."
    ]
    studio.trust()
    _, events = studio.run(*answers, rules={"allow": ["mcp__raw"]})
    assert finish(events)[0][1] == "done"


def test_nothing_is_started_before_a_model_works(studio: Studio, tmp_path: Path) -> None:
    log = tmp_path / "log"
    configure(studio, raw=raw("ok", str(log)))
    session = studio.open(say("Done."))
    session.close()
    assert not log.exists()
    program = "import sys, prowess.agent.session; print(*sys.modules)"
    brought = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"mcp", "fastmcp", "pydantic_ai.mcp"}.isdisjoint(brought)


# Bad servers


def test_a_bad_server_costs_only_its_own_tools(studio: Studio) -> None:
    configure(
        studio,
        dead=raw("dead", env={"KEY": SECRET}),
        silent=raw("silent", seconds=0.5),
        noise=raw("noise", seconds=20),
        missing={"command": "no-such-program-anywhere"},
        unset={"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}},
        off={"command": "x", "enabled": False},
        badlist=raw("bad-list"),
        fine=raw("ok"),
    )
    ended, events = studio.run(
        call("mcp__fine__fine"), say("Done."), rules={"allow": ["mcp__fine"]}
    )
    assert ended.status == "done"
    assert finish(events) == [("mcp__fine__fine", "done", "fine {}")]
    said = warned(events)
    names = {text.split("“")[1].split("”")[0] for text in said}
    assert names == {"dead", "silent", "noise", "missing", "unset", "badlist"}
    assert "did not start within 0.5 seconds" in "".join(said)
    assert "${NOT_SET_ANYWHERE} is not set" in "".join(said)
    assert SECRET not in "".join(map(str, events))


def test_what_goes_wrong_in_a_call_is_an_answer(studio: Studio) -> None:
    configure(studio, raw=raw("ok", seconds=20, env={"KEY": SECRET}))
    tools = ("garbage", "wrong", "giant", "endless", "picture", "crash", "fine")
    _, events = studio.run(
        *(call(f"mcp__raw__{tool}") for tool in tools),
        say("Done."),
        rules={"allow": ["mcp__raw"]},
    )
    found = {tool.removeprefix("mcp__raw__"): (out, text) for tool, out, text in finish(events)}
    assert found["garbage"] == ("done", "after the garbage")
    assert found["wrong"] == (
        "failed",
        "The MCP server “raw” sent an answer that is not valid MCP.",
    )
    assert len(found["giant"][1]) < 110_000
    assert found["endless"] == (
        "failed",
        "The MCP server “raw” sent a message of more than 24 MiB.",
    )
    assert found["picture"] == ("done", "[image left out: image/png]\n[link: file:///x]")
    assert found["crash"] == (
        "failed",
        "The MCP server “raw” ended the connection (its last words: boom: the gauge broke, key"
        " [secret]).",
    )
    # The server was started again.
    assert found["fine"][0] == "done"


@pytest.mark.slow
def test_a_call_that_hangs_ends_with_its_time(studio: Studio) -> None:
    # Enough for a program to start and to list its tools; more on a busy machine.
    for seconds in (2, 8, 32, 128):
        configure(studio, raw=raw("ok", seconds=seconds))
        _, events = studio.run(call("mcp__raw__hang"), say("Done."), rules={"allow": ["mcp__raw"]})
        if not pick(events, Warned):
            break
    assert finish(events) == [
        (
            "mcp__raw__hang",
            "failed",
            f"The MCP server “raw” did not answer within {seconds} seconds.",
        )
    ]


def test_an_interrupt_ends_a_call_at_once(studio: Studio) -> None:
    configure(studio, raw=raw("ok", seconds=600))
    session = studio.open(call("mcp__raw__hang"), say("Done."), rules={"allow": ["mcp__raw"]})
    started = time.monotonic()

    def stop(event: Event) -> None:
        if isinstance(event, ToolStarted):
            threading.Timer(0.3, session.interrupt).start()

    ended = session.run("Do it.", on_event=stop)
    assert ended.status == "interrupted"
    assert time.monotonic() - started < 300


@pytest.mark.parametrize("mode", ["children", "stubborn"])
def test_no_process_is_left_behind(studio: Studio, tmp_path: Path, mode: str) -> None:
    log = tmp_path / "log"
    configure(studio, raw=raw(mode, str(log)))
    session = studio.open(call("mcp__raw__fine"), say("Done."), rules={"allow": ["mcp__raw"]})
    session.run("Do it.")
    pids = list_pids(log)
    assert all(map(is_alive, pids))
    session.close()
    for _ in range(1200):
        if not any(map(is_alive, pids)):
            break
        time.sleep(0.05)
    assert not any(map(is_alive, pids))


def test_lists_are_bounded(studio: Studio) -> None:
    configure(studio, many=raw("many"), endless=raw("endless-list"), schemas=raw("bad-schema"))
    session = studio.open(say("Done."))
    events: list[Event] = []
    session.run("Do it.", on_event=events.append)
    said = "".join(warned(events))
    assert "“many” lists 1000 tools; 900 of them cannot be used" in said
    assert "“schemas” lists 2 tools; 1 of them cannot be used" in said


# What the model sees


def test_the_model_sees_tools_and_not_the_instructions_of_a_server(studio: Studio) -> None:
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    seen: list[str] = []

    async def answer(messages: Any, info: AgentInfo) -> Any:
        seen.append(f"{messages} {info.instructions}")
        seen.append(" ".join(tool.name for tool in info.function_tools))
        descriptions = [tool.description or "" for tool in info.function_tools]
        assert max(map(len, descriptions)) < 5_000
        yield "Done."

    configure(studio, raw=raw("ok"))
    session = studio.open(model=FunctionModel(stream_function=answer))
    session.run("Do it.")
    assert "SERVER-INSTRUCTIONS" not in seen[0]
    assert "mcp__raw__fine" in seen[1]
    assert "mcp__raw__odd_name" in seen[1]


def test_names_of_tools_fit_every_provider() -> None:
    assert make_tool_name("tides", "height") == "mcp__tides__height"
    odd = {make_tool_name("a b", "x"), make_tool_name("a_b", "x"), make_tool_name("a/b", "x")}
    assert len(odd) == 3
    long = make_tool_name("s" * 60, "t" * 60)
    assert len(long) == 64


def test_a_sub_agent_has_only_the_tools_of_its_definition(studio: Studio) -> None:
    configure(studio, raw=raw("ok"))
    studio.write(
        ".claude/agents/gauge.md",
        "---\nname: gauge\ndescription: d\ntools: Read, mcp__raw__fine\n---\nMeasure.\n",
    )
    _, events = studio.run(
        call("Task", prompt="Measure.", agent="gauge"),
        {"agent": "gauge", **call("mcp__raw__fine")},
        {"agent": "gauge", **call("mcp__raw__picture")},
        {"agent": "gauge", **say("3 m")},
        say("Done."),
        rules={"allow": ["mcp__raw"]},
    )
    outcomes = {one.tool: one.outcome for one in pick(events, ToolFinished)}
    assert outcomes["mcp__raw__fine"] == "done"
    assert outcomes.get("mcp__raw__picture", "unknown") != "done"
