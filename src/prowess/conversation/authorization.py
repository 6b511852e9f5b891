"""Whether a model may load a skill, and whether a skill's commands may run.

The permission rules decide first; where they say `ask`, the approver does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.skill_digest import digest_contents
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors.activation import NotPermitted, Unavailable
from prowess.gate.approvals import Permit
from prowess.gate.permissions import AgentRules, decide, find_unallowed, request_skill
from prowess.gate.visibility import judge_invocation
from prowess.model.outcome import State
from prowess.model.permission import Action, ApprovalRequest, Decision
from prowess.model.settings import Settings
from prowess.model.skill import Scope, Skill
from prowess.ports import FileSystem
from prowess.profiles.schema.profile import Profile
from prowess.telemetry import observe


class Grant(NamedTuple):
    """What was granted: the skill itself, and with `requests` the tools and hooks it asks for."""

    requests: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


def authorize_skill(
    skill: Skill, services: Services, view: SnapshotView, *, get_digest: Callable[[], str]
) -> Grant:
    """Let a model load a skill. What a user asks for needs no permission.

    What comes from a server is asked about unless a rule of the user allows it. `get_digest` reads
    the text that will be loaded, because an approval covers that text alone. It is called only
    where someone is asked. Raises `Unavailable` and `NotPermitted`.
    """
    profile, manifest = services.profile, skill.declared
    invocation = judge_invocation(
        manifest, name=skill.name, rules=profile.gate, settings=view.settings
    )
    if not invocation.by_model:
        reason = f"`{invocation.model_rule}` reserves it for the user"
        raise Unavailable(skill.name, State.HIDDEN.value, reason)
    request, decision = judge_skill(skill, profile, view.settings, view.rules)
    needs_approval = skill.is_foreign and not _is_allowed_by_user(
        decision, view.settings, view.rules
    )
    if decision.action is Action.ALLOW:
        return Grant()
    # Reading all files of a skill takes long, and only an approval is bound to them.
    digest = ""
    if decision.action is Action.ASK:
        digest = identify_content(skill, request, services.files, get_digest)
    permit = _settle(skill, request, decision, services, digest=digest)
    was_not_asked = permit.by == "nobody" and decision.rule is None
    is_harmless = was_not_asked and not needs_approval
    if is_harmless and profile.permissions.default is Action.ALLOW:
        # Only the tools and hooks in the header needed an approval, not the instructions.
        return Grant(requests=False)
    return Grant(diagnostics=_check(permit, f"use the skill “{skill.name}”"))


def judge_skill(
    skill: Skill, profile: Profile, settings: Settings, rules: AgentRules
) -> tuple[ApprovalRequest, Decision]:
    """What a model has to ask for to load a skill, and what is decided before anyone is asked."""
    request = request_skill(skill.name, skill.declared)
    decision = decide(request, rules, skill.declared)
    is_asked = skill.is_foreign and not _is_allowed_by_user(decision, settings, rules)
    if is_asked and decision.action is Action.ALLOW:
        decision = Decision(Action.ASK, "it comes from a server and has not been approved yet")
    metadata = _describe_requests(skill, profile)
    return msgspec.structs.replace(request, metadata=metadata), decision


def _is_allowed_by_user(decision: Decision, settings: Settings, rules: AgentRules) -> bool:
    """Whether a rule of the user or the program allows a skill, not one of host or project."""
    rule = decision.rule
    if rule is None or decision.action is not Action.ALLOW:
        return False
    file = rule.origin.file
    # The host's own rules come from no file.
    is_users = file is not None and file not in settings.project_files
    return is_users or rule in rules.given


def authorize_commands(
    skill: Skill,
    request: ApprovalRequest,
    services: Services,
    view: SnapshotView,
    *,
    digest: str,
    unconfined: str | None = None,
) -> tuple[Diagnostic, ...]:
    """Let the commands in the body of a trusted skill run, unless a rule is about them.

    A person is asked as well where a model chose an argument and no rule allows the command, where
    nothing on this machine confines programs (`unconfined` says why), and where the user trusts
    only contents that were looked at. `digest` is that of the skill's document. Raises
    `NotPermitted`.
    """
    decision = decide(request, view.rules)
    question = (
        find_unallowed(request, view.rules)
        or _ask_unconfined(unconfined)
        or _ask_about_content(skill, view)
    )
    # A rule that asks or denies is at least as strict as the question.
    has_strict_rule = decision.rule is not None and decision.action is not Action.ALLOW
    if question is not None and not has_strict_rule:
        decision = question
    elif decision.rule is None:
        return ()
    if decision.action is Action.ASK:
        digest = digest_contents(skill, services.files, digest)
    permit = _settle(skill, request, decision, services, digest=digest)
    texts = "`, `".join(request.metadata["commands"])
    return _check(permit, f"run `{texts}` for the skill “{skill.name}”")


def _ask_unconfined(reason: str | None) -> Decision | None:
    if reason is None:
        return None
    return Decision(Action.ASK, f"programs cannot be sandboxed on this machine ({reason})")


def _ask_about_content(skill: Skill, view: SnapshotView) -> Decision | None:
    """The question where trust in a project covers only what was looked at.

    An approval is bound to the skill's files, so it is asked again when one of them changes.
    """
    is_users_own = skill.scope in (Scope.USER, Scope.MANAGED, Scope.BUNDLED)
    if view.own_settings.trust != "content" or is_users_own:
        return None
    return Decision(Action.ASK, '`trust = "content"` requires approval of what runs')


def _describe_requests(skill: Skill, profile: Profile) -> dict[str, Any]:
    """The tools and hooks that the header wants approved, for the person who is asked."""
    heeded, manifest = profile.requests.fields, skill.manifest
    requests: dict[str, Any] = {}
    if manifest.allowed_tools and "allowed-tools" in heeded:
        requests["allowed-tools"] = list(manifest.allowed_tools)
    if manifest.hooks and "hooks" in heeded:
        requests["hooks"] = manifest.hooks
    if not requests:
        return {}
    return {"skill": skill.name, "location": skill.location, **requests}


def identify_content(
    skill: Skill, request: ApprovalRequest, files: FileSystem, get_digest: Callable[[], str]
) -> str:
    """What an approval is bound to: the skill's files, and what its header asks for."""
    if skill.is_computed:
        # Its text may differ at every call, and making it runs code; its declaration does not.
        return _digest_values(msgspec.structs.asdict(skill.manifest))
    digest = digest_contents(skill, files, get_digest())
    return _digest_values([digest, request.metadata]) if request.metadata else digest


def _digest_values(values: Any) -> str:
    import hashlib
    import json

    text = json.dumps(values, default=repr, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _settle(
    skill: Skill, request: ApprovalRequest, decision: Decision, services: Services, *, digest: str
) -> Permit:
    if decision.action is not Action.ASK:
        return _ask(skill, request, decision, services, digest=digest)
    with observe("approve", skill=skill.name, permission=request.permission) as seen:
        permit = _ask(skill, request, decision, services, digest=digest)
        seen.note(granted=permit.granted, by=permit.by)
        return permit


def _ask(
    skill: Skill, request: ApprovalRequest, decision: Decision, services: Services, *, digest: str
) -> Permit:
    try:
        return services.approvals.settle(
            request,
            decision,
            location=skill.location,
            digest=digest,
            approver=services.approver,
        )
    except Exception as error:
        if not _is_plain_error(error):
            raise
        # The approver is somebody else's code. What nobody granted is refused.
        reason = f"the approver failed ({type(error).__name__}: {error})"
        return Permit(granted=False, by="person", reason=reason)


def _is_plain_error(error: Exception) -> bool:
    """Whether an approver failed with one of Python's own errors, or a class derived from them.

    Frameworks derive what suspends a call from `Exception` itself, and it has to reach them.
    """
    if type(error) is Exception:
        return True
    families = (family for family in type(error).__mro__ if family.__module__ == "builtins")
    return next(families) is not Exception


def _check(permit: Permit, what: str) -> tuple[Diagnostic, ...]:
    """What to report about a granted request. Raises `NotPermitted` for a refused one."""
    if not permit.granted:
        raise NotPermitted(what, permit.reason, feedback=permit.feedback)
    if permit.warning is None:
        return ()
    return (diagnose("approval-not-kept", permit.warning),)
