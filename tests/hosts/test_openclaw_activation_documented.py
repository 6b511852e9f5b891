"""OpenClaw as its seeds describe it, end to end: commands, the way around the model, and the
variables of a skill.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from prowess.activate.slash.dispatch import Cancel, Dispatch, ToolReply, ToolRun
from prowess.activate.slash.messages import Message
from prowess.activate.slash.parser import Notice
from prowess.errors.activation import CommandToolFailed, UnknownTool
from prowess.model.command import Finished
from prowess.runtime import Skills
from tests.unit.conversation.ports import Recorder, plain
from tests.workspace import Workspace

HOST = "openclaw@documented"
ROOT = "home/.openclaw/skills"
TO_TOOL = {"command_dispatch": "tool", "command_tool": "exec"}


class Exec:
    """A tool that remembers its calls."""

    def __init__(self, result: object = "sunny") -> None:
        self.calls: list[tuple[Mapping[str, str], ToolRun]] = []
        self._result = result

    def __call__(self, params: Mapping[str, str], run: ToolRun) -> object:
        self.calls.append((params, run))
        return self._result


def register(skills: Skills, result: object = "sunny") -> Exec:
    tool = Exec(result)
    skills.register_tool("exec", tool)
    return tool


@pytest.mark.seed("A-02", "A-03", "A-26", "W-41", "W-42", "W-43", "A-20", "A-21", "A-22", "A-23")
def test_a_command_with_a_dispatch_goes_straight_to_the_tool_with_the_text_as_it_was_typed(
    workspace: Workspace,
) -> None:
    workspace.skill(
        f"{ROOT}/weather", description="Tells the weather", command_arg_mode="raw", **TO_TOOL
    )
    skills = workspace.open(HOST)
    command = skills.commands().by_name["weather"]
    assert (command.name, command.skill_name, command.description) == (
        "weather",
        "weather",
        "Tells the weather",
    )
    assert command.dispatch == Dispatch(kind="tool", tool_name="exec", arg_mode="raw")
    tool, cancel = register(skills), Cancel()
    answer = skills.run("/weather 北京  明天", cancel=cancel)
    (params, run), *others = tool.calls
    assert others == []
    assert params == {"command": "北京  明天", "commandName": "weather", "skillName": "weather"}
    assert (len(run.id), run.cancel) == (32, cancel)
    assert isinstance(answer, ToolReply)
    assert (answer.text, answer.tool, answer.run_id) == ("sunny", "exec", run.id)
    assert skills.default_conversation.ledger.entries == ()


@pytest.mark.seed("A-24")
@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("It rains.", "It rains."),
        (
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image"},
                    {"type": "text", "text": "b"},
                ]
            },
            "a\nb",
        ),
        ({"content": []}, "Done."),
        (None, "Done."),
        ("  ", "Done."),
    ],
)
def test_the_text_of_the_result_is_the_reply(
    workspace: Workspace, result: object, text: str
) -> None:
    workspace.skill(f"{ROOT}/weather", **TO_TOOL)
    skills = workspace.open(HOST)
    register(skills, result)
    answer = skills.run("/weather")
    assert isinstance(answer, ToolReply)
    assert answer.text == text


@pytest.mark.seed("A-25", "A-26")
def test_the_body_takes_no_part_in_a_dispatch(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/weather", body="Ask for $ARGUMENTS\n", **TO_TOOL)
    skills = workspace.open(HOST)
    tool = register(skills)
    first = skills.run("/weather x")
    file.unlink()
    second = skills.run("/weather x")
    assert isinstance(first, ToolReply)
    assert isinstance(second, ToolReply)
    assert first.text == second.text == "sunny"
    assert tool.calls[0][0] == tool.calls[1][0]


@pytest.mark.seed("A-05", "A-19")
@pytest.mark.parametrize("half", [{"command_dispatch": "tool"}, {"command_tool": "exec"}])
def test_half_of_a_dispatch_is_none_and_the_command_goes_to_the_model(
    workspace: Workspace, half: dict[str, str]
) -> None:
    workspace.skill(f"{ROOT}/weather", **half)
    skills = workspace.open(HOST)
    tool = register(skills)
    assert skills.commands().by_name["weather"].dispatch is None
    assert isinstance(skills.run("/weather x"), Message)
    assert tool.calls == []


@pytest.mark.seed("A-01", "A-21")
def test_a_skill_whose_tool_nobody_registered_runs_nothing_and_lists_the_tools(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/weather", command_dispatch="tool", command_tool="Exec")
    workspace.write(f"{ROOT}/weather/exec.sh", "touch ran")
    skills = workspace.open(HOST)
    tool = register(skills)
    skills.register_tool("browser", lambda params, run: None)
    with pytest.raises(UnknownTool) as caught:
        skills.run("/weather")
    assert str(caught.value) == "There is no tool named “Exec”; the tools are browser, exec."
    assert tool.calls == []


@pytest.mark.seed("A-03", "A-27", "A-33", "A-12")
def test_a_command_without_a_dispatch_is_a_message_that_names_the_skill_and_not_its_body(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/weather", body="Ask the sky.\n")
    skills = workspace.open(HOST)
    assert plain(skills.run("/weather  北京 明天 ")) == {
        "parts": [
            'This request is for the skill "weather": read the skill and follow it.\n\nUser input:\n北京 明天'
        ],
        "skills": ["weather"],
    }
    assert "Ask the sky." not in skills.catalog().text
    # The body is what the model then reads, from the file that the catalog names.
    assert skills.activate("weather", by="model").text.count("Ask the sky.") == 1
    assert str(file) in skills.catalog().text


@pytest.mark.seed("A-02", "W-41")
def test_a_command_has_a_name_of_its_own(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/a", name="Weather in Town!")
    workspace.skill(f"{ROOT}/b", name="weather in town")
    workspace.skill(f"{ROOT}/c", name="x" * 40)
    skills = workspace.open(HOST)
    assert [(command.name, command.skill_name) for command in skills.commands()] == [
        ("weather_in_town", "weather in town"),
        ("weather_in_town_2", "Weather in Town!"),
        ("x" * 32, "x" * 40),
    ]
    answer = skills.run("/WEATHER_IN_TOWN_2 now")
    assert isinstance(answer, Message)
    assert answer.skills == ("Weather in Town!",)


def test_a_skill_for_the_model_alone_is_answered_with_a_notice(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather", user_invocable="false", **TO_TOOL)
    skills = workspace.open(HOST)
    tool = register(skills)
    answer = skills.run("/weather x")
    assert isinstance(answer, Notice)
    assert (answer.kind, answer.name, tool.calls) == ("not-invocable", "weather", [])


KEYS = '{"openclaw": {"skillKey": "wx", "primaryEnv": "WX_KEY"}}'


@pytest.mark.seed("W-08", "W-47", "W-48", "W-49", "W-50")
def test_the_variables_of_a_skill_reach_its_tools_and_nothing_else(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather", metadata=KEYS, **TO_TOOL)
    workspace.skill(f"{ROOT}/other", **TO_TOOL)
    workspace.write(
        "home/.openclaw/openclaw.json",
        '{"skills": {"wx": {"env": {"WX_CITY": "Bern", "WX_KEY": "k-12345678"}}, "other": {"env": {"O": "1"}}}}',
    )
    skills = workspace.open(HOST)
    tool = register(skills)
    before = dict(os.environ)
    skills.run("/weather x")
    skills.run("/other x")
    assert [run.env for _, run in tool.calls] == [
        {"WX_CITY": "Bern", "WX_KEY": "k-12345678"},
        {"O": "1"},
    ]
    assert dict(os.environ) == before
    assert "k-12345678" not in repr(tool.calls[0][1])


@pytest.mark.seed("W-47", "W-48")
def test_the_releases_own_place_for_variables_counts_as_well(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather", metadata=KEYS, **TO_TOOL)
    workspace.write(
        "home/.openclaw/openclaw.json", '{"skills": {"entries": {"wx": {"apiKey": "k-12345678"}}}}'
    )
    skills = workspace.open(HOST)
    tool = register(skills, "your key is k-12345678")
    answer = skills.run("/weather x")
    assert tool.calls[0][1].env == {"WX_KEY": "k-12345678"}
    assert isinstance(answer, ToolReply)
    assert (answer.text, answer.result) == ("your key is [secret]", "your key is [secret]")


def test_secrets_are_masked_where_a_tool_fails(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather", metadata=KEYS, **TO_TOOL)
    workspace.write(
        "home/.openclaw/openclaw.json", '{"skills": {"wx": {"env": {"WX_KEY": "k-12345678"}}}}'
    )
    skills = workspace.open(HOST)

    def fail(params: Mapping[str, str], run: ToolRun) -> str:
        raise ValueError(f"401 for {run.env['WX_KEY']}")

    skills.register_tool("exec", fail)
    with pytest.raises(CommandToolFailed) as caught:
        skills.run("/weather x")
    assert caught.value.cause == "ValueError: 401 for [secret]"


def test_a_declared_tool_gets_the_typed_text_as_one_argument_and_the_variables_of_the_skill(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/weather", metadata=KEYS, **TO_TOOL)
    workspace.write(
        "home/.openclaw/openclaw.json", '{"skills": {"wx": {"env": {"WX_KEY": "k-12345678"}}}}'
    )
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[tools.exec]\ncommand = ["wx", "--for", "{argument}", "{skill}"]\n',
    )
    runner = Recorder(lambda command: Finished(code=0, output="k-12345678\n"))
    skills = workspace.open(HOST)
    answer = skills.conversation(runner=runner).run("/weather a; rm -rf $HOME 'x'")
    assert [(one.argv, one.env, one.cwd, one.shell) for one in runner.ran] == [
        (
            ("wx", "--for", "a; rm -rf $HOME 'x'", "weather"),
            {"WX_KEY": "k-12345678"},
            skills.cwd,
            "",
        )
    ]
    assert isinstance(answer, ToolReply)
    assert answer.text == "[secret]"
