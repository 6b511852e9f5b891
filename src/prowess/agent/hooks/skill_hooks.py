"""The hooks in the headers of skills: which may run, and which are there again after a resume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from prowess.activate.ledger import digest_parts
from prowess.activate.skill_requests import read_requests
from prowess.agent.events import Warned
from prowess.conversation.conversation import Conversation
from prowess.model.activation import SkillRequests
from prowess.model.hooks import Hook
from prowess.model.skill import Scope, Skill
from prowess.runtime import Skills
from prowess.text.hooks import list_hooks

# Skills that no project or server can add.
OWN_SCOPES = frozenset((Scope.USER, Scope.MANAGED, Scope.BUNDLED))


def is_own(name: str, conversation: Conversation) -> bool:
    """Whether every skill of a name is the user's own."""
    # Some hosts let several files keep one name; one of a project would be enough.
    scopes = {skill.scope for skill in conversation.snapshot.skills if skill.name == name}
    return bool(scopes) and scopes <= OWN_SCOPES


def may_hook(name: str, conversation: Conversation, skills: Skills, *, is_trusted: bool) -> bool:
    """Whether the hooks of a skill may run. Trust in contents covers no commands of a project."""
    if not is_trusted:
        return False
    covers_projects = skills.project.load_own_settings().trust != "content"
    return covers_projects or is_own(name, conversation)


def list_skill_hooks(
    name: str, requests: SkillRequests, conversation: Conversation
) -> tuple[Hook, ...]:
    """The hooks that a skill asks for."""
    if not requests.hooks:
        return ()
    skill = _find_skill(name, conversation)
    if skill is None:
        return list_hooks(requests.hooks, name=name)
    return list_hooks(requests.hooks, name=name, root=skill.folder, file=skill.file)


class RestoredHooks(NamedTuple):
    """The hooks that a session goes on with, and what to say about those that it lost.

    `digests` are those of the skills whose hooks it goes on with.
    """

    hooks: tuple[Hook, ...]
    digests: Mapping[str, str]
    warnings: tuple[Warned, ...] = ()


def restore_hooks(
    kept: Mapping[str, str], conversation: Conversation, skills: Skills
) -> RestoredHooks:
    """The hooks of skills that applied when a session ended, by the digest of each skill's hooks.

    They must still be trusted, and be what was granted then.
    """
    hooks: list[Hook] = []
    digests: dict[str, str] = {}
    warnings: list[Warned] = []
    for name, digest in kept.items():
        requests = _read_requests(name, conversation, skills)
        refusal = _find_refusal(name, requests, digest, conversation, skills)
        if refusal is None:
            hooks += list_skill_hooks(name, requests, conversation)
            digests[name] = digest
            continue
        code, reason = refusal
        said = f"The hooks of the skill “{name}” do not run, because {reason}."
        warnings.append(Warned(code=code, message=said))
    return RestoredHooks(tuple(hooks), digests, tuple(warnings))


def digest_hooks(requests: SkillRequests) -> str:
    """The same text for the same hooks."""
    return digest_parts(msgspec.json.encode(requests.hooks, order="deterministic").decode())


def _find_refusal(
    name: str,
    requests: SkillRequests,
    digest: str,
    conversation: Conversation,
    skills: Skills,
) -> tuple[str, str] | None:
    """The code and the reason why hooks do not apply any more; None if they do."""
    skill = _find_skill(name, conversation)
    if skill is None:
        return "hooks-changed", "it is gone"
    is_trusted = skills.project.open_trust().is_trusted(skill)
    if not may_hook(name, conversation, skills, is_trusted=is_trusted):
        return "hooks-untrusted", "it is not trusted"
    if digest_hooks(requests) != digest:
        return "hooks-changed", "they have changed since it was loaded; load it again"
    return None


def _read_requests(name: str, conversation: Conversation, skills: Skills) -> SkillRequests:
    skill = _find_skill(name, conversation)
    if skill is None:
        return SkillRequests()
    return read_requests(skill.manifest, skills.profile.requests)[0]


def _find_skill(name: str, conversation: Conversation) -> Skill | None:
    return next((one for one in conversation.snapshot.skills if one.name == name), None)
