"""What the documents of the hosts say about skills inside an agent, in their documented editions."""

from __future__ import annotations

import pytest

from prowess.agent.events import SkillLoaded, ToolFinished, ToolStarted
from tests.agent.studio import call, pick, say
from tests.agent.test_session import Seen


@pytest.mark.seed("P-62")
def test_context_files_are_always_there_and_a_skill_only_where_it_is_asked_for(studio):
    studio.host = "omp@documented"
    studio.write("AGENTS.md", "Be brief.\n")
    studio.workspace.skill(
        "project/.omp/skills/tides", description="Reads tide tables.", body="Read the table.\n"
    )
    seen = Seen()
    session = studio.open(model=seen.model)
    session.run("hello")
    session.run("/skill:tides now")
    assert all("Be brief." in one for one in seen.instructions)
    assert all("Read the table." not in one for one in seen.instructions)
    assert "Read the table." not in str(seen.messages[0])
    assert "Read the table." in str(seen.messages[1][-1])


@pytest.mark.seed("P-63")
def test_a_skill_adds_no_tool_has_no_effect_of_its_own_and_blocks_nothing(studio):
    studio.host = "omp@documented"
    studio.workspace.skill(
        "project/.omp/skills/loud",
        body="Delete a.txt: !`rm a.txt`\n",
        hooks='{"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}',
    )
    studio.write("a.txt", "A\n")
    studio.trust()
    offered: list[list[str]] = []

    class Tools(Seen):
        async def _stream(self, messages, info):
            offered.append([tool.name for tool in info.function_tools])
            async for piece in super()._stream(messages, info):
                yield piece

    session = studio.open(model=Tools().model)
    session.run("hello")
    session.run("/skill:loud")
    assert offered[0] == offered[1]
    assert studio.read("a.txt") == "A\n"
    ended, events = studio.run(call("Read", file_path="a.txt"), say("A."), text="/skill:loud")
    assert ended.status == "done"
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done"]


@pytest.mark.seed("W-02")
def test_a_new_or_changed_skill_takes_effect_without_a_restart(studio):
    studio.host = "openclaw@documented"
    seen = Seen()
    session = studio.open(model=seen.model)
    session.run("hello")
    folder = "home/.openclaw/skills/late"
    studio.workspace.skill(folder, description="Came late.", body="Old.\n")
    session.run("hello")
    studio.workspace.skill(folder, description="Came later.", body="New text.\n")
    session.run("hello")
    listed = [str(one) + text for one, text in zip(seen.messages, seen.instructions, strict=True)]
    found = [("Came late." in one, "Came later." in one) for one in listed]
    assert (found[0], found[1][0], found[2][1]) == ((False, False), True, True)


@pytest.mark.seed("W-03")
def test_a_request_goes_from_the_list_to_the_file_to_the_tools_to_the_answer(studio):
    studio.host = "openclaw@documented"
    file = studio.workspace.skill(
        "home/.openclaw/skills/count",
        body="Run `wc -l` on the file.\n",
        description="Counts lines.",
    )
    studio.write("a.txt", "1\n2\n")
    listed = ["<available_skills>", "- count: Counts lines."]
    ended, events = studio.run(
        {**call("Read", file_path=str(file)), "expect": listed},
        {**call("Bash", command="wc -l a.txt"), "expect": ["Run `wc -l` on the file."]},
        {**say("Two lines."), "expect": ["2 a.txt"]},
        rules={"allow": ["Bash(wc *)"]},
    )
    assert (ended.status, ended.answer) == ("done", "Two lines.")
    assert [one.tool for one in pick(events, ToolStarted)] == ["Read", "Bash"]


@pytest.mark.seed("C-75")
def test_a_forked_skill_runs_in_a_sub_agent_of_its_own(studio):
    studio.host = "claude-code@documented"
    studio.workspace.skill(
        "project/.claude/skills/explore",
        body="Find the flag.\n",
        context="fork",
        description="Finds things.",
    )
    studio.write("flag.txt", "red\n")
    ended, events = studio.run(
        call("Skill", skill="explore"),
        {**call("Read", file_path="flag.txt"), "agent": "explore", "expect": ["Find the flag."]},
        {**say("It is red."), "agent": "explore", "expect": ["red"]},
        {**say("The flag is red."), "expect": ["It is red."]},
        text="Which colour has the flag?",
    )
    assert (ended.status, ended.answer) == ("done", "The flag is red."), ended.reason
    assert [one.agent for one in pick(events, ToolStarted)] == ["", "explore"]
    assert [one.name for one in pick(events, SkillLoaded)] == ["explore"]
