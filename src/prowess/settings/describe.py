"""Every setting with the place it came from, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from prowess.model.settings import Origin, Override, Settings
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import Limits
from prowess.settings.read.coercion import BUDGET_NAMES, find_field
from prowess.settings.read.file_mapping import OWN_KEYS

MASK = "(set)"

_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)

Described = tuple[str, Any, Origin]


def describe_settings(settings: Settings, profile: Profile) -> list[Described]:
    """Every value that the host's files can set, by its dotted name, with its origin; secrets
    masked.

    What nobody set has the value that holds then: the host's own limits and budget, nothing (None)
    or an empty list or table. Fields come in their order, names sorted, rules in the order of
    reading.
    """
    reads = list_read(profile)
    return [
        described
        for field in settings.__struct_fields__
        if field in reads
        for described in _describe_field(field, settings, profile, reads[field])
    ]


def list_read(profile: Profile) -> dict[str, set[str]]:
    """The fields of `Settings` that the files of a host can set; for each table the names in it,
    none means any.
    """
    named: dict[str, set[str]] = {}
    whole: set[str] = set()
    for id in profile.settings_order:
        rule = profile.settings[id]
        for setting in (rule.keys or (OWN_KEYS if rule.refuse_unknown else {})).values():
            field, name = find_field(setting)
            names = named.setdefault(field, set())
            names.update(() if name is None else (name,))
            if name is None:
                whole.add(field)
    return {field: set() if field in whole else names for field, names in named.items()}


def _describe_field(
    field: str, settings: Settings, profile: Profile, names: set[str]
) -> Iterator[Described]:
    if field == "permissions":
        yield from _describe_rules(settings)
    elif field == "overrides":
        for name in sorted(settings.overrides):
            for key, value in _describe_override(f"{field}.{name}", settings.overrides[name]):
                yield key, value, settings.origin(key)
        if not settings.overrides:
            yield field, {}, Origin()
    elif field == "sandbox":
        yield from _describe_sandbox(settings)
    elif field in _HOSTS_OWN:
        held = getattr(settings, field)
        for name in sorted(names) or _HOSTS_OWN[field]:
            key = f"{field}.{name}"
            yield key, held.get(name, getattr(getattr(profile, field), name)), settings.origin(key)
    elif field != "raw":
        yield from _describe_value(field, settings)


# Tables whose values are the host's own where nobody sets them, and the names in them.
_HOSTS_OWN = {"limits": Limits.__struct_fields__, "budget": BUDGET_NAMES}


def _describe_value(field: str, settings: Settings) -> Iterator[Described]:
    value = getattr(settings, field)
    if not isinstance(value, Mapping) or not value:
        yield field, value, settings.origin(field)
        return
    yield from (
        (f"{field}.{name}", value[name], settings.origin(f"{field}.{name}"))
        for name in sorted(value)
    )


def _describe_sandbox(settings: Settings) -> Iterator[Described]:
    fields = msgspec.structs.asdict(settings.sandbox)
    skills = fields.pop("skills")
    for name, value in fields.items():
        yield f"sandbox.{name}", value, settings.origin(f"sandbox.{name}")
    for skill in sorted(skills):
        for name, value in msgspec.structs.asdict(skills[skill]).items():
            key = f"sandbox.skills.{skill}.{name}"
            if value not in (None, ()):
                yield key, value, settings.origin(key)


def _describe_rules(settings: Settings) -> Iterator[Described]:
    if not settings.permissions:
        yield "permissions", (), Origin()
    for rule in settings.permissions:
        key = "permissions" if rule.agent is None else f"agents.{rule.agent}.permissions"
        yield key, rule.text, rule.origin


def describe_configuration(settings: Settings, profile: Profile) -> dict[tuple[str, ...], Any]:
    """What skills can require as a setting, by its path: what the files hold and what the host
    takes for granted.

    Of a host's own configuration only numbers and truth values are shown: any text may be a secret.
    Empty where the host's skills cannot require a setting.
    """
    if "config" not in profile.gate.checks:
        return {}
    defaults = {
        tuple(path.split(".")): value for path, value in profile.gate.config_defaults.items()
    }
    is_own = any(profile.settings[id].is_own for id in profile.settings_order)
    mapped = {
        key.partition(".")[0] for id in profile.settings_order for key in profile.settings[id].keys
    }
    held = {
        path: _mask(path[-1], value) if is_own or not isinstance(value, str) else MASK
        for path, value in _list_leaves((), settings.raw)
        if path[0] not in mapped
    }
    return dict(sorted({**defaults, **held}.items()))


def _list_leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and value:
        for name, child in value.items():
            yield from _list_leaves((*path, str(name)), child)
    elif path:
        yield path, value


def _describe_override(prefix: str, override: Override) -> Iterator[tuple[str, Any]]:
    if override.enabled is not None:
        yield f"{prefix}.enabled", override.enabled
    if override.visibility is not None:
        yield f"{prefix}.visibility", override.visibility
    yield from ((f"{prefix}.env.{name}", MASK) for name in sorted(override.env))
    if override.api_key is not None or override.api_key_from:
        yield f"{prefix}.api_key", MASK
    yield from (
        (f"{prefix}.config.{name}", _mask(name, override.config[name]))
        for name in sorted(override.config)
    )


def _mask(name: str, value: Any) -> Any:
    """A free-form value of a skill; what is named like a secret is taken for one."""
    if _SECRET_NAME.search(name):
        return MASK
    if isinstance(value, Mapping):
        return {key: _mask(key, child) for key, child in value.items()}
    return [_mask("", child) for child in value] if isinstance(value, list) else value
