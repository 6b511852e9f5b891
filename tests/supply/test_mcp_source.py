"""Skills of MCP servers: real servers in processes of their own, which also lie."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Loaded first, so that short limits are about servers.
import prowess.machine.mcp.stdio  # noqa: F401
from prowess.errors import MachineError, ProwessError, UsageError
from prowess.errors.activation import AddressError, NotPermitted
from prowess.errors.mcp import McpServerError
from prowess.machine.mcp.connections import McpConnections
from prowess.model.mcp import McpServer
from prowess.model.outcome import State
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.model.skill import LoadedFrom
from prowess.reports.source_report import load_source_report
from prowess.runtime import Skills
from prowess.supply.mcp.entries import is_same_header
from prowess.supply.mcp.source import McpSource
from prowess.supply.sources import open_sources
from tests.workspace import Workspace, skill_text

SERVER = Path(__file__).resolve().parent.parent / "mcp" / "skill_server.py"
OWN = "home/.config/prowess/prowess.toml"


class Shop:
    """A workspace whose user has one server that offers skills."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.log = workspace.root / "log"
        self._open: list[Skills] = []

    def configure(
        self, mode: str, *, file: str = OWN, seconds: float = 120, more: str = ""
    ) -> None:
        args = json.dumps([str(SERVER), mode, str(self.log)])
        text = f"[mcp.servers.shop]\ncommand = {json.dumps(sys.executable)}\nargs = {args}\n"
        self.workspace.write(file, f"{text}seconds = {seconds}\n{more}")

    def open(self, mode: str = "ok", host: str = "prowess", **options: Any) -> Skills:
        if not (self.workspace.root / OWN).exists():
            self.configure(mode)
        sources = [McpSource(refresh=options.pop("refresh", False))]
        skills = self.workspace.open(host, sources=sources, **options)
        self._open.append(skills)
        return skills

    @property
    def requests(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [line for line in lines if line not in ("started", "server/discover")]

    def count_starts(self) -> int:
        return self.log.read_text(encoding="utf-8").count("started")

    def close(self) -> None:
        for skills in self._open:
            skills.project.close()


@pytest.fixture
def shop(workspace: Workspace) -> Iterator[Shop]:
    made = Shop(workspace)
    yield made
    made.close()


class Approver:
    def __init__(self, choice: ApprovalChoice = ApprovalChoice.ALWAYS) -> None:
        self.choice = choice
        self.asked: list[ApprovalRequest] = []

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return ApprovalAnswer(self.choice)


def list_codes(skills: Skills) -> list[str]:
    return [one.code for one in skills.snapshot.diagnostics]


# What is found


def test_skills_are_named_after_their_server_and_nothing_is_read(shop: Shop) -> None:
    skills = shop.open()
    found = {one.name: one for one in skills.snapshot.skills}
    # Two skills of one name are told apart by their folders.
    assert list(found) == ["shop:acme:billing", "shop:other:billing", "shop:refunds"]
    refunds = found["shop:refunds"]
    assert refunds.description == "How to refunds."
    assert refunds.source.loaded_from is LoadedFrom.MCP
    assert refunds.location == "mcp:shop/skill://refunds/SKILL.md"
    assert shop.requests == ["skills/list"]
    (status,) = skills.snapshot.sources
    assert (status.name, status.kind, status.state, status.skills) == ("shop", "mcp", "ready", 3)
    listed = load_source_report(skills).sources
    assert [(one.name, one.skills) for one in listed if one.kind == "mcp"] == [("shop", 3)]


def test_a_skill_is_read_when_it_is_loaded_and_marked_with_its_origin(shop: Shop) -> None:
    skills = shop.open()
    conversation = skills.conversation(approver=Approver(), session="s")
    activation = conversation.activate("shop:refunds", by="model")
    assert '<skill_of_server server="shop" uri="skill://refunds/SKILL.md">' in activation.text
    # The text cannot pretend to end.
    assert activation.text.count("</skill_of_server>") == 1
    assert not activation.trusted
    assert shop.requests == ["skills/list", "resources/read skill://refunds/SKILL.md"]
    assert not Path("/tmp/never-refunds").exists()


def test_a_file_is_read_when_it_is_asked_for(shop: Shop) -> None:
    skills = shop.open()
    found = skills.conversation().read("skill://shop:refunds/notes/harbour one.md", by="user")
    assert (found.content, found.size) == ("Notes.\n", 7)
    assert shop.requests[-1] == "resources/read skill://refunds/notes/harbour%20one.md"


def test_a_skill_that_is_not_listed_can_be_named(shop: Shop) -> None:
    shop.configure("ok", more='skills = ["skill://hidden/SKILL.md"]\n')
    assert "shop:hidden" in [one.name for one in shop.open().snapshot.skills]


def test_hosts_without_such_skills_start_nothing(shop: Shop) -> None:
    for host in ("opencode", "omp", "openclaw", "spec"):
        assert shop.open(host=host).snapshot.skills == ()
    assert not shop.log.exists()


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        ("home/.config/opencode/opencode.json", ("mcp",)),
        ("home/.omp/agent/mcp.json", ("mcpServers",)),
        ("home/.openclaw/openclaw.json", ("mcp", "servers")),
    ],
)
def test_prowess_lists_the_skills_of_servers_in_the_files_of_other_hosts(
    shop: Shop, file: str, keys: tuple[str, ...]
) -> None:
    args = [str(SERVER), "ok", str(shop.log)]
    table: Any = {"shop": {"command": sys.executable, "args": args, "timeout": 120_000}}
    for key in reversed(keys):
        table = {key: table}
    shop.workspace.write(file, json.dumps(table))
    # Only Prowess as itself: these hosts take no skills from servers, nor from each other's files.
    shop.workspace.write(OWN, "")
    for host in ("opencode", "omp", "openclaw", "claude-code", "claude-code@documented"):
        assert shop.open(host=host).snapshot.skills == ()
    assert not shop.log.exists()
    skills = shop.open()
    assert "shop:refunds" in [one.name for one in skills.snapshot.skills]
    (status,) = skills.snapshot.sources
    assert status.origin.file == str(shop.workspace.root / file)


@pytest.mark.parametrize(
    ("file", "key"), [("project/opencode.json", "mcp"), ("project/.omp/mcp.json", "mcpServers")]
)
def test_a_server_in_a_projects_file_of_another_host_needs_trust(
    shop: Shop, file: str, key: str
) -> None:
    shop.workspace.git()
    server = {"command": sys.executable, "args": [str(SERVER), "ok", str(shop.log)]}
    shop.workspace.write(file, json.dumps({key: {"shop": {**server, "timeout": 120_000}}}))
    shop.workspace.write(OWN, "")
    assert list_codes(shop.open()) == ["source-untrusted"]
    assert not shop.log.exists()
    assert len(shop.open(trust=True).snapshot.skills) == 3


def test_a_server_that_offers_nothing_is_not_started_for_every_list(shop: Shop) -> None:
    shop.configure("tools")
    for _ in range(2):
        skills = shop.open()
        assert (list_codes(skills), skills.snapshot.outcomes) == ([], ())
        assert [(one.state, one.skills) for one in skills.snapshot.sources] == [("ready", 0)]
    assert shop.count_starts() == 1
    # A new version may offer some.
    assert shop.open(refresh=True).snapshot.skills == ()
    assert shop.count_starts() == 2


def test_without_the_network_nothing_is_started(shop: Shop) -> None:
    shop.configure("ok")
    skills = shop.workspace.open(sources=open_sources(offline=True))
    assert skills.snapshot.skills == ()
    # Not silently: the user is told whose skills are missing.
    assert list_codes(skills) == ["source-offline"]
    assert [one.state for one in skills.snapshot.sources] == ["failed"]
    own = (shop.workspace.root / OWN).read_text(encoding="utf-8")
    shop.workspace.write(OWN, f"[network]\noffline = true\n{own}")
    assert list_codes(shop.open()) == ["source-offline"]
    assert not shop.log.exists()


# Approval


def test_an_approval_is_bound_to_every_file(shop: Shop) -> None:
    approver = Approver()
    shop.configure("ok")
    own = (shop.workspace.root / OWN).read_text(encoding="utf-8")
    shop.workspace.write(OWN, f'approvals = "disk"\n{own}')

    def load() -> None:
        skills = shop.open()
        skills.conversation(approver=approver, session="s").activate("shop:refunds", by="model")

    load()
    load()
    assert len(approver.asked) == 1
    shop.workspace.write("log.version", "v2")
    load()
    assert len(approver.asked) == 2


def test_a_skill_that_changes_while_it_is_held_is_asked_about_again(shop: Shop) -> None:
    approver = Approver()
    skills = shop.open()
    skills.conversation(approver=approver, session="a").activate("shop:refunds", by="model")
    shop.workspace.write("log.version", "v2")
    conversation = skills.conversation(approver=approver, session="b")
    activation = conversation.activate("shop:refunds", by="model")
    assert "v2" in activation.text
    # In the second conversation first about what was promised, then about what has changed.
    assert len(approver.asked) == 3
    assert "approve it again" in (approver.asked[2].note or "")


def test_without_an_approval_a_model_gets_nothing(shop: Shop) -> None:
    skills = shop.open()
    with pytest.raises(NotPermitted):
        skills.conversation(approver=Approver(ApprovalChoice.REJECT)).activate(
            "shop:refunds", by="model"
        )
    # Nothing was read for the question.
    assert shop.requests == ["skills/list"]


# Trust


def test_a_server_of_a_project_is_started_only_if_the_project_is_trusted(shop: Shop) -> None:
    shop.configure("ok", file="project/prowess.toml")
    shop.workspace.write(OWN, "")
    skills = shop.open()
    assert skills.snapshot.skills == ()
    assert list_codes(skills) == ["source-untrusted"]
    assert [one.state for one in skills.snapshot.sources] == ["untrusted"]
    assert not shop.log.exists()
    trusted = shop.open(trust=True)
    assert len(trusted.snapshot.skills) == 3
    # Where only contents are trusted, nobody has looked at the server.
    shop.workspace.write(OWN, 'trust = "content"\n')
    assert shop.open(trust=True).snapshot.skills == ()


# Lies


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong-digest", "its content is not what the server promised"),
        ("grown", "bytes; the server promised"),
        ("swapped", "bytes; the server promised"),
        ("other-header", "its header is not the one that the server listed"),
    ],
)
def test_a_lie_about_a_skill_is_found_when_it_is_loaded(shop: Shop, mode: str, said: str) -> None:
    conversation = shop.open(mode).conversation(approver=Approver())
    with pytest.raises(MachineError, match=said):
        conversation.activate("shop:refunds", by="model")


def test_an_honest_server_that_reads_yaml_1_1_does_not_lie(shop: Shop) -> None:
    skill = next(one for one in shop.open("yaml-1.1").snapshot.skills if one.name == "shop:refunds")
    assert "Do refunds carefully." in skill.load().content


@pytest.mark.parametrize(
    ("promised", "found"),
    [
        (True, "yes"),
        (False, "Off"),
        (15, "017"),
        ("0o17", 15),
        (1000, "1_000"),
        ("1e3", 1000.0),
        (45045, "12:30:45"),
        (1.1, "1.10"),
        (None, ""),
        ({"a": [True, {"b": 1}]}, {"a": ["on", {"b": "1"}]}),
    ],
)
def test_the_two_versions_of_yaml_agree_about_a_header(promised: Any, found: Any) -> None:
    assert is_same_header(promised, found)
    assert is_same_header(found, promised)


@pytest.mark.parametrize(
    ("promised", "found"),
    [
        (True, "no"),
        (True, 1),
        (False, 0),
        (15, "15 "),
        (17, "017x"),
        ("a", "b"),
        ("a", ["a"]),
        ([1], [1, 2]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {}),
        (None, False),
        (9, "9" * 5_000),
        ({}, []),
    ],
)
def test_other_values_are_a_lie(promised: Any, found: Any) -> None:
    assert not is_same_header(promised, found)
    assert not is_same_header(found, promised)


@pytest.mark.parametrize("mode", ["wrong-digest", "grown"])
def test_a_lie_about_a_file_is_found_when_it_is_read(shop: Shop, mode: str) -> None:
    conversation = shop.open(mode).conversation()
    with pytest.raises(AddressError, match="promised"):
        conversation.read("skill://shop:refunds/notes/harbour one.md", by="user")


@pytest.mark.parametrize("mode", ["unlisted", "dynamic"])
def test_a_file_that_is_not_listed_is_not_even_asked_for(shop: Shop, mode: str) -> None:
    conversation = shop.open(mode).conversation()
    for path in ("secret.md", "../other/SKILL.md", "notes/../../other/SKILL.md"):
        with pytest.raises(ProwessError):
            conversation.read(f"skill://shop:refunds/{path}", by="user")
    assert not any("other" in one or "secret" in one for one in shop.requests)


@pytest.mark.parametrize("mode", ["outside", "many-files"])
def test_an_entry_that_claims_too_much_is_not_used(shop: Shop, mode: str) -> None:
    skills = shop.open(mode)
    assert skills.snapshot.skills == ()
    assert set(list_codes(skills)) == {"source-entry-invalid"}


def test_a_bad_entry_costs_only_itself(shop: Shop) -> None:
    skills = shop.open("bad-entries")
    assert [one.name for one in skills.snapshot.skills] == ["shop:refunds"]
    assert list_codes(skills) == ["source-entry-invalid"] * 6


def test_an_endless_list_ends(shop: Shop) -> None:
    skills = shop.open("endless")
    assert len(skills.snapshot.skills) == 50
    assert list_codes(skills) == ["source-entry-invalid"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["silent", "silent-list"])
def test_a_silent_server_costs_its_time_once_and_only_its_own_skills(shop: Shop, mode: str) -> None:
    shop.workspace.skill("project/.agents/skills/local")
    # Enough for a program to start, because starts are counted; more on a busy machine.
    for seconds in (2, 8, 32, 128):
        # With another variable it is another server, of which nothing is remembered.
        more = f'[mcp.servers.shop.env]\nTRY = "{seconds}"\n'
        shop.configure(mode, seconds=seconds, more=more)
        skills = shop.open(mode)
        assert [one.name for one in skills.snapshot.skills] == ["local"]
        if shop.log.exists():
            break
    assert list_codes(skills) == ["source-unreachable"]
    assert shop.count_starts() == 1
    # Remembered on disk: neither this process nor another one pays again.
    skills.reload()
    assert list_codes(skills) == ["source-paused"]
    again = shop.open(mode)
    assert list_codes(again) == ["source-paused"]
    assert [one.state for one in again.snapshot.sources if one.name == "shop"] == ["failed"]
    assert shop.count_starts() == 1


def test_a_paused_server_is_asked_when_its_configuration_changes_or_on_request(shop: Shop) -> None:
    shop.configure("silent-list", seconds=0.5)
    assert list_codes(shop.open()) == ["source-unreachable"]
    assert list_codes(shop.open(refresh="other")) == ["source-paused"]
    assert list_codes(shop.open(refresh="shop")) == ["source-unreachable"]
    shop.configure("ok")
    assert len(shop.open().snapshot.skills) == 3


def test_a_server_that_recovers_is_no_longer_paused(shop: Shop) -> None:
    shop.workspace.write("log.broken", "")
    shop.configure("breakable")
    assert list_codes(shop.open()) == ["source-unreachable"]
    (shop.workspace.root / "log.broken").unlink()
    assert list_codes(shop.open()) == ["source-paused"]
    assert len(shop.open(refresh=True).snapshot.skills) == 3
    assert len(shop.open().snapshot.skills) == 3


def test_an_untrusted_server_is_asked_as_soon_as_it_is_trusted(shop: Shop) -> None:
    shop.configure("ok", file="project/prowess.toml")
    shop.workspace.write(OWN, "")
    assert list_codes(shop.open()) == ["source-untrusted"]
    assert len(shop.open(trust=True).snapshot.skills) == 3


def test_starting_and_asking_share_one_limit(shop: Shop) -> None:
    args = (str(SERVER), "slow", str(shop.log))
    # It starts in more than 1.5 seconds: within the limit, except on a very busy machine.
    for seconds in (3, 12, 48, 192):
        server = McpServer(name="shop", command=sys.executable, args=args, seconds=seconds)
        connections = McpConnections(shop.workspace.facts(), cwd=str(shop.workspace.root))

        async def ask(client: Any, seconds: float = seconds) -> None:
            # Within the limit, too, but not both together.
            await asyncio.sleep(seconds - 1)

        try:
            with pytest.raises(McpServerError) as caught:
                connections.begin_request(server, ask, seconds=seconds).result()
        finally:
            connections.close()
        if "did not start" not in str(caught.value):
            break
    assert f"did not answer within {seconds} seconds" in str(caught.value)


def test_a_server_that_dies_while_a_skill_is_read_is_an_error_of_that_read(shop: Shop) -> None:
    conversation = shop.open("crash-read").conversation(approver=Approver())
    with pytest.raises(McpServerError, match="ended the connection"):
        conversation.activate("shop:refunds", by="model")


def test_no_skill_reads_from_another_server(shop: Shop) -> None:
    shop.configure("ok")
    own = (shop.workspace.root / OWN).read_text(encoding="utf-8")
    shop.workspace.write(OWN, own + own.replace("servers.shop", "servers.bank"))
    conversation = shop.open().conversation(approver=Approver())
    with pytest.raises(ProwessError):
        conversation.read("skill://shop:refunds/mcp:bank/skill://refunds/SKILL.md", by="user")


# Prompts


def test_prompts_of_other_servers_are_commands_for_the_user(shop: Shop) -> None:
    skills = shop.open("prompts")
    (outcome,) = skills.snapshot.outcomes
    assert (outcome.name, outcome.state) == ("shop:forecast", State.HIDDEN)
    (command,) = skills.commands().typable
    assert (command.name, command.argument_hint) == ("shop:forecast", "[harbour] [day]")
    result = skills.conversation().run("/shop:forecast Brest next Monday")
    text = getattr(result, "text", "")
    assert "Forecast {'harbour': 'Brest', 'day': 'next Monday'} !`touch /tmp/never`" in text
    assert '<skill_of_server server="shop" prompt="forecast">' in text
    with pytest.raises(UsageError, match="harbour"):
        skills.conversation().run("/shop:forecast")


def test_a_prompt_with_a_bad_name_costs_only_itself(shop: Shop) -> None:
    skills = shop.open("bad-prompts")
    assert [one.name for one in skills.snapshot.outcomes] == ["shop:forecast"]
    assert list_codes(skills) == ["source-entry-invalid"] * 6
    shown = "".join(one.message for one in skills.snapshot.diagnostics)
    assert "\x1b" not in shown
    assert len(shown) < 2_000


def test_claude_code_names_prompts_in_its_own_way(shop: Shop) -> None:
    skills = shop.open("prompts", host="claude-code")
    assert [one.name for one in skills.snapshot.outcomes] == ["mcp__shop__forecast"]


# Claude Code as described


@pytest.mark.seed("C-99", "C-101")
def test_documented_an_mcp_skill_has_its_servers_name_and_source(shop: Shop) -> None:
    skills = shop.open(host="claude-code@documented")
    (refunds,) = [one for one in skills.snapshot.skills if one.name == "shop:refunds"]
    assert refunds.source.loaded_from.value == "mcp"


@pytest.mark.seed("C-39")
def test_documented_one_reader_for_files_and_servers(shop: Shop) -> None:
    shop.workspace.write(
        "project/.claude/skills/refunds/SKILL.md",
        "---\nname: refunds\ndescription: How to refunds.\nallowed-tools: Bash\n---\nBody\n",
    )
    skills = shop.open(host="claude-code@documented")
    found = {one.name: one for one in skills.snapshot.skills}
    assert found["refunds"].frontmatter == found["shop:refunds"].frontmatter
    assert found["refunds"].manifest == found["shop:refunds"].manifest


@pytest.mark.seed("C-73")
def test_documented_the_tool_finds_local_and_mcp_skills_together(shop: Shop) -> None:
    shop.workspace.write("project/.claude/skills/local/SKILL.md", skill_text("local"))
    skills = shop.open(host="claude-code@documented")
    conversation = skills.conversation(approver=Approver())
    for name in ("local", "shop:refunds"):
        assert conversation.activate(name, by="model").name == name


@pytest.mark.seed("C-98")
def test_documented_commands_of_an_mcp_skill_stay_text(shop: Shop) -> None:
    skills = shop.open(host="claude-code@documented", trust=True)
    activation = skills.conversation(approver=Approver()).activate("shop:refunds", by="model")
    assert "!`touch /tmp/never-refunds`" in activation.text
    assert not Path("/tmp/never-refunds").exists()
