"""Hooks in settings files: a list of tables in prowess.toml, Claude Code's shape in its own files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.errors import SettingError
from prowess.model.hooks import Hook
from prowess.model.origin import Origin
from tests.workspace import Workspace

OWN = "home/.config/prowess/prowess.toml"
TEXT = """
[[hooks]]
event = "PreToolUse"
matcher = "Bash|Write"
command = "./check"
timeout = 2.5

[[hooks]]
event = "SessionStart"
command = "date"
once = true
"""


def test_hooks_of_every_file_add_up_and_know_whose_they_are(workspace: Workspace) -> None:
    own = workspace.write(OWN, TEXT)
    project = workspace.write(
        "project/prowess.toml", '[[hooks]]\nevent = "Stop"\ncommand = "make check"\n'
    )
    settings = workspace.open().settings()
    assert settings.hooks == (
        Hook(
            event="PreToolUse",
            matcher="Bash|Write",
            command="./check",
            timeout=2.5,
            origin=Origin(str(own), 2),
        ),
        Hook(event="SessionStart", command="date", once=True, origin=Origin(str(own), 8)),
        Hook(event="Stop", command="make check", source="project", origin=Origin(str(project), 1)),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hooks = 'x'", r"a list of tables, each written `\[\[hooks\]\]`"),
        ("hooks = ['x']", "table"),
        ("[[hooks]]\ncommand = 'x'", "has no `event`"),
        ("[[hooks]]\nevent = 'Stop'", "has no `command`"),
        ("[[hooks]]\nevent = 'Stopped'\ncommand = 'x'", "must be one of SessionStart"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = ' '", "the command to run"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 3", "a string"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 'x'\nmatcher = '(a+)+'", "names of tools"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 'x'\ntimeout = 0", "a number of seconds"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 'x'\nonce = 1", "true or false"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 'x'\nmacher = 'x'", "did you mean `hooks.matcher`"),
    ],
)
def test_a_wrong_value_is_refused(workspace: Workspace, text: str, said: str) -> None:
    workspace.write(OWN, text)
    with pytest.raises(SettingError, match=said):
        workspace.open().settings()


def make_settings(**hooks: Any) -> str:
    return json.dumps({"hooks": hooks}, indent=1)


def test_the_files_of_claude_code_have_hooks_too(workspace: Workspace) -> None:
    hook = {"type": "command", "command": "x", "once": True}
    user = workspace.write("home/.claude/settings.json", make_settings(Stop=[{"hooks": [hook]}]))
    local = workspace.write(
        "project/.claude/settings.local.json",
        make_settings(PreToolUse=[{"matcher": "Bash", "hooks": [{"type": "prompt"}]}]),
    )
    settings = workspace.open(host="claude-code").settings()
    # In Claude Code, `once` is for skills only.
    assert settings.hooks == (
        Hook(event="Stop", command="x", origin=Origin(str(user), 2)),
        Hook(
            event="PreToolUse",
            matcher="Bash",
            kind="prompt",
            source="project",
            origin=Origin(str(local), 2),
        ),
    )


def test_a_hook_that_cannot_be_read_costs_nothing_but_itself(workspace: Workspace) -> None:
    good = {"hooks": [{"type": "command", "command": "x"}]}
    text = make_settings(Stop=[good, {"hooks": [{"type": "command"}]}])
    file = workspace.write("home/.claude/settings.json", text)
    settings = workspace.open(host="claude-code").settings()
    assert [hook.command for hook in settings.hooks] == ["x"]
    (diagnostic,) = settings.diagnostics
    assert diagnostic.field == "hooks.Stop[1].hooks[0].command"
    assert (diagnostic.file, diagnostic.line) == (str(file), 14)
