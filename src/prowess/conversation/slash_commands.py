"""What becomes of a typed text: a message for the model, or a tool's reply."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec

from prowess.activate.ledger import LedgerRecorder
from prowess.activate.slash.commands import SlashCommand
from prowess.activate.slash.dispatch import Cancel, ToolReply
from prowess.activate.slash.messages import Delivery, Message, build_message, needs_bodies
from prowess.activate.slash.parser import CommandCall, Mention, Notice, Plain, parse_command
from prowess.conversation.activation import record_activation
from prowess.conversation.body_renderer import RenderedBody, load_document, plan_body
from prowess.conversation.current_skills import CurrentSkills, SnapshotView
from prowess.conversation.services import Services
from prowess.errors import UnknownSkill
from prowess.model.activation import SkillRequests
from prowess.model.skill import Skill

RunResult = Message | ToolReply | Notice | Plain
"""What comes of a typed text: a message, a tool's reply, a notice for the user, or plain text."""


def run_typed(
    text: str,
    *,
    delivery: Delivery,
    cancel: Cancel,
    services: Services,
    skills: CurrentSkills,
    ledger: LedgerRecorder,
) -> RunResult:
    """Run what a user typed: find its commands, render their bodies, build the message, record it.

    A command that goes to a tool calls the tool instead.
    """
    rules = services.profile.commands

    view = skills.view
    typed = parse_command(text, view.commands, rules)
    if isinstance(typed, Notice | Plain):
        return typed
    found = [_get_skill(command, view) for command in typed.commands]
    if skills.refresh(*found):
        # A file changed since the scan: what was typed may mean something else now.
        view = skills.view
        typed = parse_command(text, view.commands, rules)
        if isinstance(typed, Notice | Plain):
            return typed
        found = [_get_skill(command, view) for command in typed.commands]

    if isinstance(typed, CommandCall) and typed.command.dispatch is not None:
        # Few commands go to a tool, and the modules that run programs take long to import.
        from prowess.conversation.tool_dispatch import dispatch_command

        target, (skill,) = typed.command.dispatch, found
        return dispatch_command(typed, target, skill, services=services, view=view, cancel=cancel)

    if not needs_bodies(typed, rules):
        message = build_message(typed, rules, delivery=delivery)
        if isinstance(message, Message):
            for skill in found:
                services.usage.note_activated(skill, "user")
        return message

    return _build_with_bodies(
        typed, found, delivery, cancel=cancel, services=services, view=view, ledger=ledger
    )


def _build_with_bodies(
    typed: CommandCall | Mention,
    found: Sequence[Skill],
    delivery: Delivery,
    *,
    cancel: Cancel,
    services: Services,
    view: SnapshotView,
    ledger: LedgerRecorder,
) -> Message | Notice:
    """The message with the bodies of the skills that were typed, which it records."""
    rules = services.profile.commands
    # All are planned before any is rendered: whoever has to be asked is asked before anything runs.
    documents = [load_document(skill, typed.arguments, "user", services) for skill in found]
    plans = [
        plan_body(skill, document, typed.arguments, by="user", services=services, view=view)
        for skill, document in zip(found, documents, strict=True)
    ]
    bodies = [plan.render(lambda: cancel.is_cancelled) for plan in plans]
    texts = [body.text for body in bodies]
    if rules.whole_file:
        texts = [one.head + text for one, text in zip(documents, texts, strict=True)]
    message = build_message(typed, rules, bodies=texts, delivery=delivery)
    if isinstance(message, Notice):
        return message
    for skill, body in zip(found, bodies, strict=True):
        # A message with mentions has several bodies, and the arguments are everything else in it.
        is_call = isinstance(typed, CommandCall)
        record_activation(
            skill,
            message.text if is_call else body.text,
            body,
            arguments=typed.arguments if is_call else "",
            by="user",
            services=services,
            ledger=ledger,
        )
    return _add_requests(message, found, bodies)


def _get_skill(command: SlashCommand, view: SnapshotView) -> Skill:
    """The skill of a command. Raises `UnknownSkill` where a scan meanwhile no longer found it."""
    outcome = view.find_claim(command.skill_name, command.location)
    if outcome is None or outcome.skill is None:
        raise UnknownSkill(command.skill_name, view.list_usable("user"))
    return outcome.skill


def _add_requests(
    message: Message, skills: Sequence[Skill], bodies: Sequence[RenderedBody]
) -> Message:
    """The message with what its skills ask of the agent, and what is to be reported about them."""
    requests: dict[str, SkillRequests] = {}
    untrusted: list[str] = []
    for skill, body in zip(skills, bodies, strict=True):
        requests[skill.name] = body.requests
        if not body.trusted:
            untrusted.append(skill.name)
    return msgspec.structs.replace(
        message,
        requests=requests,
        untrusted=tuple(untrusted),
        blocks=tuple(chain.from_iterable(body.blocks for body in bodies)),
        diagnostics=tuple(chain.from_iterable(body.diagnostics for body in bodies)),
    )
