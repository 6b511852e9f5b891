"""The commands of shipped skills that go to code and not to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeAlias

from prowess.activate.slash.dispatch import ToolRun
from prowess.errors import UsageError
from prowess.model.skill import Scope
from prowess.runtime import Skills

ShippedCommand: TypeAlias = Callable[..., str]
"""Carries out a command: what was typed after its name, the skills it was typed in, and the run."""

_JOBS = "prowess.agent.shipped.job_commands"

# By the name that `command-tool` has in the skill's header: the module, and the function in it.
# They are imported when the command is typed.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "lorem-ipsum": ("prowess.agent.shipped.lorem_ipsum", "run_command"),
    "batch": (_JOBS, "run_batch"),
    "loop": (_JOBS, "run_loop"),
    "schedule-remote-agents": (_JOBS, "run_remote"),
    "stuck": ("prowess.agent.shipped.stuck", "run_command"),
}


# Commands that start agents, which use the model of the run that they were typed in.
_WITH_MODEL = frozenset(("batch", "loop", "schedule-remote-agents"))


def register_commands(
    skills: Skills, *, find_model: Callable[[], str | None] = lambda: None
) -> None:
    """Let the commands of the skills that ship be carried out.

    `find_model` gives the model for agents that they start, when a command is typed.
    """
    for name, (module, function) in COMMANDS.items():
        find = find_model if name in _WITH_MODEL else None
        # The command of a skill whose feature is off does not exist.
        skills.register_tool(name, _make_tool(skills, module, function, find), skill=name)


def _make_tool(
    skills: Skills, module: str, function: str, find_model: Callable[[], str | None] | None
) -> Callable[[Mapping[str, str], ToolRun], str]:
    def run(parameters: Mapping[str, str], tool_run: ToolRun) -> str:
        name = parameters["skillName"]
        if skills.get(name).scope is not Scope.BUNDLED:
            # Otherwise any project could make a harmless name start one of these.
            raise UsageError(
                f"Only skills that ship with Prowess can use this tool; “{name}” is not one."
            )
        command: ShippedCommand = getattr(import_module(module), function)
        options = {} if find_model is None else {"model": find_model()}
        return command(parameters["command"], skills, tool_run, **options)

    return run
