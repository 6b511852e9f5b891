"""Commands inside a body: planned as values, run through a port, placed where they stood; or left
as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prowess.activate.body.substitution import Given
from prowess.diagnostics import diagnose
from prowess.errors import MachineError
from prowess.errors.activation import CommandFailed, CommandRefused
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.model.command import Command, FilledProgram, Finished
from prowess.model.permission import ApprovalRequest
from prowess.model.skill import LoadedFrom, Scope
from prowess.profiles.load import load_profile
from prowess.shell.command_runner import (
    Draft,
    Surroundings,
    draft_body,
    find_not_run,
    request_commands,
    run_draft,
)
from prowess.testing import make_facts
from prowess.text.masker import Masker
from tests.workspace import Workspace

FACTS = make_facts(bins=["bash"])


class Script:
    """A `Runner` that gives prepared answers and remembers what it was asked."""

    def __init__(self, *answers: Finished | str) -> None:
        self.asked: list[Command] = []
        self._answers = iter(answers)

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        self.asked.append(command)
        answer = next(self._answers)
        return answer if isinstance(answer, Finished) else Finished(code=0, output=answer)


def draft(body: str, arguments: str = "", *, host: str = "prowess", **options: Any) -> Draft:
    profile = load_profile(host)
    given = Given(
        arguments=arguments,
        folder=options.pop("folder", None),
        session=options.pop("session", None),
    )
    around = Surroundings(
        facts=options.pop("facts", FACTS),
        cwd=options.pop("cwd", "/work"),
        env=options.pop("env", {}),
        not_run=options.pop("not_run", None),
    )
    return draft_body(
        body, given, around, arguments=profile.arguments, embedded=profile.embedded, **options
    )


def run(body: str, *answers: Finished | str, **options: Any) -> str:
    return run_draft(draft(body, **options), Script(*answers))


def test_a_plan_is_a_value_that_says_all_there_is_to_run() -> None:
    planned = draft("A !`cat $0 ${SKILL_DIR}/x` B", "my file", folder="/s", env={"KEY": "k"})
    command = Command(
        text="cat $0 ${SKILL_DIR}/x",
        argv=(
            "bash",
            "-c",
            'bash -n -c "$0" && exec bash -c "$0"',
            'cat "${PROWESS_ARGUMENT_0}" "${PROWESS_SKILL_DIR}"/x',
        ),
        env={"KEY": "k", "PROWESS_SKILL_DIR": "/s", "PROWESS_ARGUMENT_0": "my"},
        cwd="/work",
        shell="bash",
        seconds=120.0,
        output_bytes=30_000,
        readable="cat my /s/x",
        programs=(FilledProgram("cat my /s/x", "cat *"),),
    )
    assert planned == Draft(("A ", command, " B"), load_profile("prowess").embedded.tolerated)
    assert planned.commands == (command,)
    assert "hidden" in repr(command)
    assert "'k'" not in repr(command)


def test_a_script_without_values_is_run_as_it_was_written() -> None:
    command = draft("!`git log | head -5`").commands[0]
    assert (command.argv, command.env) == (("bash", "-c", "git log | head -5"), {})


@pytest.mark.seed("C-80", "C-81")
def test_commands_within_a_line_and_in_blocks_are_replaced_by_their_output() -> None:
    body = "Now: !`date` and !`whoami`.\n```!\nuname -a\n```\nEnd"
    documented = run(body, "noon\n", "me\r\n", " one\n two\n", host="claude-code@documented")
    assert documented == "Now: noon and me.\n one\n two\nEnd"


@pytest.mark.seed("C-74", "C-82")
def test_variables_are_filled_before_commands_run_and_output_is_not_read_again() -> None:
    body = "$0 !`cat ${CLAUDE_SKILL_DIR}/a.md` ${CLAUDE_SESSION_ID}"
    options: dict[str, Any] = {"folder": "/s", "session": "c-1", "host": "claude-code@documented"}
    planned = draft(body, "me", **options)
    runner = Script("$0 ${CLAUDE_SESSION_ID} !`date` \\1")
    assert run_draft(planned, runner) == "me $0 ${CLAUDE_SESSION_ID} !`date` \\1 c-1"
    assert [command.argv[-1] for command in runner.asked] == [
        'cat "${PROWESS_CLAUDE_SKILL_DIR}"/a.md'
    ]
    assert runner.asked[0].env["PROWESS_CLAUDE_SKILL_DIR"] == "/s"


@pytest.mark.parametrize("value", ["!`date`", "\n```!\ndate\n```\n", "x\n!`date`\n"])
def test_no_argument_becomes_a_command(value: str) -> None:
    planned = draft("<$ARGUMENTS>\n$ARGUMENTS\n", value)
    assert planned.commands == ()
    assert planned.place([]) == f"<{value.strip()}>\n{value.strip()}\n"


def test_output_is_placed_by_position_where_the_same_text_stands_twice() -> None:
    assert run("KEY=!`a` !`a` ``!`a`` !`a`", "1", "2") == "KEY=!`a` 1 ``!`a`` 2"


def test_arguments_that_only_a_command_took_are_not_added_again() -> None:
    assert run("!`cat $0`", "x", arguments="a b") == "x"
    assert run("!`cat b`", "x", arguments="a b") == "x\n\nARGUMENTS: a b"
    assert run("!`awk '{print $1}' f`", "x", arguments="a b") == "x\n\nARGUMENTS: a b"


@pytest.mark.seed("C-83")
def test_commands_run_in_the_shell_of_the_header_and_know_the_skill_s_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "data.txt").write_text("b\na\n")
    body = '!`sort < "$PROWESS_SKILL_DIR/data.txt" | head -1` and !`cat ${CLAUDE_SKILL_DIR}/data.txt | wc -l`'
    planned = draft(
        body,
        host="claude-code@documented",
        folder=str(tmp_path),
        cwd=str(tmp_path),
        facts=current_facts(),
        shell="bash",
    )
    assert run_draft(planned, ProcessRunner(current_facts())) == "a and 2"


@pytest.mark.parametrize(
    ("shell", "bins", "start"),
    [
        ("powershell", ["powershell"], ("powershell", "-NoProfile", "-NonInteractive", "-Command")),
        (
            "powershell",
            ["powershell", "pwsh"],
            ("pwsh", "-NoProfile", "-NonInteractive", "-Command"),
        ),
        ("powershell", [], ("pwsh", "-NoProfile", "-NonInteractive", "-Command")),
        ("fish", [], ("bash", "-c")),
        (None, [], ("bash", "-c")),
    ],
)
def test_a_shell_that_is_not_known_is_bash(
    shell: str | None, bins: list[str], start: tuple[str, ...]
) -> None:
    assert draft("!`ls`", shell=shell, facts=make_facts(bins=bins)).commands[0].argv == (
        *start,
        "ls",
    )


def test_a_shell_that_is_not_there_is_an_error_that_says_so() -> None:
    facts = make_facts(env={"PATH": "/nowhere"})
    with pytest.raises(MachineError) as caught:
        run_draft(draft("!`ls`", shell="powershell", facts=facts, cwd=None), ProcessRunner(facts))
    assert str(caught.value) == (
        "Could not run pwsh: the program cannot be found; a skill needs the shell “powershell”."
    )


@pytest.mark.parametrize(
    ("finished", "sentence"),
    [
        (
            Finished(code=3, output="one\ntwo\n"),
            "The command `make it` inside the skill failed with exit code 3. Its last output:\none\ntwo",
        ),
        (
            Finished(code=1),
            "The command `make it` inside the skill failed with exit code 1. It printed nothing.",
        ),
        (
            Finished(code=-9),
            "The command `make it` inside the skill was killed by signal 9. It printed nothing.",
        ),
        (
            Finished(code=None, output="x"),
            "The command `make it` inside the skill took longer than 120 seconds and was stopped. "
            "Its last output:\nx",
        ),
        (
            Finished(code=2, output="a" * 9_000, tail="the end", left_out=70_000),
            "The command `make it` inside the skill failed with exit code 2. Its last output:\nthe end",
        ),
    ],
)
def test_a_failure_ends_the_activation_with_the_command_and_the_end_of_its_output(
    finished: Finished, sentence: str
) -> None:
    runner = Script("first", finished, "never")
    with pytest.raises(CommandFailed) as caught:
        run_draft(draft("!`a` !`make it` !`b`"), runner)
    assert str(caught.value) == sentence
    assert [command.text for command in runner.asked] == ["a", "make it"]


def test_of_a_long_failure_only_the_end_is_told() -> None:
    with pytest.raises(CommandFailed) as caught:
        run("!`a`", Finished(code=1, output="x" * 5_000 + "end"))
    assert caught.value.tail == "…" + "x" * 1_997 + "end"


@pytest.mark.parametrize(
    "command", ["grep a b", "cat x | rg y", "git diff --quiet", "test -f x", "[ -f x ]", "find x"]
)
def test_exit_code_1_of_programs_that_answer_by_it_is_no_failure(command: str) -> None:
    assert (
        run(f"<!`{command}`> !`{command}`", Finished(code=1, output="x\n"), host="claude-code")
        == f"<!`{command}`> x"
    )
    with pytest.raises(CommandFailed):
        run(f"!`{command}`", Finished(code=2), host="claude-code")


@pytest.mark.parametrize("command", ["git status", "grep x y; false", "echo grep", "(grep x)"])
def test_exit_code_1_of_other_programs_is_a_failure(command: str) -> None:
    with pytest.raises(CommandFailed):
        run(f"!`{command}`", Finished(code=1))


def test_a_command_without_output_says_so_and_a_long_output_is_cut_with_a_note() -> None:
    assert run(
        "<!`a`> !`a` !`b`", "\n", Finished(code=0, output="head", tail="tail", left_out=12_345)
    ) == ("<!`a`> (no output) head\n[12,345 more bytes of output left out]")
    assert run("!`a`", "\n", host="claude-code") == "(Bash completed with no output)"


@pytest.mark.parametrize(
    ("command", "arguments", "why"),
    [
        (
            "echo $0",
            "a\0b",
            "it would receive a NUL character, which cannot be passed to a program",
        ),
        (
            "echo $0",
            "\ud800",
            "it would receive an unpaired surrogate, which cannot be passed to a program",
        ),
        (
            "echo $0",
            "x" * 200_000,
            "it would receive a value of 200,000 bytes; the limit is 130,000",
        ),
        (
            "echo $0 $1 $2 $3 $4",
            " ".join(["x" * 110_000] * 5),
            "it would receive values of 550,124 bytes in total; the limit is 500,000",
        ),
        ("echo \0", "x", "it would receive a NUL character, which cannot be passed to a program"),
    ],
)
def test_a_command_that_cannot_be_given_its_arguments_is_refused(
    command: str, arguments: str, why: str
) -> None:
    with pytest.raises(CommandRefused) as caught:
        draft(f"!`{command}`", arguments)
    assert str(caught.value) == f"The command `{command}` inside the skill was not run: {why}."
    assert caught.value.hint is not None


def test_a_refused_command_is_reported_with_the_reason_and_the_line_of_the_body() -> None:
    body = "One\n\n```!\n\necho a\n  eval $0\n```\nand !`date`"
    with pytest.raises(CommandRefused) as caught:
        draft(body, "x")
    why = "`eval` is part of the shell and could evaluate it"
    assert (caught.value.line, caught.value.why) == (6, why)
    assert str(caught.value) == (
        f"The command `echo a…` inside the skill (line 6 of its body) was not run: {why}."
    )
    with pytest.raises(CommandRefused) as inline:
        draft("One\n\nTwo !`$0`", "x")
    assert inline.value.line == 3


def test_a_command_without_a_shell_is_run_as_its_words() -> None:
    planned = draft("!`grep -n '$1 x' \"$0\"`", "a; b", shell="none", env={"KEY": "k"})
    command = planned.commands[0]
    assert command.argv == ("grep", "-n", "$1 x", "a;")
    assert (command.shell, command.env) == ("", {"KEY": "k"})
    assert command.readable == "grep -n '$1 x' 'a;'"
    assert run_draft(planned, Script(Finished(code=1, output="none"))) == "none"
    assert run("!`date`", "noon", shell="none") == "noon"
    with pytest.raises(CommandRefused) as caught:
        draft("!`date | cat`", shell="none")
    assert caught.value.why == "`|` only works in a shell; quote it"


@pytest.mark.needs("printf")
def test_a_command_without_a_shell_gets_its_arguments_unchanged() -> None:
    value = "$(touch x) `y` *;'"
    planned = draft(
        "!`printf '%s|' $ARGUMENTS`", value, shell="none", facts=current_facts(), cwd=None
    )
    assert run_draft(planned, ProcessRunner(current_facts())) == f"{value}|"


@pytest.mark.seed("C-98")
@pytest.mark.parametrize("host", ["claude-code@documented", "claude-code", "prowess"])
def test_commands_from_an_mcp_server_stay_text_and_are_marked_as_not_run(host: str) -> None:
    planned = draft(
        "A !`rm -rf $0`.\n```!\ndate\n```\n", "x", host=host, not_run="mcp", file="/S.md"
    )
    assert planned.commands == ()
    assert planned.place([]) == (
        "A !`rm -rf x` [not run: it comes from an MCP server].\n"
        "```!\ndate\n```\n[not run: it comes from an MCP server]\n"
    )
    hint = "Commands from MCP servers never run; read the text and run what is needed yourself."
    message = "The command `{}` was not run because it comes from an MCP server."
    assert planned.diagnostics == tuple(
        diagnose("command-not-run", message.format(command), file="/S.md", hint=hint)
        for command in ("rm -rf $0", "date")
    )


@pytest.mark.parametrize(
    ("not_run", "mark"),
    [
        ("remote", "[not run: it comes from a remote source]"),
        ("untrusted", "[not run: its project is not trusted]"),
        ("off", "[not run: commands in skills are turned off]"),
    ],
)
def test_every_reason_not_to_run_has_its_mark(not_run: str, mark: str) -> None:
    planned = draft("!`date`", not_run=not_run)
    assert planned.place([]) == f"!`date` {mark}"
    assert [found.code for found in planned.diagnostics] == ["command-not-run"]


def test_a_block_that_is_never_closed_is_reported_and_not_run() -> None:
    planned = draft("x\n```!\ndate $0\n", "me", file="/S.md")
    message = "The command block on line 2 of the body is never closed, so it is not run."
    assert planned.pieces == ("x\n```!\ndate me\n",)
    assert planned.diagnostics == (diagnose("command-unclosed", message, file="/S.md"),)


def test_a_setting_switches_commands_off_but_not_those_of_scopes_that_the_host_exempts(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.claude/skills/mine")
    workspace.skill("managed/.claude/skills/theirs")
    workspace.skill("project/.claude/skills/here")
    skills = workspace.open("claude-code")
    claude, own = load_profile("claude-code").embedded, load_profile("prowess").embedded

    def reasons(rules: Any, **options: Any) -> list[str | None]:
        return [
            find_not_run(skills.get(name), rules, **options) for name in ("mine", "theirs", "here")
        ]

    assert reasons(claude, is_trusted=True) == [None, None, None]
    assert reasons(claude, is_trusted=True, switched_on=True) == [None, None, None]
    assert reasons(claude, is_trusted=True, switched_on=False) == ["off", None, "off"]
    assert reasons(own, is_trusted=True, switched_on=False) == ["off", "off", "off"]
    assert reasons(own, is_trusted=False) == ["untrusted", "untrusted", "untrusted"]


def test_skills_from_elsewhere_run_nothing_however_much_they_are_trusted(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.claude/skills/mine")
    skill = workspace.open("claude-code").get("mine")
    source = msgspec.structs.replace(skill.source, loaded_from=LoadedFrom.MCP)
    rules = load_profile("claude-code").embedded
    assert (
        find_not_run(msgspec.structs.replace(skill, source=source), rules, is_trusted=True) == "mcp"
    )
    assert (
        find_not_run(msgspec.structs.replace(skill, scope=Scope.REMOTE), rules, is_trusted=True)
        == "remote"
    )


@pytest.mark.parametrize(
    ("text", "switched_on"),
    [
        ("{}", None),
        ('{"disableSkillShellExecution": true}', False),
        ('{"disableSkillShellExecution": false}', True),
    ],
)
def test_claude_code_s_own_setting_is_read(
    workspace: Workspace, text: str, switched_on: bool | None
) -> None:
    workspace.write("home/.claude/settings.json", text)
    assert workspace.open("claude-code").settings().shell_commands is switched_on


def test_what_one_file_switches_off_no_later_file_switches_on(workspace: Workspace) -> None:
    workspace.write("home/.claude/settings.json", '{"disableSkillShellExecution": true}')
    workspace.write("project/.claude/settings.json", '{"disableSkillShellExecution": false}')
    assert workspace.open("claude-code").settings().shell_commands is False
    workspace.write("home/.config/prowess/prowess.toml", "shell_commands = false\n")
    workspace.write("project/prowess.toml", "shell_commands = true\n")
    settings = workspace.open().settings()
    assert settings.shell_commands is False
    assert [(found.code, found.field) for found in settings.diagnostics] == [
        ("setting-ignored", "shell_commands")
    ]


def test_an_environment_variable_of_the_host_sets_the_time_limit() -> None:
    def seconds(env: Mapping[str, str], host: str) -> float:
        return draft("!`a`", host=host, facts=make_facts(env=env)).commands[0].seconds

    assert seconds({"BASH_DEFAULT_TIMEOUT_MS": "2500"}, "claude-code") == 2.5
    assert seconds({"BASH_DEFAULT_TIMEOUT_MS": "soon"}, "claude-code") == 120.0
    assert seconds({"BASH_DEFAULT_TIMEOUT_MS": "9" * 5_000}, "claude-code") == 120.0
    assert seconds({"BASH_DEFAULT_TIMEOUT_MS": "2500"}, "prowess") == 120.0


def test_hosts_without_commands_leave_them_as_text() -> None:
    for host in ("spec", "openclaw", "omp", "codex"):
        assert draft("!`date`\n```!\ndate\n```\n", host=host) == Draft(
            ("!`date`\n```!\ndate\n```\n",)
        )


def test_opencode_fills_and_runs_what_is_typed_and_gives_its_tool_the_body_as_it_is() -> None:
    assert run("$1 !`date`", "noon", arguments="me", host="opencode", caller="user") == "me noon"
    assert draft("$1 !`date`", "me", host="opencode", caller="model") == Draft(("$1 !`date`",))


def test_the_request_to_run_commands_names_each_once(workspace: Workspace) -> None:
    location = str(workspace.skill("home/.claude/skills/mine"))
    skill = workspace.open("claude-code").get("mine")
    commands = draft("!`b $0` !`a` !`b $0`", "x").commands
    patterns = ("b $0", "a", "b x")
    metadata = {"skill": "mine", "location": location, "commands": ["b x", "a"]}
    request = ApprovalRequest(
        permission="bash", patterns=patterns, always=patterns, metadata=metadata
    )
    assert request_commands(skill, commands) == request
    assert request_commands(skill, commands, "model") == msgspec.structs.replace(
        request,
        note="A model chose the arguments.",
        unless_allowed={"b x": "Bash(b *)"},
    )


def test_secrets_are_masked_in_output_and_in_failures() -> None:
    masker = Masker(["s3cret-value"])
    planned = draft("!`a` !`b s3cret-value`")
    assert run_draft(planned, Script("is s3cret-value", "ok"), masker=masker) == "is [secret] ok"
    with pytest.raises(CommandFailed) as caught:
        run_draft(planned, Script("x", Finished(code=1, output="no s3cret-value")), masker=masker)
    assert "s3cret" not in f"{caught.value!r} {caught.value} {caught.value.__dict__}"
