"""A typed command that calls a tool in place of the model."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import chain

import msgspec

from prowess.activate.slash.dispatch import (
    Cancel,
    CommandTool,
    CommandTools,
    Dispatch,
    ToolReply,
    ToolRun,
    dispatch,
)
from prowess.activate.slash.parser import CommandCall
from prowess.conversation.authorization import authorize_commands
from prowess.conversation.confinement import confine
from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.skill_environment import find_environment
from prowess.errors import ProwessError
from prowess.errors.activation import Cancelled, CommandToolFailed, UntrustedTool
from prowess.machine.event_loop import wait_for
from prowess.model.permission import ApprovalRequest
from prowess.model.skill import Skill
from prowess.ports import Runner
from prowess.shell.configured_tools import make_tool, render_template
from prowess.text.masker import Masker


def dispatch_command(
    call: CommandCall,
    target: Dispatch,
    skill: Skill,
    *,
    services: Services,
    view: SnapshotView,
    cancel: Cancel,
) -> ToolReply:
    """Call the tool that a command goes to; the skill's secrets are masked in the reply."""
    environment = find_environment(skill, services, view)
    masker = environment.masker
    runner, unconfined = confine(skill.name, services, view)
    if unconfined is not None:
        _authorize_tool(target.tool_name, skill, services, view, unconfined=unconfined)
    run = ToolRun(id=uuid.uuid4().hex, cancel=cancel, env=environment.variables, masker=masker)
    try:
        reply = dispatch(
            target,
            arguments=call.arguments,
            command_name=call.command.name,
            skill_name=call.command.skill_name,
            tools=list_tools(runner, services, view),
            run=run,
            wait=wait_for,
        )
    except ProwessError as error:
        if not _carries_secret(error, masker):
            raise
        masked = _mask_error(error, masker, tool=target.tool_name)
    else:
        services.usage.note_activated(skill, "user")
        return msgspec.structs.replace(
            reply,
            text=masker.mask(reply.text),
            result=masker.mask_value(reply.result),
            diagnostics=environment.diagnostics,
        )
    # Raised outside the handler, so that it does not refer to the error that holds the secret.
    raise masked


def _authorize_tool(
    name: str, skill: Skill, services: Services, view: SnapshotView, *, unconfined: str
) -> None:
    """Ask before a configured program runs on a machine that confines nothing.

    A tool that the agent registered is the agent's own code and no program of a skill.
    """
    configured = view.own_settings.tools.get(name)
    if configured is None or name in _list_registered(services, view):
        return
    text = render_template(configured.command)
    request = ApprovalRequest(
        permission="bash",
        patterns=(text,),
        always=(text,),
        metadata={"skill": skill.name, "location": skill.location, "commands": [text]},
    )
    authorize_commands(skill, request, services, view, digest=skill.digest, unconfined=unconfined)


def list_tools(runner: Runner, services: Services, view: SnapshotView) -> CommandTools:
    """The tools that commands can go to: those of prowess.toml, replaced by registered ones.

    A tool that an untrusted project declares refuses to run.
    """
    settings = view.own_settings
    trusts_project = view.is_trusted(settings)
    declared: list[CommandTool] = []
    for name, tool in settings.tools.items():
        key = f"tools.{name}"
        if trusts_project or not settings.is_from_project(key):
            declared.append(make_tool(name, tool, runner, cwd=services.cwd))
        else:
            declared.append(_refuse_tool(name, str(settings.origin(key))))
    return CommandTools.of(declared).add(*_list_registered(services, view).values())


def _list_registered(services: Services, view: SnapshotView) -> dict[str, CommandTool]:
    """The tools that the agent registered, without those whose skill is not there."""
    return {
        tool.name: tool
        for tool in services.project.registered.tools
        if tool.skill is None or view.snapshot.find(tool.skill) is not None
    }


def _refuse_tool(name: str, origin: str) -> CommandTool:
    def function(params: object, run: ToolRun) -> str:
        raise UntrustedTool(name, origin)

    return CommandTool(name=name, function=function)


def _carries_secret(error: BaseException, masker: Masker) -> bool:
    """Whether an error, or one it came from, shows a secret."""
    shown = chain.from_iterable(map(_list_texts, _list_chain(error)))
    return any(map(masker.finds, shown))


def _mask_error(error: ProwessError, masker: Masker, *, tool: str) -> ProwessError:
    """An error that says the same without the secrets, and has no cause."""
    if isinstance(error, Cancelled):
        return Cancelled(masker.mask(error.doing))
    cause = error.cause if isinstance(error, CommandToolFailed) else str(error)
    return CommandToolFailed(tool, masker.mask(cause))


def _list_chain(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it came from or groups, each once."""
    seen: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        # The errors themselves are kept, so that no id is used again.
        seen[id(link)] = link
        yield link
        waiting += [link.__cause__, link.__context__]
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions


def _list_texts(error: BaseException) -> Iterator[str]:
    """Everything that showing an error may print."""
    for show in (str, repr, lambda one: repr(vars(one))):
        try:
            yield show(error)
        except Exception:
            # An error that cannot be shown reveals nothing.
            continue
