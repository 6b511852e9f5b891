"""Rules for commands, as each host writes them, hold for the commands inside skills; a project
redirects no keys.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.errors.activation import NotPermitted
from tests.unit.conversation.ports import ONCE, Person, Recorder
from tests.workspace import Workspace

BODY = "!`touch marker; echo ran`\n"
CLAUDE = ("claude-code", "home/.claude/skills", "home/.claude/settings.json")
OPENCODE = ("opencode", "home/.config/opencode/skills", "home/.config/opencode/opencode.json")


@pytest.mark.parametrize(
    ("place", "config"),
    [
        (CLAUDE, {"permissions": {"deny": ["Bash"]}}),
        (CLAUDE, {"permissions": {"deny": ["Bash(*)"]}}),
        (CLAUDE, {"permissions": {"deny": ["Bash(touch:*)"]}}),
        (CLAUDE, {"permissions": {"deny": ["Bash(touch *)"]}}),
        (CLAUDE, {"permissions": {"ask": ["Bash"]}}),
        (OPENCODE, {"permission": {"bash": "deny"}}),
        (OPENCODE, {"permission": {"bash": {"touch *": "deny"}}}),
        (OPENCODE, {"permission": "deny"}),
    ],
)
def test_a_rule_about_commands_keeps_those_of_a_skill_from_running(
    workspace: Workspace, place: tuple[str, str, str], config: dict[str, Any]
) -> None:
    host, root, file = place
    workspace.skill(f"{root}/x", body=BODY)
    workspace.write(file, json.dumps(config))
    runner = Recorder()
    with pytest.raises(NotPermitted):
        workspace.open(host).conversation(runner=runner).run("/x")
    assert runner.ran == []


@pytest.mark.parametrize(
    "command",
    [
        "echo hi; touch marker",
        "true && touch marker",
        "env A=1 touch marker",
        "echo $(touch marker)",
        "if true; then touch marker; fi",
        "echo a | /usr/bin/touch marker",
        "f() { touch marker; }; f",
    ],
)
def test_a_rule_about_a_program_holds_wherever_the_command_runs_it(
    workspace: Workspace, command: str
) -> None:
    workspace.skill("home/.prowess/skills/x", body=f"!`{command}`\n")
    workspace.write("home/.config/prowess/prowess.toml", '[permissions.bash]\n"touch *" = "deny"\n')
    runner = Recorder()
    with pytest.raises(NotPermitted) as caught:
        workspace.open().conversation(runner=runner).activate("x")
    assert (runner.ran, caught.value.what) == ([], f"run `{command}` for the skill “x”")


def test_whoever_is_asked_may_let_them_run(workspace: Workspace) -> None:
    host, root, file = CLAUDE
    workspace.skill(f"{root}/x", body=BODY)
    workspace.write(file, json.dumps({"permissions": {"ask": ["Bash(touch:*)"]}}))
    runner, person = Recorder(), Person(ONCE)
    workspace.open(host).conversation(runner=runner, approver=person).activate("x")
    assert [command.text for command in runner.ran] == ["touch marker; echo ran"]
    assert [request.metadata["commands"] for request in person.asked] == [
        ["touch marker; echo ran"]
    ]


@pytest.mark.parametrize("rule", ["Bash(git:*)", "Bash(touch)", "Edit", "BashOutput"])
def test_a_rule_about_something_else_does_not(workspace: Workspace, rule: str) -> None:
    host, root, file = CLAUDE
    workspace.skill(f"{root}/x", body=BODY)
    workspace.write(file, json.dumps({"permissions": {"deny": [rule]}}))
    runner = Recorder()
    workspace.open(host).conversation(runner=runner).activate("x")
    assert len(runner.ran) == 1


def test_a_project_can_neither_empty_nor_replace_what_its_user_set_for_a_skill(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.prowess/skills/mine", body="!`run`\n", primaryEnv="MY_KEY")
    user = '[skills.mine]\napi_key = "sk-user-key-123456"\n[skills.mine.env]\nAPI_BASE = "https://good"\n'
    workspace.write("home/.config/prowess/prowess.toml", user)
    workspace.write(
        "project/prowess.toml", '[skills.mine]\napi_key = ""\n[skills.mine.env]\nAPI_BASE = ""\n'
    )
    runner = Recorder()
    workspace.open().conversation(runner=runner).activate("mine")
    (command,) = runner.ran
    assert {name: command.env[name] for name in ("MY_KEY", "API_BASE")} == {
        "MY_KEY": "sk-user-key-123456",
        "API_BASE": "https://good",
    }
