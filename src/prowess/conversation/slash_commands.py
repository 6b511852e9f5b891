"""What becomes of a typed command: a message for the model, or a call of the tool that the skill
names.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import msgspec

from prowess.activate.slash.commands import SlashCommand
from prowess.activate.slash.delivery import Delivery
from prowess.activate.slash.dispatch import Cancel, Dispatch, ToolReply, ToolRun, dispatch
from prowess.activate.slash.messages import Message, render_message
from prowess.activate.slash.parser import Call, Mention, Notice
from prowess.activate.tool import Prepared
from prowess.conversation.body_renderer import Bodies
from prowess.conversation.masked_errors import carries_secret, mask_error
from prowess.conversation.services import Ground
from prowess.errors import ProwessError, UnknownSkill
from prowess.model.outcome import Outcome
from prowess.model.skill import Skill
from prowess.profiles.schema.commands import CommandRules


class Typist:
    """Carries out one typed text. `prepared` are the skills whose bodies went into the message."""

    def __init__(
        self,
        ground: Ground,
        bodies: Bodies,
        get_outcome: Callable[[str, str], Outcome],
        cancel: Cancel,
    ) -> None:
        self.prepared: list[tuple[Skill, Prepared]] = []
        self._ground = ground
        self._bodies = bodies
        self._get_outcome = get_outcome
        self._cancel = cancel

    def render(
        self, typed: Call | Mention, rules: CommandRules, delivery: Delivery
    ) -> Message | Notice:
        """The message in the host's shape, with what the skills in it ask for."""
        made = render_message(typed, rules, read=self._read, delivery=delivery)
        if isinstance(made, Notice):
            return made
        return msgspec.structs.replace(
            made,
            requests={skill.name: prepared.requests for skill, prepared in self.prepared},
            untrusted=tuple(
                skill.name for skill, prepared in self.prepared if not prepared.trusted
            ),
            blocks=tuple(block for _, prepared in self.prepared for block in prepared.blocks),
            diagnostics=tuple(
                found for _, prepared in self.prepared for found in prepared.diagnostics
            ),
        )

    def note_named(self, typed: Call | Mention) -> None:
        """Count the skills that a message names without holding them."""
        for command in (typed.command,) if isinstance(typed, Call) else typed.commands:
            self._ground.usage.note_activated(self._get_skill(command), "user")

    def dispatch(self, target: Dispatch, call: Call) -> ToolReply:
        """Call the tool that a command goes to. What is secret to the skill is masked in the reply."""
        skill = self._get_skill(call.command)
        environment = self._bodies.build_environment(skill)
        masker = environment.masker
        run = ToolRun(
            id=uuid.uuid4().hex, cancel=self._cancel, env=environment.variables, masker=masker
        )
        try:
            reply = dispatch(
                target,
                arguments=call.arguments,
                command_name=call.command.name,
                skill_name=call.command.skill_name,
                tools=self._ground.list_tools(),
                run=run,
                wait=self._ground.wait,
            )
        except ProwessError as error:
            if not carries_secret(error, masker):
                raise
            failed = mask_error(error, masker, tool=target.tool_name)
        else:
            self._ground.usage.note_activated(skill, "user")
            result = masker.mask_value(reply.result)
            return msgspec.structs.replace(
                reply,
                text=masker.mask(reply.text),
                result=result,
                diagnostics=environment.diagnostics,
            )
        # Raised out here, it does not hold on to the error that tells the secret.
        raise failed

    def _read(self, command: SlashCommand, arguments: str) -> str:
        skill = self._get_skill(command)
        prepared = self._bodies.prepare(
            skill, arguments, "user", is_cancelled=lambda: self._cancel.is_cancelled
        )
        self.prepared.append((skill, prepared))
        return prepared.body

    def _get_skill(self, command: SlashCommand) -> Skill:
        skill = self._get_outcome(command.skill_name, command.location).skill
        if skill is None:
            raise UnknownSkill(command.skill_name)
        return skill
