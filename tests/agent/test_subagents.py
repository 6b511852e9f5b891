"""Sub-agents: started by the tool Task or by a skill, with definitions of the hosts."""

from __future__ import annotations

import pytest

from prowess.agent.events import (
    Event,
    RequestFinished,
    SkillLoaded,
    ToolFinished,
    ToolStarted,
    Warned,
)
from prowess.agent.turn import Limits
from tests.agent.studio import Asked, Studio, call, pick, say
from tests.agent.test_session import Seen


def define(studio: Studio, path: str, body: str = "You review code.\n", **fields: str) -> None:
    lines = [f"{name}: {value}" for name, value in fields.items()]
    studio.workspace.write(path, "\n".join(("---", *lines, "---", body)))


def test_a_task_is_done_by_a_sub_agent_and_only_its_answer_comes_back(studio):
    studio.write("flag.txt", "red\n")
    ended, events = studio.run(
        call("Task", prompt="Which colour?"),
        {
            **call("Read", file_path="flag.txt"),
            "agent": "general-purpose",
            "expect": ["Which colour?"],
        },
        {**say("Red."), "agent": "general-purpose"},
        {**say("It is red."), "expect": ["Red."]},
    )
    assert (ended.status, ended.answer) == ("done", "It is red.")
    # What sub-agents take is part of the turn.
    spent = pick(events, RequestFinished)
    assert (ended.requests, ended.input_tokens) == (4, sum(one.input_tokens for one in spent))
    assert [(one.agent, one.title) for one in pick(events, ToolStarted)] == [
        ("", "Task general-purpose"),
        ("general-purpose", "Read flag.txt"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "project/.prowess/agents/x.md",
        "project/.agents/agents/x.md",
        "project/.claude/agents/x.md",
        "project/.opencode/agents/x.md",
        "project/.opencode/agent/x.md",
        "project/.omp/agents/x.md",
        "home/.claude/agents/x.md",
    ],
)
def test_definitions_of_the_hosts_are_found_and_listed(studio, path):
    define(studio, path, name="reviewer", description="Reviews code.")
    ended, _ = studio.run(
        {**call("Task", agent="reviewer", prompt="Look."), "expect": ["- reviewer: Reviews code."]},
        {**say("Good."), "agent": "reviewer", "expect": ["You review code.", "Look."]},
        say("All good."),
    )
    assert (ended.status, ended.answer) == ("done", "All good."), ended.reason


def test_a_definition_without_a_name_has_that_of_its_file_and_the_project_comes_first(studio):
    define(studio, "home/.claude/agents/reviewer.md", "From home.\n")
    define(studio, "project/.claude/agents/reviewer.md", "From the project.\n")
    ended, _ = studio.run(
        call("Task", agent="reviewer", prompt="Look."),
        {**say("Good."), "agent": "reviewer", "expect": ["From the project."]},
        say("Done."),
    )
    assert ended.status == "done", ended.reason


def test_an_agent_that_does_not_exist_is_an_answer_with_those_that_do(studio):
    define(studio, "project/.claude/agents/reviewer.md", description="Reviews.")
    ended, events = studio.run(call("Task", agent="reviewr", prompt="x"), say("Sorry."))
    (done,) = pick(events, ToolFinished)
    assert done.output == (
        "There is no agent “reviewr”; the agents are general-purpose, reviewer."
        " Did you mean “reviewer”?"
    )
    assert ended.status == "done"


def test_a_definition_chooses_tools(studio):
    define(studio, "project/.claude/agents/reader.md", tools="Read, Grep")
    define(studio, "project/.opencode/agent/looker.md", tools="{bash: false, write: false}")
    offered: dict[str, set[str]] = {}

    class Tools(Seen):
        async def _stream(self, messages, info):
            offered[f"request {len(offered)}"] = {tool.name for tool in info.function_tools}
            async for piece in super()._stream(messages, info):
                yield piece

    studio.skill("one", context="fork", agent="reader")
    studio.skill("two", context="fork", agent="looker")
    session = studio.open(model=Tools().model)
    session.run("/one")
    session.run("/two")
    own = {"Read", "Write", "Edit", "Glob", "Grep", "Bash", "Task"}
    assert [tools & own for tools in offered.values()] == [
        {"Read", "Grep"},
        {"Read", "Edit", "Glob", "Grep"},
    ]


@pytest.mark.seed("P-38")
def test_sub_agents_receive_the_skills_of_their_session_and_a_definition_preloads(studio):
    studio.host = "omp@documented"
    studio.workspace.skill("project/.omp/skills/tides", description="Tides.", body="Read it.\n")
    define(studio, "project/.omp/agents/sailor.md", skills="tides")
    listed = ["- tides: Tides."]
    ended, events = studio.run(
        {**call("Task", prompt="a"), "expect": listed},
        {**say("1"), "agent": "general-purpose", "expect": listed},
        call("Task", agent="sailor", prompt="b"),
        {**say("2"), "agent": "sailor", "expect": [*listed, "Read it."]},
        say("Done."),
    )
    assert ended.status == "done", ended.reason
    loaded = [(one.agent, one.name, one.by) for one in pick(events, SkillLoaded)]
    assert loaded == [("sailor", "tides", "agent")]


def test_rules_are_about_tasks_too_and_reach_the_children(studio):
    refused, _ = studio.run(
        call("Task", prompt="x"), say("No."), rules={"deny": ["Task(general-purpose)"]}
    )
    assert refused.status == "done"
    asked = Asked()
    _, events = studio.run(
        call("Task", prompt="x"),
        {"calls": [{"tool": "Bash", "input": {"command": "rm x"}}], "agent": "general-purpose"},
        {"calls": [{"tool": "Bash", "input": {"command": "ls"}}], "agent": "general-purpose"},
        {**say("Tried."), "agent": "general-purpose"},
        say("Done."),
        rules={"deny": ["Bash(rm *)"]},
        approver=asked,
    )
    outcomes = [(one.tool, one.outcome) for one in pick(events, ToolFinished)]
    assert outcomes == [("Bash", "refused"), ("Bash", "done"), ("Task", "done")]
    assert [request.patterns for request in asked.requests] == [("ls",)]


def test_tasks_are_not_nested_without_end(studio):
    deep = [
        {"calls": [{"tool": "Task", "input": {"prompt": "deeper"}}], "agent": "general-purpose"}
        for _ in range(3)
    ]
    up = [{**say("up"), "agent": "general-purpose"} for _ in range(3)]
    ended, events = studio.run(call("Task", prompt="x"), *deep, *up, say("Done."))
    assert ended.status == "done", ended.reason
    outputs = [one.output for one in pick(events, ToolFinished)]
    assert outputs[0] == "Sub-agents cannot be nested more than 3 deep."


def test_the_model_of_a_definition_is_used(studio, monkeypatch):
    studio.workspace.write(
        "home/.config/prowess/prowess.toml", '[agent.models]\nsmall = "openai:mini"\n'
    )
    define(studio, "project/.claude/agents/quick.md", model="small")
    studio.skill("fast", context="fork", agent="quick")
    small = Seen("From the small one.")
    monkeypatch.setattr("prowess.agent.models.load_model", lambda name, env: small.model)
    session = studio.open(model=Seen("From the usual one.").model)
    assert session.run("/fast").answer == "From the small one."


def test_what_a_skill_of_the_turn_disallows_no_sub_agent_may_do(studio):
    studio.skill("dis", disallowed_tools="Bash")
    child = {"agent": "general-purpose"}
    ended, events = studio.run(
        call("Task", prompt="Go."),
        {**call("Bash", command="touch x"), **child},
        {**call("Task", prompt="Deeper."), **child},
        {**call("Bash", command="touch x"), **child},
        {**say("No."), **child},
        {**say("No."), **child},
        say("No."),
        text="/dis",
        rules={"allow": ["Bash"]},
    )
    outcomes = [(one.tool, one.outcome) for one in pick(events, ToolFinished)]
    assert outcomes == [
        ("Bash", "refused"),
        ("Bash", "refused"),
        ("Task", "done"),
        ("Task", "done"),
    ]
    assert (ended.status, (studio.project / "x").exists()) == ("done", False)


def test_the_agents_of_a_turn_share_its_limit(studio):
    studio.write("a.txt", "A\n")
    read = {**call("Read", file_path="a.txt"), "agent": "general-purpose"}
    ended, events = studio.run(
        call("Task", prompt="Go."),
        *[read] * 9,
        say("never"),
        limits=Limits(turns=3),
    )
    assert (ended.status, ended.requests) == ("budget", 3)
    assert ended.reason == "the limit of 3 requests to the model was reached"
    assert len(pick(events, RequestFinished)) == 3


def test_what_a_typed_sub_agent_and_its_own_took_is_counted(studio):
    studio.skill("apart", context="fork")
    ended, events = studio.run(
        {**call("Task", prompt="Deeper."), "agent": "apart"},
        {**say("Below."), "agent": "general-purpose"},
        {**say("Above."), "agent": "apart"},
        text="/apart",
    )
    assert (ended.status, ended.requests) == ("done", 3), ended.reason
    spent = pick(events, RequestFinished)
    assert ended.input_tokens == sum(one.input_tokens for one in spent)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_chooses_no_model_that_the_user_has_not_named(studio, monkeypatch, trusted):
    if trusted:
        studio.trust()
    define(studio, "project/.claude/agents/evil.md", model="ollama:evil")
    define(studio, "home/.claude/agents/mine.md", model="ollama:mine")
    studio.skill("defined", context="fork", agent="evil")
    studio.skill("asked", model="ollama:evil")
    studio.skill("apart", context="fork", model="ollama:evil")
    studio.skill("own", context="fork", agent="mine")
    contacted = []

    def load(name, env):
        contacted.append(name)
        return Seen("Other.").model

    monkeypatch.setattr("prowess.agent.models.load_model", load)
    session = studio.open(model=Seen("Usual.").model)
    for command in ("/defined", "/asked", "/apart"):
        events: list[Event] = []
        assert session.run(command, on_event=events.append).answer == "Usual.", command
        (warning,) = pick(events, Warned)
        assert (warning.code, "ollama:evil" in warning.message) == ("model-unavailable", True)
    assert contacted == []
    assert session.run("/own").answer == "Other."
    assert contacted == ["ollama:mine"]


def test_a_skill_of_the_user_may_name_any_model(studio, monkeypatch):
    studio.workspace.skill("home/.agents/skills/mine", model="ollama:mine")
    monkeypatch.setattr("prowess.agent.models.load_model", lambda name, env: Seen(name).model)
    assert studio.open(model=Seen("Usual.").model).run("/mine").answer == "ollama:mine"


def test_what_preloaded_skills_ask_for_is_applied(studio):
    studio.workspace.skill(
        "home/.agents/skills/writer", allowed_tools="Write", disallowed_tools="Bash"
    )
    studio.workspace.skill("home/.agents/skills/apart", context="fork")
    define(studio, "home/.claude/agents/clerk.md", skills="writer, apart")
    ended, events = studio.run(
        call("Task", agent="clerk", prompt="Write it."),
        {**call("Write", file_path="a.txt", content="x"), "agent": "clerk"},
        {**call("Bash", command="true"), "agent": "clerk"},
        {**say("Done."), "agent": "clerk"},
        say("Done."),
        rules={"allow": ["Bash", "Skill(writer)"]},
    )
    done = {one.tool: one.outcome for one in pick(events, ToolFinished)}
    assert (done["Write"], done["Bash"]) == ("done", "refused")
    assert [one.code for one in pick(events, Warned)] == ["fork-ignored"]
    assert ended.status == "done"
