"""The process of a hook: who it runs as, what it is told, and where it may write.

The user's own hooks are the user's programs and run with all their rights, as in every host. Those
that came with a project, a plugin or a skill run in the sandbox, as the commands of a skill do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.agent.hooks.reply import MOST_OUTPUT, HookReply, parse_reply
from prowess.errors import MachineError
from prowess.machine.sandbox import find_support
from prowess.model.command import Command
from prowess.model.facts import Facts
from prowess.model.hooks import Hook
from prowess.model.sandbox import SandboxPolicy, SandboxSettings
from prowess.ports import Runner
from prowess.shell.sandbox_policy import build_policy
from prowess.state.folders import state_folder

_ROOT_VARIABLES = {"plugin": "CLAUDE_PLUGIN_ROOT", "skill": "CLAUDE_SKILL_DIR"}
_CONFINED = ("project", "skill", "plugin")


class HookPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the hooks of a session run, and what all of them are told.

    `project` is the folder of the repository, `cwd` the one in which the session was started.
    """

    session: str
    cwd: str
    project: str
    transcript: str = ""


class HookProcess:
    """Runs hooks as processes. `runner` is for the user's own, `confined` for the others."""

    def __init__(
        self,
        place: HookPlace,
        facts: Facts,
        runner: Runner,
        confined: Runner,
        *,
        get_sandbox: Callable[[], SandboxSettings],
    ) -> None:
        self._place = place
        self._facts = facts
        self._runner = runner
        self._confined = confined
        self._get_sandbox = get_sandbox

    def run(
        self, hook: Hook, fields: Mapping[str, Any], is_cancelled: Callable[[], bool]
    ) -> HookReply:
        """Run a hook. What goes wrong with it is in the reply. Raises `Cancelled`."""
        if hook.kind != "command":
            return HookReply(failure=f"hooks of type `{hook.kind}` are not run")
        is_confined = hook.source in _CONFINED
        policy = self._build_policy(hook) if is_confined else None
        # Nobody is asked about a hook, so that without a sandbox it cannot run at all.
        if policy is not None and find_support().engine is None:
            reason = find_support().reason
            return HookReply(failure=f"it cannot be sandboxed on this machine ({reason})")
        command = Command(
            text=hook.command,
            argv=("bash", "-c", hook.command),
            env=self._build_env(hook),
            cwd=self._place.cwd,
            shell="bash",
            input=self._render_input(hook.event, fields),
            separate_errors=True,
            seconds=hook.timeout,
            output_bytes=MOST_OUTPUT,
            sandbox=policy,
        )
        runner = self._confined if is_confined else self._runner
        try:
            finished = runner.run(command, is_cancelled=is_cancelled)
        except MachineError as error:
            return HookReply(failure=str(error).rstrip("."))
        return parse_reply(hook.event, finished, command)

    def _build_policy(self, hook: Hook) -> SandboxPolicy | None:
        """What a hook may touch; None where the user switched the sandbox off."""
        return build_policy(
            self._get_sandbox(),
            hook.name if hook.source == "skill" else "",
            project=self._place.project,
            home=self._facts.home,
            hidden=(state_folder(self._facts),),
        )

    def _build_env(self, hook: Hook) -> dict[str, str]:
        env = {
            # As in Claude Code, the folder in which the session was started.
            "CLAUDE_PROJECT_DIR": self._place.cwd,
            "PROWESS_PROJECT_DIR": self._place.project,
        }
        if hook.root is not None and hook.source in _ROOT_VARIABLES:
            env[_ROOT_VARIABLES[hook.source]] = hook.root
        return env

    def _render_input(self, event: str, fields: Mapping[str, Any]) -> bytes:
        told = {
            "session_id": self._place.session,
            "transcript_path": self._place.transcript,
            "cwd": self._place.cwd,
            "hook_event_name": event,
            **fields,
        }
        # Unlike msgspec this writes everything, also half of a surrogate pair: a model must not be
        # able to keep a hook from seeing its call.
        return json.dumps(told, default=str).encode() + b"\n"
