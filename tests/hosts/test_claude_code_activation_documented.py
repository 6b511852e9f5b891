"""Claude Code as its seed describes it, end to end: command and tool, variables, commands in
bodies, conditions, code.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from typing import Any

import pytest

from prowess.activate.code_skills import DefinedSkill, PromptContext
from prowess.activate.slash.messages import Message
from prowess.errors import MachineError
from prowess.errors.activation import Unavailable
from prowess.gate.permissions import parse_given
from prowess.model.activation import SkillRequests
from prowess.model.command import Finished
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom, Root, Scope, Source
from tests.unit.conversation.ports import ALWAYS, Person, Recorder, trust
from tests.workspace import Workspace

HOST = "claude-code@documented"
ROOT = "home/.claude/skills"


@pytest.mark.seed("C-01", "C-73", "C-76")
def test_a_skill_is_offered_as_a_command_and_through_the_tool(workspace: Workspace) -> None:
    workspace.skill(
        f"{ROOT}/api", description="Makes an endpoint", body="Make it.\n", context="inline"
    )
    skills = workspace.open(HOST)
    folder = workspace.path(f"{ROOT}/api")
    body = f"Base folder of this skill: {folder}\n\nMake it.\n"
    typed = skills.run("/api")
    assert isinstance(typed, Message)
    assert typed.parts == (
        "<command-message>api</command-message>\n<command-name>/api</command-name>",
        body,
    )
    tool = skills.conversation().tool()
    assert (tool.name, list(tool.parameters["properties"]), tool.parameters["required"]) == (
        "Skill",
        ["skill", "args"],
        ["skill"],
    )
    loaded = tool(skill="/api")
    assert (loaded.text, loaded.requests) == (body, SkillRequests())


@pytest.mark.seed("C-77", "C-78", "C-79", "C-74")
def test_variables_and_named_arguments_are_filled(workspace: Workspace) -> None:
    workspace.skill(
        f"{ROOT}/api",
        arguments="endpoint format",
        body="Make `$endpoint` as $format in ${CLAUDE_SKILL_DIR} for ${CLAUDE_SESSION_ID}; $endpoints stays.\n",
    )
    folder = workspace.path(f"{ROOT}/api")
    conversation = workspace.open(HOST).conversation(session="c-9")
    made = conversation.activate("api", "'/users list' json", by="model")
    assert made.text == (
        f"Base folder of this skill: {folder}\n\nMake `/users list` as json in {folder} for c-9; $endpoints stays.\n"
    )


@pytest.mark.seed("C-80", "C-81", "C-82", "C-83", "C-74")
@pytest.mark.needs("bash")
def test_commands_in_a_body_are_run_by_a_real_shell_after_variables_were_filled(
    workspace: Workspace,
) -> None:
    workspace.skill(
        f"{ROOT}/log",
        body=(
            "Notes: !`cat ${CLAUDE_SKILL_DIR}/notes.md | head -1`.\n\n"
            '```!\necho "$PROWESS_SKILL_DIR"\npwd\n```\n\n'
            "```\n!`reboot`\n```\n"
        ),
    )
    workspace.write(f"{ROOT}/log/notes.md", "first $ARGUMENTS !`x`\nsecond\n")
    folder = workspace.path(f"{ROOT}/log")
    made = workspace.open(HOST, bins=["bash"]).activate("log", by="model")
    assert made.text == (
        f"Base folder of this skill: {folder}\n\n"
        "Notes: first $ARGUMENTS !`x`.\n\n"
        f"{folder}\n{workspace.project}\n\n"
        "```\n!`reboot`\n```\n"
    )


@pytest.mark.seed("C-83")
def test_the_field_shell_names_the_shell(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/win", shell="powershell", body="!`Get-Date`\n")
    runner = Recorder(lambda command: Finished(code=0, output="today\n"))
    made = workspace.open(HOST, bins=["pwsh"]).conversation(runner=runner).activate("win")
    assert [(command.shell, command.argv[0], command.text) for command in runner.ran] == [
        ("powershell", "pwsh", "Get-Date")
    ]
    assert made.text.endswith("\n\ntoday\n")


def test_commands_of_a_project_stay_text_until_it_is_trusted(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/log", body="!`git log`\n")
    runner = Recorder()
    skills = workspace.open(HOST)
    conversation = skills.conversation(runner=runner)
    made = conversation.activate("log")
    assert made.text.endswith("\n\n!`git log` [not run: its project is not trusted]\n")
    assert [found.code for found in made.diagnostics] == ["command-not-run"]
    trust(skills)
    assert conversation.activate("log").text.endswith("\n\n<git log>\n")
    assert len(runner.ran) == 1


@pytest.mark.seed("C-84", "C-86")
def test_skills_beside_a_touched_file_are_found_up_to_the_working_folder_once(
    workspace: Workspace,
) -> None:
    workspace.git()
    skills = workspace.open(HOST)
    workspace.skill("project/a/.claude/skills/near")
    workspace.skill("project/a/b/.claude/skills/nearer")
    workspace.skill("project/c/.claude/skills/far")
    assert [skill.name for skill in skills.touched("a/b/x.py")] == ["near", "nearer"]
    workspace.skill("project/a/b/.claude/skills/late")
    assert skills.touched("a/b/y.py") == ()
    assert [skill.name for skill in skills.default_conversation.snapshot.skills] == [
        "near",
        "nearer",
    ]
    assert skills.touched(workspace.path("elsewhere/x.py")) == ()


@pytest.mark.seed("C-85")
def test_folders_that_git_ignores_are_passed_over(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("project/.gitignore", "build/\n")
    workspace.skill("project/build/.claude/skills/made")
    workspace.skill("project/build/deep/.claude/skills/deep")
    assert workspace.open(HOST).touched("build/deep/x.py") == ()


@pytest.mark.seed("C-87", "C-88", "C-89")
def test_skills_with_paths_wait_for_a_file_and_stay_awake(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/py", paths="src/**/*.py", body="Python.\n")
    workspace.skill(f"{ROOT}/all", paths="src/")
    workspace.skill(f"{ROOT}/docs", paths="'*.md'")
    skills = workspace.open(HOST)
    assert skills.snapshot.skills == ()
    with pytest.raises(Unavailable):
        skills.activate("py", by="model")
    assert [skill.name for skill in skills.touched("src/a/b.py")] == ["all", "py"]
    assert skills.touched("src/a/b.py") == ()
    skills.reload()
    assert [skill.name for skill in skills.default_conversation.snapshot.skills] == ["all", "py"]
    assert "- py" in skills.catalog().text
    assert skills.activate("py", by="model").text.endswith("Python.\n")


def define(**fields: Any) -> DefinedSkill:
    declared: dict[str, Any] = {
        "name": "batch",
        "description": "Many changes",
        "get_prompt": lambda a, c: f"Do {a}",
    }
    return DefinedSkill(**declared | fields)


@pytest.mark.seed("C-05", "C-41", "C-42", "C-43")
def test_a_skill_in_code_needs_a_name_a_description_and_a_prompt(workspace: Workspace) -> None:
    skills = workspace.open(HOST)
    skills.define(define())
    (skill,) = skills.snapshot.skills
    assert (skill.name, skill.description, skill.folder, skill.location) == (
        "batch",
        "Many changes",
        "",
        "<built-in>",
    )
    assert (skill.scope, skill.source.loaded_from, skill.source.label) == (
        Scope.BUNDLED,
        LoadedFrom.BUNDLED,
        "bundled",
    )
    command = skills.commands().by_name["batch"]
    assert (command.loaded_from, command.source) == (LoadedFrom.BUNDLED, "bundled")
    made = skills.activate("batch", "all files")
    assert (made.text, made.folder, made.files) == ("Do all files", None, ())
    typed = skills.run("/batch all files")
    assert isinstance(typed, Message)
    assert typed.parts[1:] == ("Do all files",)


@pytest.mark.seed("C-06", "C-07", "C-08", "C-09", "C-10", "C-14", "C-15", "C-16")
def test_every_field_of_a_definition_has_its_effect(workspace: Workspace) -> None:
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}]
    }
    skills = workspace.open(HOST)
    skills.define(
        define(
            aliases=("bulk",),
            when_to_use="for many files",
            argument_hint="<files>",
            allowed_tools=("Read", "Bash(git *)"),
            model="opus",
            hooks=hooks,
            context="fork",
            agent="explore",
        )
    )
    command = skills.commands().by_name["bulk"]
    assert (command.name, command.aliases, command.argument_hint) == ("batch", ("bulk",), "<files>")
    assert "for many files" in skills.catalog().text
    person = Person(ALWAYS)
    made = skills.conversation(approver=person).activate("batch", by="model")
    assert made.requests == SkillRequests(
        model="opus",
        fork=True,
        background=False,
        agent="explore",
        allowed_tools=("Read", "Bash(git *)"),
        hooks=hooks,
    )
    assert [request.metadata for request in person.asked] == [
        {
            "skill": "batch",
            "location": "<built-in>",
            "allowed-tools": ["Read", "Bash(git *)"],
            "hooks": hooks,
        }
    ]
    assert isinstance(skills.run("/bulk x"), Message)


@pytest.mark.seed("C-18")
def test_a_prompt_is_asynchronous_gets_the_arguments_and_the_context_and_gives_blocks(
    workspace: Workspace,
) -> None:
    seen: list[tuple[str, PromptContext]] = []
    image = {"type": "image", "source": {"data": "AAAA"}}

    async def prompt(arguments: str, context: PromptContext) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        seen.append((arguments, context))
        return [{"type": "text", "text": "One"}, image, {"type": "text", "text": "Two"}]

    skills = workspace.open(HOST)
    skills.define(define(get_prompt=prompt))
    made = skills.conversation(session="c-1").activate("batch", "a  b", by="model")
    assert (made.text, made.blocks) == ("One\n\nTwo", (image,))
    ((arguments, context),) = seen
    assert (arguments, context.session, context.cwd, context.by) == (
        "a  b",
        "c-1",
        skills.cwd,
        "model",
    )
    typed = skills.run("/batch")
    assert isinstance(typed, Message)
    assert typed.blocks == (image,)


@pytest.mark.seed("C-17", "C-43", "C-44", "C-45", "C-46", "C-93", "C-96")
def test_files_are_unpacked_at_the_first_call_and_once_under_eight_threads(
    workspace: Workspace,
) -> None:
    calls: list[str] = []
    skills = workspace.open(HOST)
    skills.define(define(files={"a.md": "A", "deep/b.bin": b"\0B"}))
    (skill,) = skills.snapshot.skills
    assert skill.folder
    assert not os.path.exists(skill.folder)
    start = threading.Barrier(8)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            start.wait()
            calls.append(skills.activate("batch", "x").text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with skills:
        assert failures == []
        assert set(calls) == {f"Base folder of this skill: {skill.folder}\n\nDo x"}
        with open(os.path.join(skill.folder, "deep", "b.bin"), "rb") as file:
            assert file.read() == b"\0B"
        assert stat.S_IMODE(os.stat(skill.folder).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(os.path.join(skill.folder, "a.md")).st_mode) == 0o600
    assert not os.path.exists(skill.folder)


@pytest.mark.seed("C-47")
def test_where_unpacking_fails_the_prompt_goes_on_without_a_folder_and_it_is_not_tried_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def refuse(path: str, *args: Any, **options: Any) -> Any:
        tries.append(path)
        raise OSError(28, "No space left on device")

    skills = workspace.open(HOST)
    skills.define(define(files={"a.md": "A"}))
    assert skills.snapshot.skills
    monkeypatch.setattr(os, "mkdir", refuse)
    first, second = skills.activate("batch", "x"), skills.activate("batch", "x")
    assert first.text == second.text == "Do x"
    assert [found.code for found in first.diagnostics] == ["files-not-unpacked"]
    assert sum(path.startswith("prowess-") for path in tries) == 1


@pytest.mark.seed("C-90", "C-92")
def test_a_file_name_that_leads_out_is_named_as_it_was_written(workspace: Workspace) -> None:
    skills = workspace.open(HOST)
    skills.define(define(files={"../evil.md": "x"}))
    (found,) = skills.activate("batch").diagnostics
    assert "../evil.md" in found.message


def test_the_check_of_a_definition_is_asked_every_time(workspace: Workspace) -> None:
    switch = {"on": False}
    skills = workspace.open(HOST)
    skills.define(define(is_enabled=lambda: switch["on"]))
    conversation = skills.conversation()
    assert conversation.snapshot.skills == ()
    with pytest.raises(Unavailable):
        conversation.activate("batch")
    switch["on"] = True
    assert conversation.activate("batch", "x").text == "Do x"
    switch["on"] = False
    assert conversation.commands.by_name == {}


@pytest.mark.parametrize(
    ("host", "root", "winner"),
    [
        (HOST, ROOT, "Do x"),
        ("opencode@documented", "home/.config/opencode/skills", "Body"),
        ("openclaw@documented", "home/.openclaw/skills", "Body"),
        ("omp@documented", "home/.omp/agent/skills", "Body"),
        ("prowess", "home/.prowess/skills", "Body"),
    ],
)
def test_a_definition_and_a_file_of_one_name_are_settled_as_the_host_does(
    workspace: Workspace, host: str, root: str, winner: str
) -> None:
    workspace.skill(f"{root}/batch")
    skills = workspace.open(host)
    skills.define(define())
    states = sorted(outcome.state for outcome in skills.snapshot.outcomes)
    assert states == sorted([State.READY, State.SHADOWED])
    assert winner in skills.activate("batch", "x").text


def test_the_fields_of_who_may_call_hold_for_definitions(workspace: Workspace) -> None:
    skills = workspace.open(HOST)
    skills.define(define(disable_model_invocation=True), define(name="loop", user_invocable=False))
    with pytest.raises(Unavailable):
        skills.activate("batch", by="model")
    assert skills.activate("loop", "x", by="model").text == "Do x"
    assert not isinstance(skills.run("/loop x"), Message)
    assert isinstance(skills.run("/batch x"), Message)


def test_an_error_of_prowess_in_a_prompt_function_is_told_as_it_is(workspace: Workspace) -> None:
    def prompt(arguments: str, context: PromptContext) -> str:
        raise MachineError("read", "/x", "it is gone")

    skills = workspace.open(HOST)
    skills.define(define(get_prompt=prompt))
    answer = skills.tool().answer({"skill": "batch"})
    assert (answer.is_error, answer.text) == (True, "Could not read /x: it is gone.")


def _raise(error: Exception) -> Callable[..., Any]:
    def prompt(arguments: str, context: PromptContext) -> str:
        raise error

    return prompt


def test_any_other_error_in_a_prompt_function_is_told_with_the_name_of_the_skill(
    workspace: Workspace,
) -> None:
    skills = workspace.open(HOST)
    skills.define(define(get_prompt=_raise(ValueError("no such file"))))
    answer = skills.tool().answer({"skill": "batch"})
    assert answer.is_error
    assert "batch" in answer.text
    assert "ValueError: no such file" in answer.text


@pytest.mark.seed("C-91")
@pytest.mark.parametrize("path", ["a/../../b.md", "a/../b.md", "..", "a\\..\\b.md"])
def test_a_name_with_two_dots_anywhere_is_refused(workspace: Workspace, path: str) -> None:
    skills = workspace.open(HOST)
    skills.define(define(files={path: "x"}))
    made = skills.activate("batch", "x")
    assert (made.text, [found.code for found in made.diagnostics]) == (
        "Do x",
        ["files-not-unpacked"],
    )
    assert path in made.diagnostics[0].message


@pytest.mark.seed("C-94", "C-97")
def test_what_somebody_put_in_place_of_the_folder_is_neither_used_nor_removed(
    workspace: Workspace,
) -> None:
    skills = workspace.open(HOST)
    skills.define(define(files={"a.md": "A"}))
    (skill,) = skills.snapshot.skills
    trap = workspace.write("trap/kept.txt", "kept").parent
    os.makedirs(os.path.dirname(os.path.dirname(skill.folder)), mode=0o700, exist_ok=True)
    os.symlink(trap, os.path.dirname(skill.folder))
    try:
        made = skills.activate("batch", "x")
        assert (made.text, [found.code for found in made.diagnostics]) == (
            "Do x",
            ["files-not-unpacked"],
        )
        assert [path.name for path in trap.iterdir()] == ["kept.txt"]
    finally:
        os.unlink(os.path.dirname(skill.folder))


@pytest.mark.seed("C-73", "C-98", "C-100")
def test_a_skill_from_an_mcp_server_runs_nothing_and_has_no_folder_also_in_a_trusted_project(
    workspace: Workspace,
) -> None:
    workspace.skill("project/served/log", body="!`git log` in ${CLAUDE_SKILL_DIR}\n")
    source = Source("server", "mcp", workspace.path("project/served"), LoadedFrom.MCP, "mcp")
    root = Root(path=source.path, scope=Scope.PROJECT, source=source, order=0)
    runner = Recorder()
    skills = workspace.open(HOST, roots=[root], rules=parse_given(allow=["Skill(log)"]))
    trust(skills)
    made = skills.conversation(runner=runner).activate("log", by="model")
    assert made.text == "!`git log` [not run: it comes from an MCP server] in ${CLAUDE_SKILL_DIR}\n"
    assert (made.folder, made.files) == (None, ())
    typed = skills.run("/log")
    assert isinstance(typed, Message)
    assert "Base folder" not in typed.text
    assert sorted(found.code for found in made.diagnostics) == ["command-not-run", "variable-unset"]
    assert runner.ran == []
