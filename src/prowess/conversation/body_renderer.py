"""From a skill to the body that a model receives: placeholders filled, commands run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from prowess.activate.body.substitution import Given, find_folder, may_hold_commands, substitute
from prowess.activate.skill_requests import read_requests
from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.activation import SkillRequests
from prowess.model.skill import Document, Manifest, Skill, SkillCall
from prowess.model.usage import Caller
from prowess.profiles.schema.body import ArgumentRules
from prowess.text.addresses import render_address

if TYPE_CHECKING:
    from prowess.conversation.body_commands import CommandPlan


class RenderedBody(msgspec.Struct, frozen=True, kw_only=True):
    """A body that is ready for the model, and what the skill asks of its agent.

    `digest` is that of the file. `ran_commands` says that commands wrote a part of the text.
    `blocks` and `folder` are those of a prompt made by code. `trusted` says whether the user trusts
    the skill with the tools and hooks it asks for, True where it asks for none.
    """

    text: str
    digest: str = ""
    requests: SkillRequests = SkillRequests()
    ran_commands: bool = False
    blocks: tuple[Mapping[str, Any], ...] = ()
    folder: str | None = None
    trusted: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


def load_document(skill: Skill, arguments: str, by: Caller, services: Services) -> Document:
    """The instructions of a skill for one call: its file as it is now, or what its code makes."""
    call = SkillCall(arguments=arguments, session=services.session, cwd=services.cwd, caller=by)
    return skill.load(call)


class BodyPlan(NamedTuple):
    """A body that needs no more answers. Its commands may run, and none has run yet."""

    body: RenderedBody
    commands: CommandPlan | None = None

    def render(self, is_cancelled: Callable[[], bool] | None = None) -> RenderedBody:
        """The body, with the output of its commands."""
        if self.commands is None:
            return self.body
        text = self.commands.run(is_cancelled)
        ran_commands = bool(self.commands.draft.commands)
        return msgspec.structs.replace(self.body, text=text, ran_commands=ran_commands)


def plan_body(
    skill: Skill,
    document: Document,
    arguments: str,
    *,
    by: Caller,
    services: Services,
    view: SnapshotView,
) -> BodyPlan:
    """The body of a skill for one call: variables and arguments filled, commands allowed.

    Raises `NotPermitted` and `ApprovalNeeded` where commands may not run.
    """
    profile = services.profile
    # Agents may change the hooks they receive, so each activation gets its own copy.
    manifest = skill.manifest if skill.declared.hooks else skill.declared
    has_commands = profile.embedded.recognised and may_hold_commands(document.content)
    given = _collect_given(skill, arguments, services, view, has_commands=has_commands)
    text, commands, found = document.content, None, document.diagnostics
    is_filled = not skill.is_computed and by in profile.arguments.callers
    if is_filled and has_commands:
        # Few bodies hold commands, and the modules that read shell code take long to import.
        from prowess.conversation.body_commands import plan_commands

        commands = plan_commands(
            skill, text, given, digest=document.digest, by=by, services=services, view=view
        )
        text, found = "", commands.diagnostics
    elif is_filled:
        text, found = _fill_placeholders(skill, manifest, text, profile.arguments, given)
    requests, ignored = read_requests(
        manifest,
        profile.requests,
        file=skill.file,
        expand=lambda tool: _fill_variables(tool, profile.arguments, given),
    )
    wants_trust = bool(requests.allowed_tools or requests.hooks)
    rendered = RenderedBody(
        text=text,
        digest=document.digest,
        requests=requests,
        blocks=document.blocks,
        folder=document.folder,
        trusted=not wants_trust or services.trust.is_trusted(skill),
        diagnostics=found + ignored,
    )
    return BodyPlan(rendered, commands)


def _fill_placeholders(
    skill: Skill, manifest: Manifest, text: str, rules: ArgumentRules, given: Given
) -> tuple[str, tuple[Diagnostic, ...]]:
    return substitute(
        text,
        rules,
        given,
        names=manifest.arguments,
        declared=manifest.declared_arguments,
        file=skill.location,
    )


def _collect_given(
    skill: Skill, arguments: str, services: Services, view: SnapshotView, *, has_commands: bool
) -> Given:
    """What the placeholders of a body stand for in this call."""
    folder = find_folder(skill, services.profile.arguments)
    if folder is not None and skill.is_in_memory:
        # A command needs a folder that it can open; the model reads the files by their addresses.
        is_run = has_commands and services.trust.is_trusted(skill)
        folder = services.project.unpack(skill) if is_run else render_address(skill.name)
    return Given(
        arguments=arguments,
        folder=folder,
        session=services.session,
        project=view.snapshot.repository or view.snapshot.cwd,
        effort=services.effort,
        plugin=_find_plugin_folder(skill, view),
    )


def _find_plugin_folder(skill: Skill, view: SnapshotView) -> str | None:
    """The folder of the plugin that a skill belongs to; None where it belongs to none."""
    path = skill.source.path
    return next((root.plugin_folder for root in view.snapshot.roots if root.path == path), None)


def withhold_requests(skill: Skill, rendered: RenderedBody) -> RenderedBody:
    """The body without the tools and hooks that no one could approve."""
    requests = msgspec.structs.replace(rendered.requests, allowed_tools=(), hooks={})
    if requests == rendered.requests:
        return rendered
    asked = {"allowed-tools": rendered.requests.allowed_tools, "hooks": rendered.requests.hooks}
    named = " and ".join(f"`{name}`" for name, value in asked.items() if value)
    message = f"The header's {named} are not granted because there is no one to approve them."
    found = (*rendered.diagnostics, diagnose("request-withheld", message, file=skill.file))
    return msgspec.structs.replace(rendered, requests=requests, diagnostics=found)


def _fill_variables(tool: str, rules: ArgumentRules, given: Given) -> str:
    """The name of a tool with its variables filled, never with arguments."""
    variables_only = msgspec.structs.replace(rules, placeholders=False, append="never")
    return substitute(tool, variables_only, given)[0]
