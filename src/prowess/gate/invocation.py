"""Who may start a skill: the user by typing it, the model by itself. What is only hidden can still
be asked for.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.profile import Gate


class Invocation(msgspec.Struct, frozen=True):
    """Whether the user and the model may start a skill; where one may not, the field or setting
    that says so.
    """

    by_user: bool = True
    by_model: bool = True
    user_rule: str | None = None
    model_rule: str | None = None


def judge_invocation(
    manifest: Manifest, *, name: str, rules: Gate, settings: Settings
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


def find_unavailable(is_enabled: Callable[[], bool] | None) -> Note | None:
    """Why a skill that is defined in code is not there now; None where it is. It is asked anew
    every time.

    A check that fails counts as a no: it must not take the other skills down with it.
    """
    if is_enabled is None:
        return None
    try:
        available = is_enabled()
    except Exception as error:
        return Note(
            State.DISABLED,
            f"its own check failed ({type(error).__name__}: {error})",
            rule="is_enabled",
        )
    return (
        None
        if available
        else Note(State.DISABLED, "its own check says that it is not available", rule="is_enabled")
    )
