"""`prowess sources`: where skills come from, fetched on demand."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.runtime import Skills
from prowess.supply.sources import open_sources
from tests.cli.terminal import Terminal
from tests.remote_server import RemoteServer
from tests.workspace import skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    with RemoteServer() as running:
        yield running


def configure(terminal: Terminal, server: RemoteServer, more: str = "") -> None:
    terminal.write(
        "home/.config/prowess/prowess.toml", f'[sources.team]\nurl = "{server.url}"\n{more}'
    )


def find(answer: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in answer["sources"] if one["name"] == name)


def test_every_source_is_listed_with_its_state_and_its_skills(
    terminal: Terminal, server: RemoteServer
) -> None:
    server.offer("deploy", "review")
    configure(terminal, server)
    terminal.skill("project/.agents/skills/local")
    answer = terminal.run("sources")
    assert (answer.code, answer.err) == (0, "")
    rows = [line.split() for line in answer.out.splitlines()]
    assert rows[0] == ["SOURCE", "KIND", "STATE", "AGE", "SKILLS", "WHERE"]
    assert ["agents:project", "folder", "ready", "1", ".agents/skills"] in rows
    [team] = [row for row in rows if row[0] == "team"]
    assert (team[1:3], team[-2:]) == (["remote", "ready"], ["2", server.url])


def test_a_plugin_is_listed_by_its_id(terminal: Terminal) -> None:
    terminal.write("project/prowess.toml", 'plugins = ["tools/db"]\n')
    terminal.write("project/tools/db/.claude-plugin/plugin.json", '{"name": "db"}')
    terminal.write("project/tools/db/skills/q/SKILL.md", skill_text("q"))
    shown = terminal.json("sources")["sources"]
    assert [(one["name"], one["kind"], one["skills"]) for one in shown] == [
        ("db@folder", "plugin", 1)
    ]
    for command in ("list", "show db:q", "explain db:q"):
        result = terminal.run(*command.split())
        assert "db@folder" in result.out
        assert "plugin:plugin" not in result.out


def test_json_has_what_the_table_has(terminal: Terminal, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(terminal, server)
    team = find(terminal.json("sources"), "team")
    assert team.pop("fetched_at") is not None
    assert team == {
        "name": "team",
        "kind": "remote",
        "state": "ready",
        "location": server.url,
        "skills": 1,
        "origin": {"file": terminal.path("home/.config/prowess/prowess.toml"), "line": 1},
        "diagnostics": [],
    }


def test_a_source_in_trouble_says_what_is_wrong(terminal: Terminal, server: RemoteServer) -> None:
    server.routes["/.well-known/agent-skills/index.json"] = 500
    configure(terminal, server)
    answer = terminal.run("sources")
    assert answer.code == 0
    assert "answers 500" in answer.out
    assert find(terminal.json("sources"), "team")["state"] == "failed"


def test_a_list_says_which_source_is_in_trouble(terminal: Terminal, server: RemoteServer) -> None:
    server.routes["/.well-known/agent-skills/index.json"] = 500
    configure(terminal, server)
    terminal.skill("project/.agents/skills/local")
    for _ in ("asked", "not asked"):
        answer = terminal.run("list")
        assert answer.err == ("prowess: not up to date: team. Run `prowess sources` to see why.\n")
        assert "local" in answer.out


def test_a_list_counts_the_skills_that_a_source_lost(
    terminal: Terminal, server: RemoteServer
) -> None:
    server.offer("deploy", "..", "../b")
    configure(terminal, server)
    for _ in ("asked", "not asked"):
        answer = terminal.run("list")
        assert answer.err == (
            "prowess: 2 skills of “team” are missing or old. Run `prowess sources` to see why.\n"
        )
        assert "deploy" in answer.out


def test_refresh_fetches_what_is_not_old_yet(terminal: Terminal, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(terminal, server)
    assert terminal.json("list")["counts"] == {"ready": 1}
    server.offer("deploy", "review")
    assert terminal.json("list")["counts"] == {"ready": 1}
    assert find(terminal.json("sources", "refresh"), "team")["skills"] == 2
    assert terminal.json("list")["counts"] == {"ready": 2}


def test_refresh_of_one_leaves_the_others(terminal: Terminal, server: RemoteServer) -> None:
    server.offer("a", base="/one")
    server.offer("b", base="/two")
    terminal.write(
        "home/.config/prowess/prowess.toml",
        f'[sources.one]\nurl = "{server.url}/one"\n[sources.two]\nurl = "{server.url}/two"\n',
    )
    terminal.run("list")
    server.requests.clear()
    assert terminal.run("sources", "refresh", "two").code == 0
    assert {path.split("/")[1] for path in server.requests} == {"two"}
    unknown = terminal.run("sources", "refresh", "tow")
    assert (unknown.code, unknown.out) == (2, "")
    assert "There is no server “tow” to fetch from. Did you mean two?" in unknown.err


def test_refresh_that_fails_keeps_the_skills_and_has_an_exit_code(
    terminal: Terminal, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(terminal, server)
    terminal.run("list")
    server.stop()
    answer = terminal.run("sources", "refresh")
    assert answer.code == 4
    assert "source-stale" in answer.out
    assert terminal.json("list")["counts"] == {"ready": 1}


def test_offline_fetches_nothing(terminal: Terminal, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(terminal, server)
    answer = terminal.json("list", "--offline")
    assert ([one["code"] for one in answer["diagnostics"]], server.requests) == (
        ["source-offline"],
        [],
    )
    refused = terminal.run("sources", "refresh", "--offline")
    assert (refused.code, server.requests) == (2, [])


def test_bare_asks_no_server(terminal: Terminal, server: RemoteServer) -> None:
    server.offer("deploy")
    configure(terminal, server)
    assert terminal.json("list", "--bare")["skills"] == []
    assert server.requests == []


def test_add_writes_a_source_and_remove_takes_it_away(
    terminal: Terminal, server: RemoteServer
) -> None:
    server.offer("deploy")
    file = terminal.write(
        "home/.config/prowess/prowess.toml", "# Mine.\nusage = false\n\n# Last.\n[toggles]\n"
    )
    before = file.read_text()
    assert terminal.run("sources", "add", "team", server.url).code == 0
    assert file.read_text() == f'{before}\n[sources.team]\nurl = "{server.url}"\n'
    assert terminal.json("list")["counts"] == {"ready": 1}
    again = terminal.run("sources", "add", "team", server.url)
    assert (again.code, "already" in again.err) == (2, True)
    assert terminal.run("sources", "remove", "team").code == 0
    assert file.read_text().rstrip() == before.rstrip()
    assert terminal.json("list")["counts"] == {}
    assert terminal.run("sources", "remove", "team").code == 2


def test_remove_leaves_what_belongs_to_the_next_table(
    terminal: Terminal, server: RemoteServer
) -> None:
    file = terminal.write(
        "home/.config/prowess/prowess.toml",
        '[sources.a]\nurl = "https://a.example"\n\n# About b.\n[sources.b]\n'
        'url = "https://b.example"\n',
    )
    assert terminal.run("sources", "remove", "a").code == 0
    assert file.read_text() == '# About b.\n[sources.b]\nurl = "https://b.example"\n'


@pytest.mark.parametrize(
    "url",
    ["ftp://x.example", "http://x.example", "https://me:pw@x.example", "nonsense", "https://"],
)
def test_add_refuses_a_url_that_could_never_be_fetched(terminal: Terminal, url: str) -> None:
    answer = terminal.run("sources", "add", "team", url)
    assert (answer.code, answer.out) == (2, "")
    assert "cannot be a source" in answer.err


@pytest.mark.parametrize("name", ["", "a b/../c", "-x", ".", "n" * 65, "tëam", "a\n[x]"])
def test_add_refuses_a_name_that_could_not_be_read_again(terminal: Terminal, name: str) -> None:
    answer = terminal.run("sources", "add", "--", name, "https://skills.example")
    assert (answer.code, answer.out) == (2, "")
    assert "letters, digits, `.`, `_` and `-`" in answer.err
    assert terminal.run("list").code == 0


@pytest.mark.parametrize("entry", ['url = "https://skills.example"', "url = 1", "", "uri = 'x'"])
def test_remove_takes_away_an_entry_that_no_command_can_read(
    terminal: Terminal, entry: str
) -> None:
    before = "usage = false\n"
    table = f'\n[sources."a b/../c"]\n{entry}\n'
    file = terminal.write("home/.config/prowess/prowess.toml", before + table)
    assert terminal.run("list").code != 0
    assert terminal.run("sources", "remove", "a b/../c").code == 0
    assert file.read_text().rstrip() == before.rstrip()
    assert terminal.run("list").code == 0


@pytest.mark.parametrize("arguments", [("add", "new", "https://a.example"), ("remove", "team")])
def test_a_settings_file_that_is_too_large_is_not_cut_by_an_edit(
    terminal: Terminal, arguments: tuple[str, ...]
) -> None:
    text = '[sources.team]\nurl = "https://b.example"\n' + "# note\n" * 150_000 + "trust = []\n"
    file = terminal.write("home/.config/prowess/prowess.toml", text)
    answer = terminal.run("sources", *arguments)
    assert answer.code != 0
    assert "the file has 1,050,052 bytes; at most 1,048,576 are read" in answer.err
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "arguments", [("add", "x"), ("remove",), ("refresh", "x", "y"), ("remove", "x", "y")]
)
def test_arguments_that_are_missing_or_too_many_are_said(
    terminal: Terminal, arguments: tuple[str, ...]
) -> None:
    assert terminal.run("sources", *arguments).code == 2


def test_a_remote_skill_can_be_shown_explained_and_disabled(
    terminal: Terminal, server: RemoteServer
) -> None:
    server.offer("deploy")
    configure(terminal, server)
    assert terminal.run("show", "deploy").code == 0
    explained = terminal.run("explain", "deploy")
    assert (explained.code, "team" in explained.out) == (0, True)
    disabled = terminal.run("disable", "deploy")
    assert (disabled.code, disabled.err) == (0, "")
    assert terminal.json("list")["counts"] == {"disabled": 1}
    assert terminal.run("enable", "deploy").code == 0
    assert terminal.json("list")["counts"] == {"ready": 1}


def test_ctrl_c_ends_a_refresh_at_once(terminal: Terminal, server: RemoteServer) -> None:
    server.offer(*(f"s{number}" for number in range(20)))
    for number in range(20):
        server.routes[f"/s{number}/SKILL.md"] = server.hang
    configure(terminal, server)
    command = [sys.executable, "-m", "prowess", "sources", "refresh"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        while not any("SKILL.md" in path for path in list(server.requests)):
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        # It would take a minute to its own limit.
        _, err = running.communicate(timeout=120)
    assert (running.returncode, err.strip()) == (130, "Stopped.")


def test_a_program_that_ends_waits_for_no_server(terminal: Terminal, server: RemoteServer) -> None:
    """Also where it ends before anybody waits for what was begun."""
    server.offer("s0")
    server.routes["/s0/SKILL.md"] = lambda handler: [server.ended.wait(300)].clear()
    configure(terminal, server, "[network]\nseconds = 300\n")
    program = (
        "import sys, time\n"
        "from prowess import Skills\n"
        "from prowess.supply.sources import open_sources\n"
        "from prowess.supply.remote_source import RemoteSource\n"
        "RemoteSource.find = lambda self, search: sys.stdin.readline() and sys.exit(3)\n"
        "Skills.open('.', sources=open_sources()).snapshot\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as running:
        while not any("SKILL.md" in path for path in list(server.requests)):
            assert running.poll() is None
            time.sleep(0.05)
        # The server does not answer, and may take five minutes.
        running.communicate("end\n", timeout=120)
    assert running.returncode == 3


# Skills of servers, one by one


KEPT = 'approvals = "disk"\n'


def approve(terminal: Terminal, name: str) -> None:
    """Approve a skill for models as a person would."""

    class Approver:
        def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
            return ApprovalAnswer(ApprovalChoice.ALWAYS)

    skills = Skills.open(terminal.project, sources=open_sources())
    skills.conversation(approver=Approver()).activate(name, by="model")
    skills.project.close()


def configure_shop(terminal: Terminal) -> None:
    program = Path(__file__).resolve().parent.parent / "mcp" / "skill_server.py"
    args = json.dumps([str(program), "ok", str(terminal.root / "log")])
    command = json.dumps(sys.executable)
    terminal.write(
        "home/.config/prowess/prowess.toml",
        f"{KEPT}[mcp.servers.shop]\ncommand = {command}\nargs = {args}\nseconds = 120\n",
    )


def test_show_and_explain_say_whose_a_remote_skill_is_and_whether_it_is_approved(
    terminal: Terminal, server: RemoteServer
) -> None:
    configure(terminal, server)
    own = terminal.root / "home/.config/prowess/prowess.toml"
    server.offer("deploy")
    assert "approve it, in each session" in terminal.run("explain", "deploy").out
    own.write_text(KEPT + own.read_text())
    shown = terminal.json("show", "deploy")["skill"]["origin"]
    assert (shown["name"], shown["kind"], shown["location"]) == ("team", "remote", server.url)
    assert (shown["approval"], shown["approved"]) == ("none", None)
    assert shown["digest"].startswith("sha256:")
    explained = terminal.run("explain", "deploy").out
    assert f"found in the index of team ({server.url}), fetched" in explained
    assert "approval: not approved yet; a model can load it once you approve it" in explained
    assert shown["digest"] in explained
    approve(terminal, "deploy")
    assert terminal.json("show", "deploy")["skill"]["origin"]["approval"] == "approved"
    assert "approval  approved on " in terminal.run("show", "deploy").out
    server.offer("deploy", version="2")
    server.routes["/deploy/SKILL.md"] = skill_text("deploy", "Deploy it better.")
    terminal.run("sources", "refresh")
    changed = terminal.json("show", "deploy")["skill"]["origin"]
    assert changed["approval"] == "changed"
    assert "changed since; a model can load it once you approve it again" in changed["reason"]


def test_show_and_explain_say_whose_an_mcp_skill_is_and_whether_it_is_approved(
    terminal: Terminal,
) -> None:
    configure_shop(terminal)
    explained = terminal.run("explain", "shop:refunds").out
    assert "found in the MCP server shop (remote, mcp:shop)" in explained
    assert "prowess/prowess.toml:2 names it" in explained
    assert "approval: not approved yet" in explained
    assert "commands in it never run, because it comes from a server" in explained
    # Nothing was read to explain it.
    assert "resources/read" not in (terminal.root / "log").read_text()
    approve(terminal, "shop:refunds")
    shown = terminal.json("show", "shop:refunds")["skill"]
    assert shown["origin"]["approval"] == "approved"
    assert shown["digest"].startswith("sha256:")
    terminal.write("log.version", "v2")
    changed = terminal.json("show", "shop:refunds")["skill"]["origin"]
    assert (changed["approval"], changed["name"], changed["kind"]) == ("changed", "shop", "mcp")


def test_a_rule_of_the_user_stands_for_an_approval(
    terminal: Terminal, server: RemoteServer
) -> None:
    rule = '[permissions]\nskill = { deploy = "allow" }\n'
    configure(terminal, server, rule)
    server.offer("deploy")
    assert terminal.json("show", "deploy")["skill"]["origin"]["approval"] == "allowed"
