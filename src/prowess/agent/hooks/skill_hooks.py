"""The hooks in the headers of skills: which may run, and which are there again after a resume."""

from __future__ import annotations

from collections.abc import Iterator

from prowess.activate.skill_requests import read_requests
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
    found = [one for one in conversation.snapshot.skills if one.name == name]
    return bool(found) and all(one.scope in OWN_SCOPES for one in found)


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
    folder = None if skill is None else skill.folder
    return list_hooks(requests.hooks, source="skill", name=name, root=folder)


def restore_hooks(conversation: Conversation, skills: Skills) -> Iterator[Hook]:
    """The hooks of the skills that a session that goes on has loaded.

    Only of those that the user typed: what a model loaded may have been loaded without its hooks.
    """
    trust = skills.project.open_trust()
    for entry in conversation.ledger.loaded:
        skill = _find_skill(entry.name, conversation)
        if skill is None or entry.by != "user":
            continue
        is_trusted = trust.is_trusted(skill)
        if may_hook(entry.name, conversation, skills, is_trusted=is_trusted):
            requests, _ = read_requests(skill.manifest, skills.profile.requests)
            yield from list_skill_hooks(entry.name, requests, conversation)


def _find_skill(name: str, conversation: Conversation) -> Skill | None:
    return next((one for one in conversation.snapshot.skills if one.name == name), None)
