"""What settings and switches take out, as a table of rules by the word in the profile.

Each rule says why it disables a claim, or None. The profile gives their order; the first that speaks is the
reason, and each names the setting that decided.
"""

from __future__ import annotations

from collections.abc import Callable

from prowess.model.outcome import Note, State
from prowess.model.settings import Settings
from prowess.profiles.schema import Gate, Resolution
from prowess.resolve.claims import Claim

Filter = Callable[[Claim, Settings], tuple[str, str] | None]


def _all_disabled(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    return None if settings.enabled else ("skills are switched off altogether", "enabled")


def _disabled_extension(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    entry = f"skill:{claim.name}"
    if entry in settings.disabled_extensions:
        return f"it is listed as `{entry}`", "disabled_extensions"
    return None


def _toggle(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    root = claim.candidate.root
    if root.disabled_by is not None:
        return f"its source is switched off by {root.disabled_by}", root.disabled_by
    if root.source.provider in settings.disabled_providers:
        return f"the provider {root.source.provider} is disabled", "disabled_providers"
    return None


def _ignored(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    from prowess.resolve.globs import matches_any

    pattern = matches_any(claim.name, settings.ignored)
    return (f"its name matches the ignored pattern `{pattern}`", "ignored") if pattern is not None else None


def _not_included(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    from prowess.resolve.globs import matches_any

    if not settings.included or matches_any(claim.name, settings.included) is not None:
        return None
    return "its name matches no pattern of the include list", "included"


def _override(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    found = settings.find_override(claim.key, claim.name)
    if found is None or not found[1].is_off:
        return None
    return "it is switched off in the settings", f"overrides.{found[0]}"


def _not_on_bundled_list(claim: Claim, settings: Settings) -> tuple[str, str] | None:
    allowed = settings.allowed_bundled
    if not allowed or not claim.is_bundled or claim.name in allowed or claim.key in allowed:
        return None
    return "it is bundled and not on the list of allowed ones", "allowed_bundled"


FILTERS: dict[str, Filter] = {
    "enabled": _all_disabled,
    "disabled-extension": _disabled_extension,
    "toggle": _toggle,
    "ignored": _ignored,
    "included": _not_included,
    "override": _override,
    "bundled-allow-list": _not_on_bundled_list,
}


def choose_filters(rules: Resolution, settings: Settings) -> tuple[Filter, ...]:
    """The filters that can speak at all under these settings, in the profile's order."""
    idle = {
        "enabled": settings.enabled,
        "disabled-extension": not settings.disabled_extensions,
        "ignored": not settings.ignored,
        "included": not settings.included,
        "override": not settings.overrides,
        "bundled-allow-list": not settings.allowed_bundled,
    }
    return tuple(FILTERS[word] for word in rules.filter_order if not idle.get(word, False))


def find_disabled(claim: Claim, filters: tuple[Filter, ...], settings: Settings, gate: Gate) -> Note | None:
    """Why a claim is disabled: its author said so, or the first filter that speaks; None where nothing does."""
    if claim.manifest.enabled is False and gate.disabled_by_enabled:
        return Note(State.DISABLED, "its header says `enabled: false`", rule="enabled")
    for speak in filters:
        found = speak(claim, settings)
        if found is not None:
            return Note(State.DISABLED, found[0], rule=found[1])
    return None
