"""Commands that go to a tool in place of the model, and tools that a settings file declares."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from prowess.activate.async_results import settle
from prowess.activate.slash.commands import build_commands
from prowess.activate.slash.dispatch import (
    Cancel,
    CommandTool,
    CommandTools,
    Dispatch,
    ToolReply,
    ToolRun,
    check_dispatch,
    dispatch,
    find_dispatch,
    find_text,
)
from prowess.activate.slash.parser import CommandCall, parse_command
from prowess.errors import SettingError
from prowess.errors.activation import Cancelled, CommandToolFailed, UnknownTool
from prowess.machine.event_loop import wait_for
from prowess.model.command import Command, Finished
from prowess.model.settings import DeclaredTool
from prowess.model.skill import Manifest
from prowess.shell.configured_tools import build_argv, make_tool, make_tools
from tests.workspace import Workspace

WEATHER = Dispatch(tool_name="weather_fetch")


def call_tool(
    tool: CommandTool, arguments: str = "北京", *, run: ToolRun | None = None, **options: Any
) -> ToolReply:
    return dispatch(
        WEATHER,
        arguments=arguments,
        command_name="weather",
        skill_name="weather",
        tools=CommandTools.of([tool]),
        run=run or ToolRun(id="call-1"),
        **options,
    )


def make(function) -> CommandTool:
    return CommandTool(name="weather_fetch", function=function)


# What a header declares


@pytest.mark.seed("A-19", "A-20", "W-42")
@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (
            Manifest(command_dispatch="tool", command_tool="sessions_send"),
            Dispatch(tool_name="sessions_send"),
        ),
        (
            Manifest(command_dispatch="tool", command_tool="s", command_arg_mode="raw"),
            Dispatch(tool_name="s"),
        ),
        (Manifest(command_dispatch="tool"), None),
        (Manifest(command_dispatch="tool", command_tool="  "), None),
        (Manifest(command_tool="sessions_send"), None),
        (Manifest(), None),
    ],
)
def test_a_dispatch_needs_both_fields_and_is_always_raw(manifest, expected):
    assert find_dispatch(manifest) == expected
    if expected is not None:
        assert (expected.kind, expected.arg_mode) == ("tool", "raw")


def test_half_a_dispatch_is_reported():
    (found,) = check_dispatch(Manifest(command_dispatch="tool"), file="/s/SKILL.md")
    assert str(found) == (
        "/s/SKILL.md: `command-dispatch` has no effect without `command-tool`; the command goes to the model. [field-value]"
    )
    (found,) = check_dispatch(Manifest(command_tool="x"))
    assert found.hint == "Add `command-dispatch: tool`, or remove `command-tool`."
    assert (
        check_dispatch(Manifest())
        == check_dispatch(Manifest(command_dispatch="tool", command_tool="x"))
        == ()
    )


# Through a host


@pytest.mark.seed("A-01", "A-03", "A-25", "A-26", "W-43")
def test_a_command_with_a_dispatch_goes_to_its_tool_with_the_text_unchanged_and_the_body_takes_no_part(
    workspace: Workspace,
):
    place = workspace.skill(
        "project/skills/weather", command_dispatch="tool", command_tool="weather_fetch"
    )
    workspace.skill("project/skills/other")
    skills = workspace.open("openclaw@documented")
    commands = build_commands(skills.snapshot, skills.profile.commands)
    place.unlink()
    calls: list[tuple[Mapping[str, str], str]] = []

    def fetch(params: Mapping[str, str], run: ToolRun) -> str:
        calls.append((params, run.id))
        return "晴"

    typed = parse_command("/weather  北京 $(x) `y` ", commands, skills.profile.commands)
    assert isinstance(typed, CommandCall)
    assert typed.command.dispatch is not None
    replies = [
        dispatch(
            typed.command.dispatch,
            arguments=typed.arguments,
            command_name=typed.command.name,
            skill_name=typed.command.skill_name,
            tools=CommandTools.of([CommandTool(name="weather_fetch", function=fetch)]),
            run=ToolRun(id=f"call-{number}"),
        )
        for number in (1, 2)
    ]
    params = {"command": "北京 $(x) `y`", "commandName": "weather", "skillName": "weather"}
    assert calls == [(params, "call-1"), (params, "call-2")]
    assert [reply.text for reply in replies] == ["晴", "晴"]
    other = parse_command("/other x", commands, skills.profile.commands)
    assert isinstance(other, CommandCall)
    assert other.command.dispatch is None


# Calling


@pytest.mark.seed("A-22", "A-23")
def test_a_tool_gets_the_raw_arguments_both_names_a_call_id_and_a_way_to_be_called_off():
    seen: list[Any] = []
    run = ToolRun(id="call-7", env={"KEY": "secret"})
    call_tool(make(lambda params, run: seen.extend((dict(params), run))), "a  b", run=run)
    assert seen == [{"command": "a  b", "commandName": "weather", "skillName": "weather"}, run]
    assert (seen[1].id, seen[1].cancel.is_cancelled, seen[1].env) == (
        "call-7",
        False,
        {"KEY": "secret"},
    )


@pytest.mark.seed("A-24")
@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("sunny", "sunny"),
        ("  sunny\n", "sunny"),
        ({"content": "sunny"}, "sunny"),
        ({"text": "sunny"}, "sunny"),
        (
            {
                "content": [
                    {"type": "text", "text": "sun"},
                    {"type": "image"},
                    {"type": "text", "text": "ny"},
                ]
            },
            "sun\nny",
        ),
        ([{"type": "text", "text": "sunny"}], "sunny"),
        (["a", "b"], "a\nb"),
        (None, "Done."),
        ("", "Done."),
        ({"content": []}, "Done."),
        ({"content": [{"type": "image"}]}, "Done."),
        ({"ok": True}, "Done."),
        (b"bytes", "Done."),
        (7, "Done."),
    ],
)
def test_the_text_of_the_result_is_the_reply_and_done_where_it_has_none(result, expected):
    reply = call_tool(make(lambda params, call: result))
    assert (reply.text, reply.tool, reply.run_id, reply.result) == (
        expected,
        "weather_fetch",
        "call-1",
        result,
    )
    assert (find_text(result) or "Done.") == expected


@pytest.mark.seed("A-21")
def test_a_tool_is_found_by_its_exact_name_and_a_missing_one_lists_those_there_are():
    tools = CommandTools.of(
        [CommandTool(name="b", function=print), CommandTool(name="Weather_Fetch", function=print)]
    )
    with pytest.raises(UnknownTool) as caught:
        tools.get("weather_fetch")
    assert (
        str(caught.value)
        == "There is no tool named “weather_fetch”; the tools are Weather_Fetch, b."
    )
    assert caught.value.hint == "Did you mean “Weather_Fetch”?"
    with pytest.raises(UnknownTool) as caught:
        CommandTools().get("x")
    assert str(caught.value) == "There is no tool named “x”; no tools are registered."
    assert caught.value.hint == (
        'Register it, or declare it in prowess.toml: `[tools.x]` with `command = ["program", …]`.'
    )


def test_registering_a_tool_gives_a_new_value_and_replaces_one_of_the_same_name():
    first, second = (
        CommandTool(name="a", function=lambda params, call: "1"),
        CommandTool(name="a", function=lambda params, call: "2"),
    )
    tools = CommandTools().add(first)
    assert tools.add(second).get("a") is second
    assert (tools.get("a"), len(tools), list(tools)) == (first, 1, [first])


def test_a_tool_that_raises_has_failed_and_its_trace_is_kept():
    def break_down(params, call):
        raise ValueError("no such city\nat all")

    with pytest.raises(CommandToolFailed) as caught:
        call_tool(make(break_down))
    assert str(caught.value) == "The tool “weather_fetch” failed: ValueError: no such city at all."
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_call_that_was_called_off_before_is_not_made_and_one_that_stops_was_called_off():
    run = ToolRun(id="c")
    run.cancel.cancel()
    with pytest.raises(Cancelled) as caught:
        call_tool(make(lambda params, call: pytest.fail("it was called")), run=run)
    assert str(caught.value) == "Cancelled: the tool “weather_fetch” was not called."

    def stop(params, call):
        call.cancel.cancel()
        raise OSError("interrupted")

    with pytest.raises(Cancelled):
        call_tool(make(stop))


def test_waiting_for_a_cancel_says_whether_it_came():
    cancel = Cancel()
    assert cancel.wait(0) is False
    cancel.cancel()
    assert cancel.wait(0) is True


# Asynchronous tools


async def fetch_later(params, call):
    import asyncio

    await asyncio.sleep(0)
    return "later"


async def fetch_at_once(params, call):
    return "at once"


def test_an_asynchronous_tool_is_waited_for():
    assert call_tool(make(fetch_later), wait=wait_for).text == "later"
    assert call_tool(make(fetch_at_once)).text == "at once"


def test_an_asynchronous_tool_that_has_to_wait_needs_somebody_who_can():
    with pytest.raises(CommandToolFailed) as caught:
        call_tool(make(fetch_later))
    assert str(caught.value) == (
        "The tool “weather_fetch” failed: the callback is async, but no event-loop runner was provided."
    )


def test_waiting_works_inside_a_running_loop_too():
    import asyncio

    async def outer():
        return settle(fetch_later({}, None), wait_for)

    assert asyncio.run(outer()) == "later"


# Declared tools


class Runs:
    """A `Runner` that notes what it is given and gives back what it is told, or runs it for real."""

    def __init__(self, finished: Finished | None = None) -> None:
        self.seen: list[Command] = []
        self.finished = finished

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        assert is_cancelled is not None
        assert is_cancelled() is False
        self.seen.append(command)
        if self.finished is not None:
            return self.finished
        done = subprocess.run(command.argv, capture_output=True, text=True, env={**command.env})
        return Finished(code=done.returncode, output=done.stdout + done.stderr)


PARAMS = {"command": "a; b", "commandName": "weather", "skillName": "my-weather"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (["prog", "{argument}"], ("prog", "a; b")),
        (["prog", "--city", "{argument}", "-v"], ("prog", "--city", "a; b", "-v")),
        (["prog", "{command}", "{skill}", "{argument}"], ("prog", "weather", "my-weather", "a; b")),
        (["jq", "{a: .b}", "{argument}"], ("jq", "{a: .b}", "a; b")),
        (["prog"], ("prog", "a; b")),
        (["prog", "{other}"], ("prog", "{other}", "a; b")),
    ],
)
def test_what_was_typed_is_one_argument_of_the_program(template, expected):
    assert build_argv(template, PARAMS) == expected


def test_a_program_without_a_place_for_arguments_gets_none_where_nothing_was_typed():
    assert build_argv(["prog"], {**PARAMS, "command": ""}) == ("prog",)
    assert build_argv(["prog", "{argument}"], {**PARAMS, "command": ""}) == ("prog", "")


def test_what_was_typed_is_not_looked_at_again():
    params = {**PARAMS, "command": "{skill} {argument}"}
    assert build_argv(["prog", "{argument}"], params) == ("prog", "{skill} {argument}")


@pytest.mark.needs("printf")
@pytest.mark.parametrize(
    "typed", ["$(touch x) `id` ; & | > '\"\\ *", "-n", "two  words\nlines", "北京"]
)
def test_a_real_program_gets_it_unchanged(typed):
    tool = make_tool("weather_fetch", DeclaredTool(command=("printf", "%s|", "{argument}")), Runs())
    reply = call_tool(tool, typed)
    assert reply.result == f"{typed}|"


def test_what_is_asked_about_is_the_command_as_it_was_declared_and_only_this_skills_variables_go_along():
    runner = Runs(Finished(code=0, output="ok\n"))
    declared = DeclaredTool(command=("prog", "{argument}", "a b"), description="d")
    tool = make_tool("weather_fetch", declared, runner, cwd="/p")
    assert tool.description == "d"
    assert call_tool(tool, run=ToolRun(id="c", env={"K": "v"})).text == "ok"
    assert runner.seen == [
        Command(
            text="prog '{argument}' 'a b'", argv=("prog", "北京", "a b"), env={"K": "v"}, cwd="/p"
        )
    ]


SHELL = "it was not run: a shell would run an argument as code"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["sh", "-c", "echo got {argument}"], "`{argument}` is only part of “echo got {argument}”; make it its own item in `command`"),
        (["prog", "--for={skill}"], "`{skill}` is only part of “--for={skill}”; make it its own item in `command`"),
        (["sh", "-c", "{argument}"], SHELL),
        (["sh", "-c"], SHELL),
        (["bash", "-eo", "pipefail", "-c", "{argument}"], SHELL),
        (["env", "sh", "-c", "{argument}"], SHELL),
        (["bash", "{argument}"], SHELL),
        (["bash"], SHELL),
        (["{argument}"], "it was not run: an argument would decide which program runs"),
    ],
)  # fmt: skip
def test_a_shell_that_would_run_what_was_typed_is_refused_and_not_started(command, why):
    runner = Runs()
    with pytest.raises(CommandToolFailed) as caught:
        call_tool(
            make_tool("weather_fetch", DeclaredTool(command=tuple(command)), runner), "a; touch PWN"
        )
    assert (str(caught.value), runner.seen) == (f"The tool “weather_fetch” failed: {why}.", [])


@pytest.mark.needs("sh")
def test_a_script_of_the_template_gets_what_was_typed_as_its_parameter():
    tool = make_tool(
        "weather_fetch", DeclaredTool(command=("sh", "-c", 'echo "$1"', "sh", "{argument}")), Runs()
    )
    assert call_tool(tool, "a; $(touch PWN)").text == "a; $(touch PWN)"


def test_more_than_a_program_can_be_given_is_refused_with_its_size():
    runner = Runs()
    with pytest.raises(CommandToolFailed) as caught:
        call_tool(
            make_tool("weather_fetch", DeclaredTool(command=("prog",)), runner), "x" * 200_000
        )
    why = "its program would receive a value of 200,000 bytes; the limit is 130,000"
    assert (str(caught.value), runner.seen) == (f"The tool “weather_fetch” failed: {why}.", [])


def test_a_program_that_fails_is_told_with_the_end_of_its_output():
    tool = make_tool(
        "weather_fetch",
        DeclaredTool(command=("p",)),
        Runs(Finished(code=3, output="x" * 3_000 + " end\n")),
    )
    with pytest.raises(CommandToolFailed) as caught:
        call_tool(tool)
    lead = "The tool “weather_fetch” failed: the program exited with code 3 and wrote: …xxx"
    assert str(caught.value).startswith(lead)
    assert str(caught.value).endswith("x end.")


def test_a_program_that_was_stopped_is_told():
    tool = make_tool("weather_fetch", DeclaredTool(command=("p",)), Runs(Finished(code=None)))
    with pytest.raises(CommandToolFailed, match="stopped at its time limit"):
        call_tool(tool)


def test_a_nul_character_cannot_be_given_to_a_program():
    runner = Runs()
    with pytest.raises(CommandToolFailed, match="NUL"):
        call_tool(make_tool("weather_fetch", DeclaredTool(command=("p",)), runner), "a\0b")
    assert runner.seen == []


# Settings


def test_tools_are_declared_in_prowess_toml_and_a_project_cannot_replace_those_of_its_user(
    workspace: Workspace,
):
    workspace.git()
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[tools.both]\ncommand = ["user"]\n[tools.mine]\ncommand = ["m"]\n',
    )
    workspace.write(
        "project/prowess.toml",
        '[tools.weather_fetch]\ncommand = ["./bin/weather", "{argument}"]\ndescription = "The weather."\n'
        '[tools.both]\ncommand = ["theirs"]\n',
    )
    settings = workspace.open(cwd="project").settings()
    assert settings.tools == {
        "both": DeclaredTool(command=("user",)),
        "mine": DeclaredTool(command=("m",)),
        "weather_fetch": DeclaredTool(
            command=(workspace.path("project/bin/weather"), "{argument}"),
            description="The weather.",
        ),
    }
    origin = settings.origin("tools.weather_fetch")
    assert (origin.file, origin.line) == (workspace.path("project/prowess.toml"), 1)
    assert [tool.name for tool in make_tools(settings.tools, Runs())] == [
        "both",
        "mine",
        "weather_fetch",
    ]
    assert [found.message for found in settings.diagnostics] == [
        "`tools.both` has no effect in a project's file: your own prowess.toml declares a tool with that name."
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[tools.x]\ncommand = "rm -rf"\n',
            "`tools.x.command` must be a list with the program and its arguments; got the string “rm -rf”.",
        ),
        (
            "[tools.x]\ncommand = []\n",
            "`tools.x.command` must be a list with the program and its arguments; got a list.",
        ),
        ("[tools.x]\ncommand = [1]\n", "`tools.x.command.0` must be a string; got 1."),
        (
            "[tools.x]\n",
            "`tools.x` has no `command`; add a list with the program and its arguments.",
        ),
        (
            '[tools.x]\ncomand = ["a"]\n',
            "`tools.x.comand` is not a known setting; did you mean `tools.x.command`?",
        ),
        ("[tools]\nx = 1\n", "`tools.x` must be a table; got 1."),
    ],
)
def test_a_wrong_declaration_names_its_place(workspace: Workspace, text, problem):
    workspace.write("project/prowess.toml", text)
    with pytest.raises(SettingError) as caught:
        workspace.open().settings()
    assert str(caught.value).partition(": ")[2] == problem
