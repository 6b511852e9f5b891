"""Describe settings: every value with its origin, secrets masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from prowess.model.settings import FEATURES, Origin, Override, Settings
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.settings.read.coercion import BUDGET_NAMES, get_field
from prowess.settings.read.settings_file import get_keys

MASK = "(set)"

_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)

Described = tuple[str, Any, Origin]


def describe_settings(settings: Settings, profile: Profile) -> list[Described]:
    """Every value that the host's files can set, by its dotted name, with its origin.

    A setting that is not set has the value that applies then: the host's own limits and budget, or
    else None or an empty list or table. Names in tables are sorted; rules are in order of reading.
    """
    settable = list_settable(profile)
    described: list[Described] = []
    for name in settings.__struct_fields__:
        if name not in settable:
            continue
        field = _Field(name, settings, profile, settable[name])
        if name in _SHOWN_IF_EMPTY and not field.value:
            described.append((name, field.value, Origin()))
        else:
            describe = _DESCRIBE.get(name, _describe_value)
            described += describe(field)
    return described


class _Field(NamedTuple):
    """A field of `Settings` to describe; `settable` are the names in it that files can set."""

    name: str
    settings: Settings
    profile: Profile
    settable: set[str]

    @property
    def value(self) -> Any:
        return getattr(self.settings, self.name)

    def describe_entries(
        self, entries: Mapping[str, Any], *, below: str = ""
    ) -> Iterator[Described]:
        """The entries of this table, or of one below it, each with its origin."""
        for entry, value in entries.items():
            key = f"{self.name}{below}.{entry}"
            yield key, value, self.settings.origin(key)


def list_settable(profile: Profile) -> dict[str, set[str]]:
    """The fields of `Settings` that the files of a host can set.

    For a table, the names in it that can be set; an empty set means any name.
    """
    names: dict[str, set[str]] = {}
    # Fields that some key sets as a whole, whatever other keys set in them.
    whole: set[str] = set()
    for id in profile.settings_order:
        for setting in get_keys(profile.settings[id]).values():
            field, name = get_field(setting)
            names.setdefault(field, set())
            if name is None:
                whole.add(field)
            else:
                names[field].add(name)
    for field in whole:
        names[field] = set()
    return names


Describe = Callable[[_Field], Iterator[Described]]


def _describe_value(field: _Field) -> Iterator[Described]:
    value = field.value
    is_table = isinstance(value, Mapping) and len(value) > 0
    if is_table:
        yield from field.describe_entries(dict(sorted(value.items())))
    else:
        yield field.name, value, field.settings.origin(field.name)


def _describe_rules(field: _Field) -> Iterator[Described]:
    for rule in field.settings.permissions:
        key = field.name if rule.agent is None else f"agents.{rule.agent}.{field.name}"
        yield key, rule.text, rule.origin


def _describe_hooks(field: _Field) -> Iterator[Described]:
    for hook in field.settings.hooks:
        event = f"{hook.event}({hook.matcher})" if hook.matcher else hook.event
        action = hook.command or hook.kind
        yield field.name, f"{event}: {action}", hook.origin


def _describe_overrides(field: _Field) -> Iterator[Described]:
    overrides = field.settings.overrides
    for name in sorted(overrides):
        parts = dict(_describe_override(overrides[name]))
        yield from field.describe_entries(parts, below=f".{name}")


def _describe_override(override: Override) -> Iterator[tuple[str, Any]]:
    if override.enabled is not None:
        yield "enabled", override.enabled
    if override.visibility is not None:
        yield "visibility", override.visibility
    # Whatever a variable is called, most of those set for a skill are secrets.
    for name in sorted(override.env):
        yield f"env.{name}", MASK
    has_key = override.api_key is not None or override.api_key_from
    if has_key:
        yield "api_key", MASK
    for name in sorted(override.config):
        yield f"config.{name}", _mask(name, override.config[name])


def _describe_agents(field: _Field) -> Iterator[Described]:
    for name, entry in field.settings.agent_entries.items():
        parts = field.describe_entries(msgspec.structs.asdict(entry), below=f".{name}")
        for key, value, origin in parts:
            # Only what was set: the rest is as for every agent.
            if key in field.settings.origins:
                yield key, value, origin


def _describe_sandbox(field: _Field) -> Iterator[Described]:
    values = msgspec.structs.asdict(field.settings.sandbox)
    skills = values.pop("skills")
    yield from field.describe_entries(values)
    for skill in sorted(skills):
        declared = msgspec.structs.asdict(skills[skill])
        given = {name: value for name, value in declared.items() if value not in (None, ())}
        yield from field.describe_entries(given, below=f".skills.{skill}")


def _describe_agent(field: _Field) -> Iterator[Described]:
    agent = field.settings.agent
    plain = ("model", "context_window", "compact_at", "dream_after", "private_hosts")
    yield from field.describe_entries({name: getattr(agent, name) for name in plain})
    yield from field.describe_entries(dict(sorted(agent.models.items())), below=".models")


def _describe_servers(field: _Field) -> Iterator[Described]:
    servers = field.settings.mcp_servers
    for name in sorted(servers):
        server = servers[name]
        target = server.target if server.enabled else f"{server.target} (off)"
        yield f"{field.name}.{name}", target, server.origin


def _describe_features(field: _Field) -> Iterator[Described]:
    features = {name: field.settings.features.get(name, False) for name in FEATURES}
    yield from field.describe_entries(features)


def _describe_network(field: _Field) -> Iterator[Described]:
    yield from field.describe_entries(msgspec.structs.asdict(field.settings.network))


def _describe_jobs(field: _Field) -> Iterator[Described]:
    jobs = msgspec.structs.asdict(field.settings.jobs)
    # The address of a database may have a password in it.
    if jobs["database"] is not None:
        jobs["database"] = MASK
    yield from field.describe_entries(jobs)


# Tables with defaults in the profile, and the names in them.
_DEFAULTS_IN_PROFILE = {"limits": ScanLimits.__struct_fields__, "budget": BUDGET_NAMES}


def _describe_numbers(field: _Field) -> Iterator[Described]:
    given, defaults = field.value, getattr(field.profile, field.name)
    shown = sorted(field.settable) or _DEFAULTS_IN_PROFILE[field.name]
    numbers = {name: given.get(name, getattr(defaults, name)) for name in shown}
    yield from field.describe_entries(numbers)


def _describe_nothing(field: _Field) -> Iterator[Described]:
    yield from ()


_DESCRIBE: dict[str, Describe] = {
    "permissions": _describe_rules,
    "hooks": _describe_hooks,
    "overrides": _describe_overrides,
    "agent_entries": _describe_agents,
    "sandbox": _describe_sandbox,
    "agent": _describe_agent,
    "mcp_servers": _describe_servers,
    "features": _describe_features,
    "network": _describe_network,
    "jobs": _describe_jobs,
    "limits": _describe_numbers,
    "budget": _describe_numbers,
    # What skills can require has a function of its own below.
    "raw": _describe_nothing,
}


# These describe entry by entry, but an empty one is shown as well.
_SHOWN_IF_EMPTY = ("permissions", "hooks", "overrides", "agent_entries", "mcp_servers")


def describe_configuration(settings: Settings, profile: Profile) -> dict[tuple[str, ...], Any]:
    """The fields of the host's configuration that skills can require, by their path.

    Of a host's own file only numbers and booleans are shown, because any string may be a secret.
    Empty if the host's skills can't require settings.
    """
    if "config" not in profile.gate.checks:
        return {}
    defaults = profile.gate.config_defaults
    described: dict[tuple[str, ...], Any] = {
        tuple(key.split(".")): value for key, value in defaults.items()
    }
    files = [profile.settings[id] for id in profile.settings_order]
    # What is mapped to a setting is described as that setting.
    mapped: set[str] = set()
    for file in files:
        mapped.update(key.partition(".")[0] for key in file.keys)
    has_own_file = any(file.is_own for file in files)
    mask = _mask if has_own_file else _mask_string
    for path, value in _list_leaves((), settings.raw):
        if path[0] not in mapped:
            described[path] = mask(path[-1], value)
    return dict(sorted(described.items()))


def _mask_string(name: str, value: Any) -> Any:
    return MASK if isinstance(value, str) else _mask(name, value)


def _list_leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    # An empty table is a leaf: it counts as set.
    has_more_below = isinstance(value, Mapping) and len(value) > 0
    if has_more_below:
        for name, child in value.items():
            yield from _list_leaves((*path, str(name)), child)
    elif path:
        yield path, value


def _mask(name: str, value: Any) -> Any:
    """A value of any shape, with everything that is named like a secret masked."""
    if _SECRET_NAME.search(name):
        return MASK
    if isinstance(value, Mapping):
        return {key: _mask(key, child) for key, child in value.items()}
    if isinstance(value, list):
        # An item has no name of its own, but the keys of a table in it have.
        return [_mask("", child) for child in value]
    return value
