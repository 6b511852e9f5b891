"""Every setting with the place it came from, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prowess.model.permission import Rule
from prowess.model.settings import Origin, Override, Settings

MASK = "(set)"

# Rules have lines of their own; the rest is no setting: the host's whole configuration, where things came from.
_LEFT_OUT = frozenset({"permissions", "raw", "origins", "files", "project_files", "diagnostics"})
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def describe_settings(settings: Settings) -> list[tuple[str, Any, Origin]]:
    """Every value by its dotted name, with its origin; fields in their order, names sorted, secrets masked.

    What has no value is left out. The rules come last, in the order of reading.
    """
    described = [
        (key, value, settings.origin(key))
        for field in settings.__struct_fields__
        if field not in _LEFT_OUT
        for key, value in _describe_field(field, getattr(settings, field))
    ]
    return [*described, *((_rule_key(rule), rule.text, rule.origin) for rule in settings.permissions)]


def _rule_key(rule: Rule) -> str:
    return "permissions" if rule.agent is None else f"agents.{rule.agent}.permissions"


def _describe_field(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    if field == "overrides":
        for name in sorted(value):
            yield from _describe_override(f"{field}.{name}", value[name])
    elif isinstance(value, Mapping):
        yield from ((f"{field}.{name}", value[name]) for name in sorted(value))
    elif value is not None:
        yield field, value


def _describe_override(prefix: str, override: Override) -> Iterator[tuple[str, Any]]:
    if override.enabled is not None:
        yield f"{prefix}.enabled", override.enabled
    if override.visibility is not None:
        yield f"{prefix}.visibility", override.visibility
    yield from ((f"{prefix}.env.{name}", MASK) for name in sorted(override.env))
    if override.api_key is not None or override.api_key_from:
        yield f"{prefix}.api_key", MASK
    yield from ((f"{prefix}.config.{name}", _mask(name, override.config[name])) for name in sorted(override.config))


def _mask(name: str, value: Any) -> Any:
    """A free-form value of a skill; what is named like a secret is taken for one."""
    if _SECRET_NAME.search(name):
        return MASK
    if isinstance(value, Mapping):
        return {key: _mask(key, child) for key, child in value.items()}
    return [_mask("", child) for child in value] if isinstance(value, list) else value
