"""The hooks of a session, ready to run."""

from __future__ import annotations

from collections.abc import Callable

from prowess.agent.configuration import Configuration
from prowess.agent.events import Event
from prowess.agent.hooks.process import HookPlace, HookProcess
from prowess.agent.hooks.session_hooks import SessionHooks
from prowess.agent.hooks.sources import gather_hooks
from prowess.machine.processes import ProcessRunner
from prowess.ports import Runner
from prowess.runtime import Skills


def open_hooks(
    skills: Skills,
    configuration: Configuration,
    place: HookPlace,
    runner: Runner,
    *,
    emit: Callable[[Event], None],
    is_interrupted: Callable[[], bool],
    interrupt: Callable[[], None],
) -> SessionHooks:
    """The hooks of a session. `runner` is what its other programs run in."""
    process = HookProcess(
        place,
        skills.facts,
        # The user's own hooks write what they like, also where the tools cannot.
        ProcessRunner(skills.facts),
        runner,
        get_sandbox=lambda: skills.project.load_own_settings().sandbox,
    )
    return SessionHooks(
        gather_hooks(skills, configuration),
        process,
        emit=emit,
        is_interrupted=is_interrupted,
        interrupt=interrupt,
    )
