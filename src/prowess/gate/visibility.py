"""Who may see and start a skill: what waits for a file, what is hidden, what only one may start."""

from __future__ import annotations

import msgspec

from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules
from prowess.text.path_conditions import are_conditions


class Invocation(msgspec.Struct, frozen=True):
    """Whether the user and the model may start a skill; the rule is the field that forbids it."""

    by_user: bool = True
    by_model: bool = True
    user_rule: str | None = None
    model_rule: str | None = None


def judge_invocation(
    manifest: Manifest, *, name: str, rules: GateRules, settings: Settings
) -> Invocation:
    """Who may start a skill, by its header and by the user's settings for it."""
    key, override = settings.find_override(manifest.skill_key, name) or (name, Override())
    if override.is_off:
        field = "enabled" if override.enabled is False else "visibility"
        rule = f"overrides.{key}.{field}"
        return Invocation(False, False, rule, rule)
    user_rule = "user-invocable" if manifest.user_invocable is False else None
    model_rule = None
    # Codex and opencode do not know the field, so there it forbids nothing.
    is_field_known = "disable_model_invocation" in rules.hidden_by
    if is_field_known and manifest.disable_model_invocation is True:
        model_rule = "disable-model-invocation"
    elif override.visibility == "user-only":
        model_rule = f"overrides.{key}.visibility"
    return Invocation(user_rule is None, model_rule is None, user_rule, model_rule)


def find_dormant(manifest: Manifest, rules: GateRules) -> Note | None:
    """Why a skill waits until a matching file is touched; None if it does not."""
    for field in rules.dormant_by:
        patterns: tuple[str, ...] = getattr(manifest, field)
        if are_conditions(patterns, rules.unconditional):
            reason = f"it waits for a file that matches {', '.join(patterns)}"
            return Note(State.DORMANT, reason, rule=field)
    return None


def find_hidden(
    manifest: Manifest, *, name: str, rules: GateRules, settings: Settings, because: str | None
) -> Note | None:
    """Why the model is not shown a skill; None if it is. A hidden skill can still be named."""
    if because is not None:
        return Note(State.HIDDEN, because, rule="description")
    for field in rules.hidden_by:
        if getattr(manifest, field) is True:
            declared = field.replace("_", "-")
            return Note(State.HIDDEN, f"its header says `{declared}: true`", rule=declared)
    # Looking up an override costs more than the rest; most users have none.
    if not settings.overrides:
        return None
    found = settings.find_override(manifest.skill_key, name)
    if found is None:
        return None
    key, override = found
    if override.visibility != "user-only":
        return None
    return _hide_by_setting(
        settings, f"overrides.{key}.visibility", "the settings reserve it for the user"
    )


def find_unlisted(name: str, settings: Settings) -> Note | None:
    """Why a skill is not for this agent; None if it is, or if there is no list of its skills."""
    if settings.agent_skills is None or name in settings.agent_skills:
        return None
    return _hide_by_setting(
        settings, "agent_skills", "it is not in the list of skills for this agent"
    )


def _hide_by_setting(settings: Settings, key: str, reason: str) -> Note:
    origin: Origin = settings.origin(key)
    # A default has no place to show to the user.
    shown = None if origin.file is None else origin
    return Note(State.HIDDEN, reason, rule=key, origin=shown)
