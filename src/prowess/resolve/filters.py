"""What settings and switches take out, as a table of rules by the word in the profile.

Each rule says why it disables a claim, or None. The profile gives their order; the first that
speaks is the reason, and each names the setting that decided.
"""

from __future__ import annotations

from collections.abc import Callable

from prowess.model.origin import Origin
from prowess.model.outcome import Claim, Note, State
from prowess.model.settings import Settings
from prowess.profiles.schema.resolution import GateRules, ResolutionRules

Speech = tuple[str, str, Origin]
"""Why a claim is disabled, the setting that says so, and where it says so."""

Filter = Callable[[Claim, Settings], Speech | None]


def _all_disabled(claim: Claim, settings: Settings) -> Speech | None:
    return (
        None
        if settings.enabled
        else ("skills are switched off altogether", "enabled", settings.origin("enabled"))
    )


def _disabled_extension(claim: Claim, settings: Settings) -> Speech | None:
    entry = f"skill:{claim.name}"
    if entry in settings.disabled_extensions:
        return (
            f"it is listed as `{entry}`",
            "disabled_extensions",
            settings.entry_origin("disabled_extensions", entry),
        )
    return None


def _toggle(claim: Claim, settings: Settings) -> Speech | None:
    root = claim.candidate.root
    if root.disabled_by is not None:
        return _switched_off(root.disabled_by, settings)
    provider = root.source.provider
    if provider in settings.disabled_providers:
        origin = settings.entry_origin("disabled_providers", provider)
        return f"the provider {provider} is disabled", "disabled_providers", origin
    return None


def _switched_off(off: str, settings: Settings) -> Speech:
    """What a root is off by: the name of a switch, or a clause that says so of several."""
    if " " not in off:
        return f"its source is switched off by {off}", off, settings.origin(f"toggles.{off}")
    first_set = (settings.origin(f"toggles.{name}") for name in settings.toggles)
    at = (
        next((origin for origin in first_set if origin.file is not None), Origin())
        if "toggle" in off
        else Origin()
    )
    return f"its source is switched off, since {off}", off, at


def _ignored(claim: Claim, settings: Settings) -> Speech | None:
    from prowess.text.globs import find_match

    pattern = find_match(claim.name, settings.ignored)
    if pattern is None:
        return None
    return (
        f"its name matches the ignored pattern `{pattern}`",
        "ignored",
        settings.entry_origin("ignored", pattern),
    )


def _not_included(claim: Claim, settings: Settings) -> Speech | None:
    from prowess.text.globs import find_match

    if not settings.included or find_match(claim.name, settings.included) is not None:
        return None
    return (
        "its name matches no pattern of the include list",
        "included",
        settings.origin("included"),
    )


def _override(claim: Claim, settings: Settings) -> Speech | None:
    # Some hosts switch by the file or its folder.
    for names in ((claim.key, claim.name), (claim.candidate.location, claim.candidate.folder)):
        found = settings.find_override(*names)
        if found is not None and found[1].is_off:
            key = f"overrides.{found[0]}"
            field = "enabled" if found[1].enabled is False else "visibility"
            return "it is switched off in the settings", key, settings.origin(f"{key}.{field}")
    return None


def _not_on_bundled_list(claim: Claim, settings: Settings) -> Speech | None:
    allowed = settings.allowed_bundled
    if not allowed or not claim.is_bundled or claim.name in allowed or claim.key in allowed:
        return None
    origin = settings.origin("allowed_bundled")
    return "it is bundled and not on the list of allowed ones", "allowed_bundled", origin


FILTERS: dict[str, Filter] = {
    "enabled": _all_disabled,
    "disabled-extension": _disabled_extension,
    "toggle": _toggle,
    "ignored": _ignored,
    "included": _not_included,
    "override": _override,
    "bundled-allow-list": _not_on_bundled_list,
}


def choose_filters(rules: ResolutionRules, settings: Settings) -> tuple[Filter, ...]:
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


def find_disabled(
    claim: Claim, filters: tuple[Filter, ...], settings: Settings, gate: GateRules
) -> Note | None:
    """Why a claim is disabled: its author said so, or the first filter that speaks; None where
    nothing does.
    """
    says_off = claim.skill is not None and claim.skill.declared.enabled is False
    if says_off and gate.disabled_by_enabled:
        return Note(State.DISABLED, "its header says `enabled: false`", rule="enabled")
    for speak in filters:
        found = speak(claim, settings)
        if found is not None:
            reason, rule, origin = found
            return Note(
                State.DISABLED,
                reason,
                rule=rule,
                origin=origin if origin.file is not None else None,
            )
    return None
