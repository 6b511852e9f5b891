"""What keeps a skill from the model's eyes while it stays loaded: waiting for a file, or hidden."""

from __future__ import annotations

from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.profile import Gate

_EVERYTHING = ("**", "**/*")


def find_dormant(manifest: Manifest, rules: Gate) -> Note | None:
    """Why a skill waits until a matching file is touched; None where it does not."""
    for field in rules.dormant_by:
        patterns: tuple[str, ...] = getattr(manifest, field)
        if patterns and not any(pattern in _EVERYTHING for pattern in patterns):
            return Note(
                State.DORMANT, f"it waits for a file that matches {', '.join(patterns)}", rule=field
            )
    return None


def find_hidden(
    manifest: Manifest, *, name: str, rules: Gate, settings: Settings, because: str | None
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
