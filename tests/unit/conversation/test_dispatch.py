"""Commands that go to tools: registered ones, declared ones, their variables, and how they are
called off.
"""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from prowess.activate.slash.dispatch import Cancel, ToolFunction, ToolReply, ToolRun
from prowess.errors import MachineError, UsageError
from prowess.errors.activation import Cancelled, CommandToolFailed, UnknownTool, UntrustedTool
from prowess.model.command import Finished
from prowess.runtime import Skills
from tests.unit.conversation.ports import Keyring, Recorder, trust
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"
TO_TOOL = {"command_dispatch": "tool", "command_tool": "exec"}
KEYS = '{"openclaw": {"primaryEnv": "WX_KEY", "requires": {"env": ["WX_REGION"]}}}'


def reply(skills: Skills, text: str) -> ToolReply:
    answer = skills.run(text)
    assert isinstance(answer, ToolReply), answer
    return answer


def test_a_registered_tool_gets_the_typed_text_and_its_reply_goes_to_the_user(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    skills = workspace.open()
    skills.register_tool("exec", lambda params, run: dict(params), description="Runs")
    answer = reply(skills, "/go  it's   raw ")
    assert answer.result == {"command": "it's   raw", "commandName": "go", "skillName": "go"}
    assert answer.text == "Done."


def test_an_asynchronous_tool_is_waited_for_also_inside_a_running_loop(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    skills = workspace.open()

    async def exec_(params: Mapping[str, str], run: ToolRun) -> str:
        await asyncio.sleep(0)
        return f"ran {params['command']}"

    skills.register_tool("exec", exec_)
    assert reply(skills, "/go x").text == "ran x"

    async def inside() -> str:
        return reply(skills, "/go y").text

    assert asyncio.run(inside()) == "ran y"


def test_a_later_tool_of_the_same_name_replaces_the_earlier_also_for_open_conversations(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    skills = workspace.open()
    skills.register_tool("exec", lambda params, run: "one")
    assert reply(skills, "/go").text == "one"
    skills.register_tool("exec", lambda params, run: "two")
    assert reply(skills, "/go").text == "two"


def test_a_missing_tool_lists_the_tools_there_are(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    workspace.write("home/.config/prowess/prowess.toml", '[tools.excel]\ncommand = ["excel"]\n')
    skills = workspace.open()
    skills.register_tool("browser", lambda params, run: None)
    with pytest.raises(UnknownTool) as caught:
        skills.run("/go")
    assert (caught.value.known, caught.value.nearest) == (("browser", "excel"), ("excel",))


def test_a_tool_that_looks_is_called_off(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    skills, cancel = workspace.open(), Cancel()

    def exec_(params: Mapping[str, str], run: ToolRun) -> str:
        threading.Timer(0.05, cancel.cancel).start()
        assert run.cancel.wait(120)
        raise RuntimeError("stopped half-way")

    skills.register_tool("exec", exec_)
    with pytest.raises(Cancelled):
        skills.run("/go", cancel=cancel)


@pytest.mark.needs("sleep")
def test_a_declared_program_is_ended_when_it_is_called_off(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    workspace.write(
        "home/.config/prowess/prowess.toml", '[tools.exec]\ncommand = ["sleep", "{argument}"]\n'
    )
    skills, cancel = workspace.open(), Cancel()
    threading.Timer(0.1, cancel.cancel).start()
    with pytest.raises(Cancelled):
        skills.run("/go 600", cancel=cancel)


@pytest.mark.needs("printf")
@pytest.mark.parametrize("typed", ["a b", "$(id)", "`id`; id", "'\"\\", "-n", "ü 天", "%s"])
def test_a_declared_program_gets_the_typed_text_as_one_argument(
    workspace: Workspace, typed: str
) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[tools.exec]\ncommand = ["printf", "%s|%s", "{command}", "{argument}"]\n',
    )
    assert reply(workspace.open(), f"/go {typed}").text == f"go|{typed}"


def test_a_declared_program_that_fails_tells_the_end_of_its_output(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    workspace.write("home/.config/prowess/prowess.toml", '[tools.exec]\ncommand = ["x"]\n')
    runner = Recorder(lambda command: Finished(code=3, output="no such city\n"))
    with pytest.raises(CommandToolFailed) as caught:
        workspace.open().conversation(runner=runner).run("/go y")
    assert caught.value.cause == "the program exited with code 3 and wrote: no such city"
    with pytest.raises(MachineError):
        workspace.open().run("/go y")


def test_a_tool_of_an_untrusted_project_refuses_until_the_project_is_trusted(
    workspace: Workspace,
) -> None:
    workspace.git()
    workspace.skill("project/.prowess/skills/go", **TO_TOOL)
    file = workspace.write("project/prowess.toml", '[tools.exec]\ncommand = ["x", "{argument}"]\n')
    runner = Recorder(lambda command: Finished(code=0, output="ran"))
    skills = workspace.open(cwd="project/deep")
    conversation = skills.conversation(runner=runner)
    with pytest.raises(UntrustedTool) as caught:
        conversation.run("/go x")
    assert (caught.value.name, str(file) in caught.value.origin, runner.ran) == ("exec", True, [])
    trust(skills)
    assert isinstance(conversation.run("/go x"), ToolReply)
    assert [command.argv for command in runner.ran] == [("x", "x")]


def test_the_variables_of_a_skill_are_an_argument_of_the_tool_and_no_part_of_this_process(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/wx", metadata=KEYS, **TO_TOOL)
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[skills.wx]\napi_key = { keyring = "prowess", account = "wx" }\n'
        '[skills.wx.env]\nWX_CITY = "Bern"\nLD_PRELOAD = "/x.so"\nOTHER_TOKEN = "t"\n',
    )
    skills = workspace.open(env={"WX_REGION": "eu", "UNRELATED": "1"})
    seen: list[Mapping[str, str]] = []

    def exec_(params: Mapping[str, str], run: ToolRun) -> str:
        seen.append(run.env)
        return f"{run.env['WX_KEY']} in {run.env['WX_CITY']}"

    skills.register_tool("exec", exec_)
    before = dict(os.environ)
    answer = skills.conversation(secrets=Keyring({"wx": "k-12345678"})).run("/wx")
    assert seen == [{"WX_CITY": "Bern", "WX_KEY": "k-12345678", "WX_REGION": "eu"}]
    assert dict(os.environ) == before
    assert isinstance(answer, ToolReply)
    assert answer.text == answer.result == "[secret] in Bern"
    assert [found.code for found in answer.diagnostics] == [
        "environment-refused",
        "environment-refused",
    ]
    assert "k-12345678" not in repr(answer)


def test_a_key_that_cannot_be_had_is_told_and_the_tool_is_called_without_it(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/wx", metadata='{"openclaw": {"primaryEnv": "WX_KEY"}}', **TO_TOOL)
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[skills.wx]\napi_key = { keyring = "locked", account = "wx" }\n',
    )
    skills = workspace.open()
    skills.register_tool("exec", lambda params, run: sorted(run.env))
    answer = skills.conversation(secrets=Keyring({})).run("/wx")
    assert isinstance(answer, ToolReply)
    assert (answer.result, [found.code for found in answer.diagnostics]) == (
        [],
        ["environment-unresolved"],
    )


def test_a_dispatch_is_counted_as_used_and_is_not_in_the_ledger(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/go", **TO_TOOL)
    skills = workspace.open(usage=True)
    skills.register_tool("exec", lambda params, run: None)
    reply(skills, "/go")
    assert skills.default_conversation.ledger.entries == ()
    assert [used.by_user for used in skills.usage().load_counts().values()] == [1]


SECRET = "k-12345678"


def run_with_key(workspace: Workspace, function: ToolFunction) -> ToolReply:
    """The reply of a tool that is given a key."""
    workspace.skill(f"{ROOT}/wx", metadata='{"openclaw": {"primaryEnv": "WX_KEY"}}', **TO_TOOL)
    workspace.write("home/.config/prowess/prowess.toml", f'[skills.wx]\napi_key = "{SECRET}"\n')
    skills = workspace.open()
    skills.register_tool("exec", function)
    return reply(skills, "/wx")


def raise_inside(error: BaseException, cause: BaseException | None = None) -> ToolFunction:
    def fail(params: Mapping[str, str], run: ToolRun) -> None:
        try:
            raise ValueError(run.env["WX_KEY"]) if cause is None else cause
        except ValueError:
            raise error  # noqa: B904

    return fail


@pytest.mark.parametrize(
    "error",
    [
        MachineError("open", f"https://x/?key={SECRET}", "no"),
        UsageError(SECRET),
        CommandToolFailed("inner", SECRET),
        RuntimeError(SECRET),
        RuntimeError("nothing secret"),
        MachineError("open", "x", "nothing secret"),
    ],
)
def test_no_error_of_a_tool_takes_the_key_along(workspace: Workspace, error: Exception) -> None:
    with pytest.raises(CommandToolFailed) as caught:
        run_with_key(workspace, raise_inside(error))
    failed = caught.value
    assert (failed.name, failed.__cause__, failed.__context__) == ("exec", None, None)
    assert SECRET not in "".join(traceback.format_exception(failed)) + repr(failed) + failed.cause
    assert ("nothing secret" in str(failed)) == ("nothing secret" in str(error))


def test_an_error_that_has_no_key_in_it_stays_what_it_is(workspace: Workspace) -> None:
    error, cause = MachineError("open", "x", "no"), ValueError("why")
    with pytest.raises(MachineError) as caught:
        run_with_key(workspace, raise_inside(error, cause))
    assert (caught.value, caught.value.__context__) == (error, cause)


def test_a_tool_that_is_called_off_tells_no_key_either(workspace: Workspace) -> None:
    def fail(params: Mapping[str, str], run: ToolRun) -> None:
        run.cancel.cancel()
        raise RuntimeError(run.env["WX_KEY"])

    with pytest.raises(Cancelled) as caught:
        run_with_key(workspace, fail)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert str(caught.value) == str(Cancelled("the tool “exec” was stopped"))


def test_the_key_is_masked_inside_a_result_and_no_result_is_shown(workspace: Workspace) -> None:
    blocks = {
        "content": [{"type": "text", "text": f"is {SECRET}"}, {"type": "image", "data": [SECRET]}]
    }
    answer = run_with_key(workspace, lambda params, run: blocks)
    assert answer.text == "is [secret]"
    assert answer.result == {
        "content": [
            {"type": "text", "text": "is [secret]"},
            {"type": "image", "data": ["[secret]"]},
        ]
    }
    told = run_with_key(workspace, lambda params, run: Shown(run.env["WX_KEY"]))
    assert isinstance(told.result, Shown)
    assert SECRET not in repr(told) + str(list(told.__rich_repr__()))
    assert (
        repr(told)
        == f"ToolReply(text='Done.', tool='exec', run_id='{told.run_id}', result=<Shown>, diagnostics=())"
    )


@dataclass
class Shown:
    """An object of a tool's own, which shows what it holds."""

    key: str
