"""Who may load which skill, and whether its commands may run: rules first, then the person who is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from prowess.conversation.services import Ground
from prowess.conversation.skill_digest import digest_contents
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import ProwessError
from prowess.errors.activation import NotPermitted, Unavailable
from prowess.gate.approvals import Permit
from prowess.gate.permissions import decide, request_skill
from prowess.gate.visibility import judge_invocation
from prowess.model.command import Command
from prowess.model.outcome import Outcome, State
from prowess.model.permission import Action, Decision, Request
from prowess.model.skill import Document, Manifest, Skill
from prowess.model.usage import Caller
from prowess.shell.command_runner import request_commands

# What a model may ask for by name; one that is denied is asked about, and the rules then say why
# not.
_FOR_THE_MODEL = (State.READY, State.HIDDEN, State.DENIED)


class Grant(NamedTuple):
    """What was granted: the skill, and with `with_wishes` the tools and hooks its header asks for,
    too.
    """

    with_wishes: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


class Permits:
    """Judges the requests of one conversation."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def check_skill(
        self, outcome: Outcome, skill: Skill, by: Caller, *, read: Callable[[], Document]
    ) -> Grant:
        """Let a skill be loaded.

        What a person asks for needs no permission, only to be there. `read` gives the document that
        will be loaded, for approvals hold for that alone. Raises `Unavailable` where the skill's
        state forbids it, and `NotPermitted`.
        """
        states = self._ground.profile.commands.states if by == "user" else _FOR_THE_MODEL
        if outcome.state not in states:
            raise Unavailable(outcome.name, outcome.state.value, outcome.reason or "")
        return Grant() if by == "user" else self._check_model(skill, read)

    def check_commands(
        self, skill: Skill, commands: Sequence[Command], digest: str
    ) -> tuple[Diagnostic, ...]:
        """Let the commands inside a trusted skill run, unless a rule speaks of them. Raises
        `NotPermitted`.
        """
        request = request_commands(skill, commands)
        decision = decide(request, self._ground.gather_rules())
        if decision.rule is None:
            return ()
        whole = (
            digest_contents(skill, self._ground.files, digest)
            if decision.action is Action.ASK
            else ""
        )
        permit = self._settle(skill, request, decision, whole)
        texts = "`, `".join(command.text for command in commands)
        return _demand(permit, f"run `{texts}` for the skill “{skill.name}”")

    def _check_model(self, skill: Skill, read: Callable[[], Document]) -> Grant:
        ground = self._ground
        manifest = skill.declared
        judged = judge_invocation(
            manifest, name=skill.name, rules=ground.profile.gate, settings=ground.settings
        )
        if not judged.by_model:
            raise Unavailable(
                skill.name, State.HIDDEN.value, f"`{judged.model_rule}` leaves it to the user"
            )
        request = request_skill(skill.name, manifest)
        decision = decide(request, ground.gather_rules(), manifest)
        if decision.action is Action.ALLOW:
            return Grant()
        request = msgspec.structs.replace(
            request, metadata=self._describe_wishes(skill, skill.manifest)
        )
        digest = self._identify(skill, request, read) if decision.action is Action.ASK else ""
        permit = self._settle(skill, request, decision, digest)
        if (
            permit.by == "nobody"
            and decision.rule is None
            and ground.profile.permissions.default is Action.ALLOW
        ):
            # Only what the header asks for would have been asked about; the instructions alone need
            # no approval.
            return Grant(with_wishes=False)
        return Grant(diagnostics=_demand(permit, f"use the skill “{skill.name}”"))

    def _describe_wishes(self, skill: Skill, manifest: Manifest) -> dict[str, Any]:
        """What the header wants to have approved beforehand, for the person who is asked."""
        heeded = self._ground.profile.requests.fields
        wishes: dict[str, Any] = {}
        if manifest.allowed_tools and "allowed-tools" in heeded:
            wishes["allowed-tools"] = list(manifest.allowed_tools)
        if manifest.hooks and "hooks" in heeded:
            wishes["hooks"] = manifest.hooks
        return {"skill": skill.name, "location": skill.location, **wishes} if wishes else {}

    def _identify(self, skill: Skill, request: Request, read: Callable[[], Document]) -> str:
        """What an approval is bound to: all of the skill's files, and what its header wanted when
        somebody was asked.

        A skill that is computed is its declaration; its text may be another at every call.
        """
        if skill.is_computed:
            return _digest_values(msgspec.structs.asdict(skill.manifest))
        digest = digest_contents(skill, self._ground.files, read().digest)
        return _digest_values([digest, request.metadata]) if request.metadata else digest

    def _settle(self, skill: Skill, request: Request, decision: Decision, digest: str) -> Permit:
        ground = self._ground
        try:
            return ground.approvals.settle(
                request, decision, location=skill.location, digest=digest, approver=ground.approver
            )
        except ProwessError:
            raise
        except Exception as error:
            # Whoever was to be asked failed; what nobody granted is refused.
            reason = f"whoever was asked gave no answer ({type(error).__name__}: {error})"
            return Permit(granted=False, by="person", reason=reason)


def _digest_values(values: Any) -> str:
    import hashlib
    import json

    return f"sha256:{hashlib.sha256(json.dumps(values, default=repr, sort_keys=True).encode()).hexdigest()}"


def _demand(permit: Permit, what: str) -> tuple[Diagnostic, ...]:
    """Raise where a request was refused; else what is to be said about the way it was granted."""
    if not permit.granted:
        raise NotPermitted(what, permit.reason, feedback=permit.feedback)
    return () if permit.warning is None else (diagnose("approval-not-kept", permit.warning),)
