"""What settings and switches disable, as a table of filters by the word in the profile.

A filter returns why it disables a claim, or None. The profile gives their order; the first that
applies is the reason, and each names the setting that decided.
"""

from __future__ import annotations

from collections.abc import Callable

from prowess.model.origin import Origin
from prowess.model.outcome import Claim, Note, State
from prowess.model.settings import Settings
from prowess.model.skill import Root
from prowess.profiles.schema.resolution import GateRules, ResolutionRules

Disabled = tuple[str, str, Origin]
"""Why a claim is disabled, the setting that decided, and where it is set."""

Filter = Callable[[Claim, Settings], Disabled | None]


def _all_disabled(claim: Claim, settings: Settings) -> Disabled | None:
    if settings.enabled:
        return None
    return "all skills are switched off", "enabled", settings.origin("enabled")


def _disabled_extension(claim: Claim, settings: Settings) -> Disabled | None:
    entry = f"skill:{claim.name}"
    if entry not in settings.disabled_extensions:
        return None
    origin = settings.entry_origin("disabled_extensions", entry)
    return f"it is listed as `{entry}`", "disabled_extensions", origin


def _disabled_any_case(claim: Claim, settings: Settings) -> Disabled | None:
    wanted = f"skill:{claim.name}".lower()
    for entry in settings.disabled_extensions:
        if entry.lower() == wanted:
            origin = settings.entry_origin("disabled_extensions", entry)
            name = entry.removeprefix("skill:")
            return f"it is listed as disabled (`{name}`)", "disabled_extensions", origin
    return None


def _disabled_by_default(claim: Claim, settings: Settings) -> Disabled | None:
    name = claim.name.lower()
    if any(entry.lower() == name for entry in settings.enabled_names):
        return None
    for entry in settings.default_disabled:
        if entry.lower() == name:
            origin = settings.entry_origin("default_disabled", entry)
            return f"it is disabled by default (`{entry}`)", "default_disabled", origin
    return None


def _disabled_level(claim: Claim, settings: Settings) -> Disabled | None:
    level = claim.candidate.root.source.level
    if level not in settings.disabled_levels:
        return None
    origin = settings.entry_origin("disabled_levels", level)
    return f"all skills of the level `{level}` are disabled", "disabled_levels", origin


def _toggle(claim: Claim, settings: Settings) -> Disabled | None:
    root = claim.candidate.root
    if root.disabled_by is not None:
        return _describe_switch(root.disabled_by, settings)
    provider = root.source.provider
    if provider not in settings.disabled_providers:
        return None
    origin = settings.entry_origin("disabled_providers", provider)
    return f"the provider {provider} is disabled", "disabled_providers", origin


def _describe_switch(switch: str, settings: Settings) -> Disabled:
    """What switched a root off: the name of one switch, or a clause about several."""
    if " " not in switch:
        origin = settings.origin(f"toggles.{switch}")
        return f"its source is switched off by {switch}", switch, origin
    reason = f"its source is switched off because {switch}"
    if "toggle" not in switch:
        return reason, switch, Origin()
    # Several toggles are off together; any that somebody wrote shows where to turn one on.
    for name in settings.toggles:
        origin = settings.origin(f"toggles.{name}")
        if origin.file is not None:
            return reason, switch, origin
    return reason, switch, Origin()


def _ignored(claim: Claim, settings: Settings) -> Disabled | None:
    from prowess.text.globs import find_match

    pattern = find_match(claim.name, settings.ignored)
    if pattern is None:
        return None
    origin = settings.entry_origin("ignored", pattern)
    return f"its name matches the ignored pattern `{pattern}`", "ignored", origin


def _not_included(claim: Claim, settings: Settings) -> Disabled | None:
    from prowess.text.globs import find_match

    if not settings.included or find_match(claim.name, settings.included) is not None:
        return None
    origin = settings.origin("included")
    return "its name matches no pattern in the include list", "included", origin


def _override(claim: Claim, settings: Settings) -> Disabled | None:
    # Some hosts name the file or its folder here, not the skill.
    for names in ((claim.key, claim.name), (claim.candidate.location, claim.candidate.folder)):
        found = settings.find_override(*names)
        if found is None:
            continue
        name, override = found
        if override.is_off:
            key = f"overrides.{name}"
            field = "enabled" if override.enabled is False else "visibility"
            return "it is switched off in the settings", key, settings.origin(f"{key}.{field}")
    return None


def _last_override(claim: Claim, settings: Settings) -> Disabled | None:
    # Codex goes through its list in order, by name or by file, and the last match decides.
    names = (claim.name, claim.candidate.location)
    matching = [name for name in settings.overrides if name in names]
    if not matching:
        return None
    last = matching[-1]
    if not settings.overrides[last].is_off:
        return None
    key = f"overrides.{last}"
    return "it is switched off in the settings", key, settings.origin(f"{key}.enabled")


def _not_on_bundled_list(claim: Claim, settings: Settings) -> Disabled | None:
    allowed = settings.allowed_bundled
    # Empty entries don't count, and without others everything is allowed.
    if not any(allowed) or not claim.is_bundled:
        return None
    if claim.name in allowed or claim.key in allowed:
        return None
    origin = settings.origin("allowed_bundled")
    return "it is bundled, and not on the list of allowed bundled skills", "allowed_bundled", origin


def _left_out_of_list(claim: Claim, settings: Settings) -> Disabled | None:
    from prowess.resolve.path_filters import find_filter

    root = claim.candidate.root
    paths = settings.skill_paths[root.path_list]
    found = find_filter(claim.candidate.location, root.path, paths)
    if found is None:
        return None
    origin = settings.origin(f"skill_paths.{root.path_list}")
    return f"the settings leave it out (`{found}`)", "skill_paths", origin


FILTERS: dict[str, Filter] = {
    "enabled": _all_disabled,
    "disabled-extension": _disabled_extension,
    "disabled-any-case": _disabled_any_case,
    "disabled-by-default": _disabled_by_default,
    "disabled-level": _disabled_level,
    "toggle": _toggle,
    "ignored": _ignored,
    "included": _not_included,
    "override": _override,
    "last-override": _last_override,
    "bundled-allow-list": _not_on_bundled_list,
    "path-list": _left_out_of_list,
}


def choose_filters(rules: ResolutionRules, settings: Settings, root: Root) -> tuple[Filter, ...]:
    """The filters that can disable anything in a root under these settings, in the profile's order.

    Most users set nothing, and then a scan of thousands of skills calls no filter at all.
    """
    provider_is_on = root.source.provider not in settings.disabled_providers
    idle = {
        "enabled": settings.enabled,
        "disabled-extension": not settings.disabled_extensions,
        "disabled-any-case": not settings.disabled_extensions,
        "disabled-by-default": not settings.default_disabled,
        "disabled-level": not settings.disabled_levels,
        "toggle": root.disabled_by is None and provider_is_on,
        "ignored": not settings.ignored,
        "included": not settings.included,
        "override": not settings.overrides,
        "last-override": not settings.overrides,
        "bundled-allow-list": not settings.allowed_bundled,
        "path-list": root.path_list not in settings.skill_paths,
    }
    return tuple(FILTERS[word] for word in rules.filter_order if not idle[word])


def find_disabled(
    claim: Claim, filters: tuple[Filter, ...], settings: Settings, gate: GateRules
) -> Note | None:
    """Why a claim is disabled: its author said so, or the first filter that applies."""
    skill = claim.skill
    # Only some hosts know the field, and only `false` counts: without it a skill is enabled.
    says_disabled = skill is not None and skill.declared.enabled is False
    if says_disabled and gate.disabled_by_enabled:
        return Note(State.DISABLED, "its header says `enabled: false`", rule="enabled")
    for apply in filters:
        found = apply(claim, settings)
        if found is not None:
            reason, rule, origin = found
            written = origin if origin.file is not None else None
            return Note(State.DISABLED, reason, rule=rule, origin=written)
    return None
