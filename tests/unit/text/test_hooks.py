"""Hooks in Claude Code's shape become values; what is wrong with the rest is said."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.model.hooks import Hook
from prowess.model.origin import Origin
from prowess.text.hooks import parse_hooks


def test_a_table_of_events_becomes_hooks_that_know_whose_they_are():
    data = {
        "PreToolUse": [
            {
                "matcher": "Bash|Edit",
                "hooks": [
                    {"type": "command", "command": "./check", "timeout": 5},
                    {"type": "command", "command": "./count", "once": True},
                ],
            }
        ],
        "SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}],
    }
    hooks, diagnostics = parse_hooks(
        data, source="plugin", name="tides", root="/p/tides", file="/p/tides/hooks/hooks.json"
    )
    whose: Any = {
        "source": "plugin",
        "name": "tides",
        "root": "/p/tides",
        "origin": Origin("/p/tides/hooks/hooks.json"),
    }
    assert diagnostics == ()
    assert hooks == (
        Hook(event="PreToolUse", matcher="Bash|Edit", command="./check", timeout=5, **whose),
        Hook(event="PreToolUse", matcher="Bash|Edit", command="./count", once=True, **whose),
        Hook(event="SessionStart", command="date", **whose),
    )


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([], "hooks"),
        ({"Stop": {}}, "hooks.Stop"),
        ({"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}, "hooks.Stop[0].hooks[0].type"),
        (
            {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "soon"}]}]},
            "hooks.Stop[0].hooks[0].timeout",
        ),
        (
            {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": True}]}]},
            "hooks.Stop[0].hooks[0].timeout",
        ),
        (
            {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}]},
            "hooks.Stop[0].hooks[0].timeout",
        ),
        ({"Stop": [{"matcher": "(a+)+", "hooks": []}]}, "hooks.Stop[0].matcher"),
    ],
)
def test_what_has_another_shape_is_left_out_and_reported(data, field):
    hooks, (diagnostic,) = parse_hooks(data, source="user", file="/h/settings.json")
    assert hooks == ()
    assert (diagnostic.field, diagnostic.file) == (field, "/h/settings.json")


def test_an_event_with_a_typing_error_is_reported():
    data = {"PreTool": [{"hooks": [{"type": "command", "command": "x"}]}]}
    hooks, (diagnostic,) = parse_hooks(data, source="user")
    assert [hook.event for hook in hooks] == ["PreTool"]
    assert diagnostic.message.endswith("did you mean `PreToolUse`?")
