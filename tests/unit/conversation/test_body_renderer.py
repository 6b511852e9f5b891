"""Bodies in a conversation: arguments, variables, and the commands inside them with trust, rules
and switches.
"""

from __future__ import annotations

import pytest

from prowess.errors.activation import CommandFailed, CommandRefused, NotPermitted
from prowess.model.command import Finished
from prowess.model.skill import Scope
from prowess.state.trust import TrustFile
from tests.unit.conversation.ports import ALWAYS, ONCE, REJECT, Person, Recorder, trust
from tests.workspace import Workspace, skill_text

ROOT = "home/.prowess/skills"


def body(text: str) -> str:
    """The body in a loaded text, without its wrapping."""
    return text.partition("\n\n")[2].partition("\n\nBase folder of this skill: ")[0]


@pytest.mark.parametrize(
    ("written", "arguments", "filled"),
    [
        ("All: $ARGUMENTS.", "it's  a test", "All: it's  a test."),
        ("$0, $1 and $2, not $3", "it's a test", "it's, a and test, not $3"),
        ("$ARGUMENTS[1] and $ARGUMENTS[7]", 'x "y z"', "y z and $ARGUMENTS[7]"),
        ("$who to $where", "'the team' there", "the team to there"),
        (r"\$0 costs $0", "x", "$0 costs x"),
        ("Nothing taken", "a b", "Nothing taken\n\n\nARGUMENTS: a b"),
        ("$0", "$1 $0", "$1"),
        ("$ARGUMENTS", "${CLAUDE_SKILL_DIR} $0 !`id`", "${CLAUDE_SKILL_DIR} $0 !`id`"),
        ("Nothing given: $ARGUMENTS.", "", "Nothing given: ."),
    ],
)
def test_arguments_are_filled_once(
    workspace: Workspace, written: str, arguments: str, filled: str
) -> None:
    workspace.skill(f"{ROOT}/x", arguments="who where", body=f"{written}\n")
    assert body(workspace.open().activate("x", arguments).text) == filled


def test_variables_name_the_folder_the_conversation_the_project_and_the_effort(
    workspace: Workspace,
) -> None:
    workspace.git()
    workspace.skill(
        f"{ROOT}/x",
        body=(
            "${CLAUDE_SKILL_DIR} ${CLAUDE_SESSION_ID} ${CLAUDE_PROJECT_DIR} ${CLAUDE_EFFORT}\n"
            "${SKILL_DIR} ${SESSION_ID} ${PROJECT_DIR} ${EFFORT}\n"
        ),
    )
    skills = workspace.open(cwd="project/deep")
    made = skills.conversation(session="c-1", effort="high").activate("x")
    line = f"{workspace.path(f'{ROOT}/x')} c-1 {workspace.project} high"
    assert (body(made.text), made.diagnostics) == (f"{line}\n{line}", ())
    bare = skills.activate("x")
    assert "${SESSION_ID}" in bare.text
    assert "${EFFORT}" in bare.text
    assert {found.code for found in bare.diagnostics} == {"variable-unset"}


def test_the_names_of_tools_may_hold_variables_and_never_arguments(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/x", allowed_tools="'Bash(${SKILL_DIR}/run $ARGUMENTS)'")
    made = workspace.open().activate("x", "; rm -rf /")
    assert made.requests.allowed_tools == (f"Bash({workspace.path(f'{ROOT}/x')}/run $ARGUMENTS)",)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ("home/.prowess/skills", None),
        ("project/.prowess/skills", "its project is not trusted"),
        ("added/.prowess/skills", "its project is not trusted"),
    ],
)
def test_commands_run_for_the_users_own_skills_only(
    workspace: Workspace, scope: str, reason: str | None
) -> None:
    workspace.skill(f"{scope}/log", body="Now: !`git log`\n")
    runner = Recorder()
    skills = workspace.open(add_dirs=[workspace.path("added")])
    made = skills.conversation(runner=runner).activate("log")
    if reason is None:
        assert (body(made.text), len(runner.ran)) == ("Now: <git log>", 1)
    else:
        assert (body(made.text), runner.ran) == (f"Now: !`git log` [not run: {reason}]", [])
        assert [found.code for found in made.diagnostics] == ["command-not-run"]


def test_what_comes_from_afar_never_runs_not_even_in_a_trusted_project(
    workspace: Workspace,
) -> None:
    workspace.skill("project/remote/log", body="!`git log`\n")
    runner = Recorder()
    skills = workspace.open("opencode", places={"remote": workspace.path("project/remote")})
    (skill,) = skills.snapshot.skills
    assert skill.scope is Scope.REMOTE
    trust(skills)
    made = skills.conversation(runner=runner).activate("log")
    assert "[not run: it comes from a remote source]" in made.text
    assert runner.ran == []


def test_a_setting_switches_commands_off_for_everything(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`git log`\n")
    workspace.write("home/.config/prowess/prowess.toml", "shell_commands = false\n")
    runner = Recorder()
    made = workspace.open().conversation(runner=runner).activate("log")
    assert body(made.text) == "!`git log` [not run: commands in skills are turned off]"
    workspace.skill("home/.claude/skills/log", body="!`git log`\n")
    claude = workspace.open("claude-code").conversation(runner=runner).activate("log")
    assert "[not run: commands in skills are turned off]" in claude.text
    assert runner.ran == []


def test_the_hosts_own_setting_counts_as_well(workspace: Workspace) -> None:
    workspace.skill("home/.claude/skills/log", body="!`git log`\n")
    workspace.write("home/.claude/settings.json", '{"disableSkillShellExecution": true}')
    runner = Recorder()
    made = workspace.open("claude-code").conversation(runner=runner).activate("log")
    assert ("[not run: commands in skills are turned off]" in made.text, runner.ran) == (True, [])


def test_a_rule_denies_commands_of_a_trusted_skill(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`git log` !`git push --force`\n")
    workspace.write(
        "home/.config/prowess/prowess.toml", '[permissions.bash]\n"git push *" = "deny"\n'
    )
    runner = Recorder()
    conversation = workspace.open().conversation(runner=runner, approver=Person(ALWAYS))
    with pytest.raises(NotPermitted):
        conversation.activate("log")
    assert (runner.ran, conversation.ledger.entries) == ([], ())


def test_a_rule_has_commands_asked_for_and_the_answer_holds_for_that_content(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/log", body="!`git log`\n")
    workspace.write("home/.config/prowess/prowess.toml", '[permissions.bash]\n"*" = "ask"\n')
    runner, person = Recorder(), Person(REJECT, ONCE, ALWAYS)
    skills = workspace.open()
    with pytest.raises(NotPermitted):
        skills.conversation(runner=runner).activate("log")
    conversation = skills.conversation(runner=runner, approver=person)
    with pytest.raises(NotPermitted):
        conversation.activate("log")
    assert runner.ran == []
    for _ in range(3):
        conversation.activate("log")
    assert (len(person.asked), len(runner.ran)) == (3, 3)
    assert person.asked[0].metadata == {
        "skill": "log",
        "location": str(file),
        "commands": ["git log"],
    }
    file.write_text(skill_text("log", body="!`git log` now\n"))
    conversation.activate("log")
    assert len(person.asked) == 4


def test_a_failure_aborts_with_the_command_and_the_end_of_its_output(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`one` !`two` !`three`\n")
    runner = Recorder(
        lambda command: Finished(code=int(command.text == "two"), output="x" * 5_000 + "the end")
    )
    conversation = workspace.open().conversation(runner=runner)
    with pytest.raises(CommandFailed) as caught:
        conversation.activate("log")
    assert (caught.value.command, caught.value.code) == ("two", 1)
    assert (len(caught.value.tail), caught.value.tail.endswith("the end")) == (2_001, True)
    assert [command.text for command in runner.ran] == ["one", "two"]
    answer = conversation.tool().answer({"name": "log"})
    assert answer.is_error
    assert "`two`" in answer.text


def test_an_argument_that_would_be_run_as_code_is_refused(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`eval $0`\n")
    runner = Recorder()
    with pytest.raises(CommandRefused):
        workspace.open().conversation(runner=runner).activate("log", "reboot")
    assert runner.ran == []


def test_a_command_gets_its_limits_and_the_variables_of_its_skill(workspace: Workspace) -> None:
    workspace.skill(
        f"{ROOT}/wx", metadata='{"openclaw": {"primaryEnv": "WX_KEY"}}', body="!`wx $0`\n"
    )
    workspace.write("home/.config/prowess/prowess.toml", '[skills.wx]\napi_key = "k-12345678"\n')
    runner = Recorder(lambda command: Finished(code=0, output="key k-12345678"))
    skills = workspace.open(bins=["bash"])
    made = skills.conversation(runner=runner).activate("wx", "Bern")
    (command,) = runner.ran
    assert dict(command.env) == {
        "WX_KEY": "k-12345678",
        "PROWESS_SKILL_DIR": workspace.path(f"{ROOT}/wx"),
        "PROWESS_ARGUMENT_0": "Bern",
    }
    assert (command.cwd, command.seconds, command.shell, command.output_bytes) == (
        skills.cwd,
        120.0,
        "bash",
        30_000,
    )
    assert "Bern" not in command.argv[-1]
    assert body(made.text) == "key [secret]"
    assert "k-12345678" not in skills.conversation(runner=runner).save()


@pytest.mark.needs("bash")
def test_output_is_put_in_by_place_and_not_read_again(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/x", body="A !`cat f` B $0\n")
    workspace.write("project/f", "$0 !`id` ${SKILL_DIR}\n")
    made = workspace.open(bins=["bash"]).activate("x", "z")
    assert body(made.text) == "A $0 !`id` ${SKILL_DIR} B z"


def test_trust_is_asked_anew_each_time(workspace: Workspace) -> None:
    workspace.skill("project/.prowess/skills/log", body="!`git log`\n")
    runner = Recorder()
    skills = workspace.open()
    conversation = skills.conversation(runner=runner)
    for step in ("untrusted", "trusted", "untrusted again"):
        if step == "trusted":
            trust(skills)
        elif step == "untrusted again":
            TrustFile.of(skills.facts).distrust(skills.cwd)
        conversation.activate("log")
    assert len(runner.ran) == 1


def test_two_conversations_have_their_own_variables(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/x", body="${SESSION_ID}\n")
    skills = workspace.open()
    made = [body(skills.conversation(session=name).activate("x").text) for name in ("one", "two")]
    assert made == ["one", "two"]


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
def test_settings_count_anew_after_a_new_look_for_skills(workspace: Workspace, host: str) -> None:
    workspace.skill("home/.claude/skills/log", body="!`git log`\n")
    runner = Recorder()
    skills = workspace.open(host)
    conversation = skills.conversation(runner=runner)
    conversation.activate("log")
    workspace.write("home/.config/prowess/prowess.toml", "shell_commands = false\n")
    skills.reload()
    conversation.activate("log")
    assert len(runner.ran) == 1
