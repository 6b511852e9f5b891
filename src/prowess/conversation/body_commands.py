"""The commands inside a body: allowed or refused, run, and replaced by their output."""

from __future__ import annotations

from collections.abc import Callable

from prowess.activate.body.substitution import Given
from prowess.conversation.authorization import authorize_commands
from prowess.conversation.confinement import confine
from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.skill_environment import find_environment
from prowess.diagnostics import Diagnostic
from prowess.model.skill import Skill
from prowess.model.usage import Caller
from prowess.shell.command_runner import (
    Surroundings,
    draft_body,
    find_not_run,
    request_commands,
    run_draft,
)
from prowess.shell.environment import SkillEnvironment


def run_commands(
    skill: Skill,
    content: str,
    given: Given,
    *,
    digest: str,
    by: Caller,
    services: Services,
    view: SnapshotView,
    is_cancelled: Callable[[], bool] | None = None,
) -> tuple[str, tuple[Diagnostic, ...], bool]:
    """A body with its placeholders filled and the output of its commands, and whether any ran.

    `digest` is that of the skill's file, for approvals.
    """
    profile, manifest = services.profile, skill.declared
    not_run = find_not_run(
        skill,
        profile.embedded,
        is_trusted=services.trust.is_trusted(skill),
        switched_on=_find_switch(view),
    )
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
        return draft.place(()), draft.diagnostics, False
    runner, unconfined = confine(skill.name, services, view)
    request = request_commands(skill, draft.commands, by)
    granted = authorize_commands(
        skill, request, services, view, digest=digest, unconfined=unconfined
    )
    body = run_draft(draft, runner, masker=environment.masker, is_cancelled=is_cancelled)
    return body, granted + draft.diagnostics + environment.diagnostics, True


def _find_switch(view: SnapshotView) -> bool | None:
    """The setting `shell_commands` of the host and of Prowess: off wins, None if neither is set."""
    switches = (view.settings.shell_commands, view.own_settings.shell_commands)
    if False in switches:
        return False
    return True if True in switches else None
