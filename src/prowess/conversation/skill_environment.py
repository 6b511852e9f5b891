"""The variables that only one skill's programs and tools get, if the user trusts the skill."""

from __future__ import annotations

from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.diagnostics import diagnose
from prowess.model.settings import Settings
from prowess.model.skill import Skill
from prowess.shell.environment import SkillEnvironment, build_environment


def find_environment(skill: Skill, services: Services, view: SnapshotView) -> SkillEnvironment:
    """The variables of a skill; none for one that is not trusted.

    A skill's author chooses its name and the variables it asks for, and so could ask for those of
    another skill.
    """
    if not services.trust.is_trusted(skill):
        return _refuse_environment(skill, view.settings)
    return build_environment(
        skill.name,
        skill.manifest,
        view.settings,
        outside=services.facts.env,
        trusts_project=view.is_trusted(view.settings),
        secrets=services.secrets,
    )


def _refuse_environment(skill: Skill, settings: Settings) -> SkillEnvironment:
    """No variables, and a diagnostic where the skill would have got some."""
    manifest = skill.manifest
    found = settings.find_override(manifest.skill_key, skill.name)
    override = found[1] if found is not None else None
    has_values = override is not None and (
        override.env or override.api_key or override.api_key_from
    )
    if not (has_values or manifest.primary_env or manifest.requires.env):
        return SkillEnvironment()
    message = f"The skill “{skill.name}” gets no variables, because its project is not trusted."
    return SkillEnvironment(
        diagnostics=(diagnose("environment-refused", message, file=skill.file),)
    )
