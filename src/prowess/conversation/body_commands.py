"""The commands inside a body: allowed or refused, then run and replaced by their output."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prowess.activate.body.substitution import Given
from prowess.conversation.authorization import authorize_commands
from prowess.conversation.confinement import confine
from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.skill_environment import find_environment
from prowess.diagnostics import Diagnostic
from prowess.model.skill import Skill
from prowess.model.usage import Caller
from prowess.ports import Runner
from prowess.shell.command_runner import (
    Draft,
    NotRun,
    Surroundings,
    draft_body,
    find_not_run,
    request_commands,
    run_draft,
)
from prowess.shell.environment import SkillEnvironment
from prowess.text.masker import Masker


class CommandPlan(NamedTuple):
    """A body with its placeholders filled, and commands that may run; none has run yet."""

    draft: Draft
    runner: Runner
    masker: Masker
    diagnostics: tuple[Diagnostic, ...]

    def run(self, is_cancelled: Callable[[], bool] | None = None) -> str:
        """The body with the output of its commands."""
        return run_draft(self.draft, self.runner, masker=self.masker, is_cancelled=is_cancelled)


def plan_commands(
    skill: Skill,
    content: str,
    given: Given,
    *,
    digest: str,
    by: Caller,
    services: Services,
    view: SnapshotView,
) -> CommandPlan:
    """Find the commands in a body, and let them run or refuse them.

    `digest` is that of the skill's file, for approvals.
    """
    profile, manifest = services.profile, skill.declared
    not_run = find_reason_not_to_run(skill, services, view)
    environment = SkillEnvironment()
    if not_run is None:
        environment = find_environment(skill, services, view)
    draft = draft_body(
        content,
        given,
        Surroundings(
            facts=services.facts, cwd=services.cwd, env=environment.variables, not_run=not_run
        ),
        arguments=profile.arguments,
        embedded=profile.embedded,
        names=manifest.arguments,
        declared=manifest.declared_arguments,
        shell=manifest.shell,
        caller=by,
        file=skill.location,
    )
    if not draft.commands:
        return CommandPlan(draft, services.runner, environment.masker, draft.diagnostics)
    runner, unconfined = confine(skill.name, services, view)
    request = request_commands(skill, draft.commands, by)
    granted = authorize_commands(
        skill, request, services, view, digest=digest, unconfined=unconfined
    )
    found = granted + draft.diagnostics + environment.diagnostics
    return CommandPlan(draft, runner, environment.masker, found)


def find_reason_not_to_run(skill: Skill, services: Services, view: SnapshotView) -> NotRun | None:
    """Why nothing of a skill is run; None where it may be asked for."""
    return find_not_run(
        skill,
        services.profile.embedded,
        is_trusted=services.trust.is_trusted(skill),
        switched_on=_find_switch(view),
    )


def _find_switch(view: SnapshotView) -> bool | None:
    """The setting `shell_commands` of the host and of Prowess: off wins, None if neither is set."""
    switches = (view.settings.shell_commands, view.own_settings.shell_commands)
    if False in switches:
        return False
    return True if True in switches else None
