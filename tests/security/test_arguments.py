"""Attacks by arguments, each with a canary: a file that must not appear because of the shell.

The programs here are stand-ins that write down what they were given. A real `make` may do with an
argument whatever it likes; what is tested is that the shell hands it over as one plain argument.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from prowess.activate.body.substitution import Given
from prowess.errors.activation import ArgumentRefused, CommandRefused, NotPermitted
from prowess.machine.facts import current_facts
from prowess.model.skill import DeclaredArgument
from prowess.profiles.load import load_profile
from prowess.shell.command_runner import Surroundings, draft_body
from tests.unit.conversation.ports import ALWAYS, ONCE, REJECT, Person, Recorder
from tests.workspace import Workspace

pytestmark = pytest.mark.needs("bash")

OWN = load_profile("prowess")
FACTS = current_facts()
CMD = "touch canary"
PROGRAMS = (
    "cat env find flock git jq make npm npx perl python3 sed ssh sudo tar timeout xargs docker awk node"
    " parallel vim gdb env ed tee rsync curl watch chroot"
).split()
STAND_IN = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\n\\0'; } >> "$LOG"
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A folder to run in, beside one with stand-ins for programs."""
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        program = tmp_path / "bin" / name
        program.write_text(STAND_IN)
        program.chmod(0o755)
    (tmp_path / "work").mkdir()
    return tmp_path


def run(script: str, argument: str, box: Path, *, shell: str = "bash") -> list[list[str]] | str:
    """What the programs were given, or why the command was refused."""
    body = f"```!\n{script}\n```"
    around = Surroundings(facts=FACTS, cwd=str(box / "work"))
    try:
        planned = draft_body(
            body,
            Given(arguments=argument),
            around,
            shell=shell,
            arguments=OWN.arguments,
            embedded=OWN.embedded,
        )
    except CommandRefused as refused:
        return refused.why
    command = planned.commands[0]
    log = box / "log"
    env = {"PATH": f"{box / 'bin'}:{os.environ['PATH']}", "LOG": str(log), **command.env}
    subprocess.run(command.argv, env=env, cwd=box / "work", capture_output=True, timeout=120)
    assert list((box / "work").iterdir()) == [], "the shell evaluated the argument"
    calls = log.read_text().split("\n\0") if log.exists() else []
    return [call.split("\0")[:-1] for call in calls if call]


# The shapes that were evaluated before: the script, the argument, and what becomes of it now.
PASSED_ON = [
    ('make "$ARGUMENTS"', f"X:=$(shell {CMD})", ["make", "@"]),
    ('make build VERSION="$ARGUMENTS"', f"$(shell {CMD})", ["make", "build", "VERSION=@"]),
    ("perl -ne 'print' \"$ARGUMENTS\"", f"{CMD}|", ["perl", "-ne", "print", "@"]),
    (
        'find . -exec sed -i "s/TODO/$ARGUMENTS/" {} +',
        f"x/e; {CMD} #",
        ["find", ".", "-exec", "sed", "-i", "s/TODO/@/", "{}", "+"],
    ),
    ('env -S "$ARGUMENTS"', CMD, ["env", "-S", "@"]),
    ('tar -I "$ARGUMENTS" -cf x y', CMD, ["tar", "-I", "@", "-cf", "x", "y"]),
    ('flock lock "$ARGUMENTS"', CMD, ["flock", "lock", "@"]),
    ('flock lock -c "$ARGUMENTS"', CMD, ["flock", "lock", "-c", "@"]),
    ('git grep "$0" foo', "x", ["git", "grep", "@", "foo"]),
    ('git -c core.pager="$ARGUMENTS" log', CMD, ["git", "-c", "core.pager=@", "log"]),
    ("python3 -c \"print('$ARGUMENTS')\"", f"');{CMD}#", ["python3", "-c", "print('@')"]),
    ('awk "/$ARGUMENTS/"', f'/{{system("{CMD}")}}/', ["awk", "/@/"]),
    ('sudo "$ARGUMENTS"', CMD, ["sudo", "@"]),
    ('ssh host "$ARGUMENTS"', CMD, ["ssh", "host", "@"]),
    ('jq --arg x "$ARGUMENTS" .', f"$({CMD})", ["jq", "--arg", "x", "@", "."]),
    ("NAME=$ARGUMENTS make", f"$({CMD})", ["make"]),
]
REFUSED = [
    ("bash -c 'git grep \"$1\" foo' _ \"$ARGUMENTS\"", f"-O{CMD}"),
    ('find -- "$ARGUMENTS"', "-delete"),
    ('env "$ARGUMENTS"', f"-S {CMD}"),
    ('tar cf x "$ARGUMENTS"', f"--checkpoint-action=exec={CMD}"),
    ('RANDOM="$ARGUMENTS"', f"a[$({CMD})]"),
    ('SECONDS="$ARGUMENTS"', f"a[$({CMD})]"),
    ('set -- $0 "$1"; [ "$@" ]', f"x 'a[$({CMD})]'"),
    ('[ "$0" "$1" ]', f"x 'a[$({CMD})]'"),
    ('[ "$ARGUMENTS" ]', "x"),
    ('[[ "$ARGUMENTS" -gt 1 ]]', f"a[$({CMD})]"),
    ('echo "$ARGUMENTS" | xargs bash -c', CMD),
    ('bash -c "echo $ARGUMENTS"', f"; {CMD}"),
    ('echo "$ARGUMENTS" | env bash', CMD),
    ('env bash "$ARGUMENTS"', "run.sh"),
    ('env LD_PRELOAD="$ARGUMENTS" ls', "./x.so"),
    ("X=$ARGUMENTS; $X", CMD),
    ("X=$ARGUMENTS; eval \"$X\"", CMD),
    ("X=$ARGUMENTS; echo $((X))", f"a[$({CMD})]"),
    ("X=$ARGUMENTS; a[X]=1", f"a[$({CMD})]"),
    ("X=$ARGUMENTS; a[X]=/1", f"a[$({CMD})]"),
    ("X=$ARGUMENTS; echo ${a[X]}", f"a[$({CMD})]"),
    ("X=$ARGUMENTS; n=X; [[ n -gt 1 ]]", f"a[$({CMD})]"),
    ("X=$ARGUMENTS; echo ${X@P}", f"$({CMD})"),
    ("X=$ARGUMENTS; find . $X", "x -delete"),
    ("while true; do echo $X; X=$ARGUMENTS; done", "x -delete"),
    ("echo \"$ARGUMENTS\"; eval $_", CMD),
    ("echo $ARGUMENTS > f; . ./f", CMD),
    ("echo $ARGUMENTS | while read x; do eval \"$x\"; done", CMD),
    ("source <(echo $ARGUMENTS)", CMD),
    ("trap \"$ARGUMENTS\" EXIT", CMD),
    ("alias x=eval; x $ARGUMENTS", CMD),
    ("ls() { eval \"$@\"; }; ls $ARGUMENTS", CMD),
    ("printf -v PATH %s $ARGUMENTS", CMD),
    ("printf \"$ARGUMENTS\"", "%n"),
    ("PS4=$ARGUMENTS; set -x; true", f"$({CMD})"),
    ("echo {a,$ARGUMENTS}", "x"),
    ("case $ARGUMENTS in x) ;; esac", "x"),
    ("cat <<E\n$ARGUMENTS\nE", f"$({CMD})"),
    ("bash <<< $ARGUMENTS", CMD),
    ("set -k; make BASH_ENV=$ARGUMENTS", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "argument", "call"), PASSED_ON)
def test_a_program_gets_it_as_one_plain_argument(
    script: str, argument: str, call: list[str], box: Path
) -> None:
    assert run(script, argument, box) == [[word.replace("@", argument) for word in call]]


def test_what_goes_down_a_pipe_is_data_too(box: Path) -> None:
    script = 'printf %s "$ARGUMENTS" | xargs timeout 5; echo "$ARGUMENTS" | xargs make'
    assert run(script, CMD, box) == [["xargs", "timeout", "5"], ["xargs", "make"]]


@pytest.mark.parametrize(("script", "argument"), REFUSED)
def test_what_the_shell_would_evaluate_or_read_as_an_option_is_refused(
    script: str, argument: str, box: Path
) -> None:
    assert isinstance(run(script, argument, box), str)


HOSTILE = [
    f"$({CMD})", f"`{CMD}`", f"; {CMD}", f"| {CMD}", f"& {CMD}", f"\n{CMD}\n", f"'; {CMD}; '", f'"; {CMD}; "',
    f"${{x:=$({CMD})}}", f"a[$({CMD})]", "*", "~", "{a,b}", "!", "\\", "$HOME", "$0", "%s%n", "a  b", "北京 é 𝕏",
]  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "none"])
@pytest.mark.parametrize("argument", HOSTILE)
def test_a_hostile_value_arrives_whole(argument: str, shell: str, box: Path) -> None:
    raw = argument.strip()
    calls = run(
        "make $ARGUMENTS \"<$ARGUMENTS>\" '$ARGUMENTS' x$ARGUMENTS", argument, box, shell=shell
    )
    assert calls == [["make", raw, f"<{raw}>", raw, f"x{raw}"]]


# What a header allows

DEPLOY = """arguments:
  target: {choices: [staging, production], required: true}
  version: {pattern: 'v[0-9]+[.][0-9]+'}
  flags: {options: true}
"""


def write_deploy(
    workspace: Workspace, body: str = "Deploy $target !`deploy $target $version $flags`\n"
) -> None:
    text = f"---\nname: deploy\ndescription: d\n{DEPLOY}---\n{body}"
    workspace.write("home/.prowess/skills/deploy/SKILL.md", text)


def test_a_header_says_what_its_arguments_may_be(workspace: Workspace) -> None:
    write_deploy(workspace)
    runner = Recorder()
    conversation = workspace.open().conversation(runner=runner)
    conversation.activate("deploy", "staging v1.2 --dry-run")
    assert [command.readable for command in runner.ran] == ["deploy staging v1.2 --dry-run"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("prod", "The argument `target` of the skill is “prod”; allowed: staging, production."),
        ("", "The argument `target` of the skill is missing; allowed: staging, production."),
        (
            "staging 1.2",
            "The argument `version` of the skill is “1.2”; it must match `v[0-9]+[.][0-9]+`.",
        ),
        (
            "staging v1.2$(x)",
            "The argument `version` of the skill is “v1.2$(x)”; it must match `v[0-9]+[.][0-9]+`.",
        ),
    ],
)
@pytest.mark.parametrize("body", ["Deploy $target !`deploy $target`\n", "Deploy $target\n"])
def test_an_argument_that_the_header_does_not_allow_is_refused(
    workspace: Workspace, body: str, arguments: str, sentence: str
) -> None:
    write_deploy(workspace, body)
    runner = Recorder()
    with pytest.raises(ArgumentRefused) as caught:
        workspace.open().conversation(runner=runner).activate("deploy", arguments)
    assert (str(caught.value), runner.ran) == (sentence, [])


def test_only_the_argument_that_takes_options_may_begin_with_a_hyphen(workspace: Workspace) -> None:
    write_deploy(workspace, "!`deploy $0 $2 $version`\n")
    conversation = workspace.open().conversation(runner=Recorder())
    with pytest.raises(ArgumentRefused):
        conversation.activate("deploy", "staging -v --dry-run")
    workspace.skill("home/.prowess/skills/plain", body="!`deploy $0`\n")
    with pytest.raises(CommandRefused) as caught:
        workspace.open().conversation(runner=Recorder()).activate("plain", "--dry-run")
    assert caught.value.why == (
        "`$0` is “--dry-run”, which begins with `-`, so a program could read it as an option"
    )


def test_a_declaration_that_cannot_be_read_allows_no_value(workspace: Workspace) -> None:
    text = "---\nname: x\ndescription: d\narguments: {a: {pattern: '(a+)+$'}}\n---\n$a\n"
    workspace.write("home/.prowess/skills/x/SKILL.md", text)
    skills = workspace.open()
    (declared,) = skills.get("x").manifest.declared_arguments
    assert declared == DeclaredArgument(
        name="a", problem="`arguments.a.pattern` cannot be used: `(a+)+` in it is not supported"
    )
    with pytest.raises(ArgumentRefused, match="no value is allowed, because"):
        skills.activate("x", "a")


# What a model chose


def test_a_command_with_an_argument_that_a_model_chose_is_asked_about_with_the_value_shown(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.prowess/skills/pr", body="!`git fetch` !`gh pr view $0 | head`\n")
    runner, person = Recorder(), Person(ONCE)
    conversation = workspace.open().conversation(runner=runner, approver=person)
    conversation.activate("pr", "'12; rm -rf /'", by="model")
    assert len(runner.ran) == 2
    (request,) = person.asked
    assert request.metadata["commands"] == ["git fetch", "gh pr view '12; rm -rf /' | head"]


def test_where_nobody_can_be_asked_it_is_refused_with_the_rule_that_would_allow_it(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.prowess/skills/pr", body="!`gh pr view $0 | head`\n")
    runner = Recorder()
    with pytest.raises(NotPermitted) as caught:
        workspace.open().conversation(runner=runner).activate("pr", "12", by="model")
    assert caught.value.what == "run `gh pr view 12 | head` for the skill “pr”"
    assert caught.value.reason.startswith(
        "the model chose an argument of `gh pr view 12`, and no rule allows that"
        " (`Bash(gh pr view *)` would)"
    )
    assert runner.ran == []


@pytest.mark.parametrize(
    ("rules", "runs"),
    [
        ('"gh pr view *" = "allow"', True),
        ('"*" = "allow"', True),
        ('"gh pr view 12" = "allow"', True),
        ('"gh pr view $0 | head" = "allow"', False),
        ('"head" = "allow"', False),
        ('"gh pr view 12" = "deny"', False),
    ],
)
def test_a_rule_allows_what_a_model_chose(workspace: Workspace, rules: str, runs: bool) -> None:
    workspace.skill("home/.prowess/skills/pr", body="!`gh pr view $0 | head`\n")
    workspace.write("home/.config/prowess/prowess.toml", f"[permissions.bash]\n{rules}\n")
    runner = Recorder()
    conversation = workspace.open().conversation(runner=runner)
    if runs:
        conversation.activate("pr", "12", by="model")
    else:
        with pytest.raises(NotPermitted):
            conversation.activate("pr", "12", by="model")
    assert len(runner.ran) == runs


def test_what_a_person_typed_and_commands_without_arguments_are_not_asked_about(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.prowess/skills/pr", body="!`gh pr view $0`\n")
    workspace.skill("home/.prowess/skills/log", body="$0 !`git log`\n")
    runner, person = Recorder(), Person(REJECT)
    conversation = workspace.open().conversation(runner=runner, approver=person)
    conversation.activate("pr", "12")
    conversation.activate("log", "12", by="model")
    conversation.activate("pr", by="model")
    assert (len(runner.ran), person.asked) == (3, [])


def test_always_covers_the_value_that_was_shown_and_no_other(workspace: Workspace) -> None:
    workspace.skill("home/.prowess/skills/pr", body="!`gh pr view $0`\n")
    person = Person(ALWAYS)
    conversation = workspace.open().conversation(runner=Recorder(), approver=person)
    for value in ("12", "12", "13"):
        conversation.activate("pr", value, by="model")
    assert [request.metadata["commands"] for request in person.asked] == [
        ["gh pr view 12"],
        ["gh pr view 13"],
    ]
