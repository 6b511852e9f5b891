"""What keeps a skill from the model's eyes while it stays loaded: waiting for a file, or hidden."""

from __future__ import annotations

import msgspec

from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules

_EVERYTHING = ("**", "**/*")


def find_dormant(manifest: Manifest, rules: GateRules) -> Note | None:
    """Why a skill waits until a matching file is touched; None where it does not."""
    for field in rules.dormant_by:
        patterns: tuple[str, ...] = getattr(manifest, field)
        if patterns and not any(pattern in _EVERYTHING for pattern in patterns):
            return Note(
                State.DORMANT, f"it waits for a file that matches {', '.join(patterns)}", rule=field
            )
    return None


def find_hidden(
    manifest: Manifest, *, name: str, rules: GateRules, settings: Settings, because: str | None
) -> Note | None:
    """Why the model is not shown a skill; None where it is. A hidden skill can still be asked for
    by name.
    """
    if because is not None:
        return Note(State.HIDDEN, because, rule="description")
    for field in rules.hidden_by:
        if getattr(manifest, field) is True:
            declared = field.replace("_", "-")
            return Note(State.HIDDEN, f"its header says `{declared}: true`", rule=declared)
    if settings.agent_skills is not None and name not in settings.agent_skills:
        reason = "it is not on the list of skills for this agent"
        return Note(
            State.HIDDEN, reason, rule="agent_skills", origin=_find_origin(settings, "agent_skills")
        )
    found = settings.find_override(manifest.skill_key, name) if settings.overrides else None
    if found is not None and found[1].visibility == "user-only":
        rule = f"overrides.{found[0]}.visibility"
        return Note(
            State.HIDDEN,
            "the settings leave it to the user",
            rule=rule,
            origin=_find_origin(settings, rule),
        )
    return None


def _find_origin(settings: Settings, key: str) -> Origin | None:
    origin = settings.origin(key)
    return origin if origin.file is not None else None


class Invocation(msgspec.Struct, frozen=True):
    """Whether the user and the model may start a skill; where one may not, the field or setting
    that says so.
    """

    by_user: bool = True
    by_model: bool = True
    user_rule: str | None = None
    model_rule: str | None = None


def judge_invocation(
    manifest: Manifest, *, name: str, rules: GateRules, settings: Settings
) -> Invocation:
    """Who may start a skill, by its header and by what the user set for it."""
    key, override = settings.find_override(manifest.skill_key, name) or (name, Override())
    if override.is_off:
        rule = f"overrides.{key}.{'enabled' if override.enabled is False else 'visibility'}"
        return Invocation(False, False, rule, rule)
    user_rule = "user-invocable" if manifest.user_invocable is False else None
    model_rule = None
    if manifest.disable_model_invocation is True and "disable_model_invocation" in rules.hidden_by:
        model_rule = "disable-model-invocation"
    elif override.visibility == "user-only":
        model_rule = f"overrides.{key}.visibility"
    return Invocation(user_rule is None, model_rule is None, user_rule, model_rule)
