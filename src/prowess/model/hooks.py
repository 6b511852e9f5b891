"""Hooks: commands that an agent runs when something happens in a session."""

from __future__ import annotations

from typing import Literal

import msgspec

from prowess.model.origin import Origin

HookSource = Literal["user", "project", "plugin", "skill"]
"""Whose hook it is: the user's own settings, a project's settings, a plugin or a skill."""

AGENT_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
)
"""The events at which Prowess's own agent runs hooks. Hosts have more."""

HOOK_TYPES = ("command", "prompt", "agent", "http", "mcp_tool")
"""The types of Claude Code's hooks. The agent runs commands; it says that others do not run."""

USUAL_TIMEOUT = 60.0
"""The seconds that a hook may take if it does not say."""


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """A command that an agent runs at an event.

    - `event`: what it waits for, such as `PreToolUse`.
    - `command`: what is run, as text for the shell; empty if the hook is of another kind.
    - `matcher`: the tools that it is for; "" is all. `text.hooks` compares it with names.
    - `kind`: `command`, or another type of Claude Code, such as `prompt`.
    - `timeout`: the seconds after which it is stopped.
    - `once`: it runs the first time only.
    - `source`: whose it is, with the `name` of the plugin or skill.
    - `root`: the folder of the plugin or skill.
    - `origin`: the file that has it.
    """

    event: str
    command: str = ""
    matcher: str = ""
    kind: str = "command"
    timeout: float = USUAL_TIMEOUT
    once: bool = False
    source: HookSource = "user"
    name: str = ""
    root: str | None = None
    origin: Origin = Origin()
