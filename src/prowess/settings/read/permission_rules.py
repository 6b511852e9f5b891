"""Read permission rules from settings files. Unlike other settings, rules of all files add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from prowess.model.permission import Action, Rule
from prowess.settings.formats.document import SettingValue
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import (
    ACTIONS,
    Path,
    RuleError,
    parse_rule_table,
    parse_rule_text,
    parse_tool_table,
)

RULES = ("permissions",)
Entry = tuple[Path, Any, SettingValue]

# The permissions that skills can need.
_SKILL_PERMISSIONS = ("skill", "bash")
# The keys for rules in the table of an agent; prowess.toml has only the first.
_AGENT_KEYS = ("permissions", "permission", "tools")


def read_permissions(value: SettingValue, agent: str | None = None) -> Iterator[Entry]:
    """The rules of a table of permissions."""
    yield from _read_table(value, parse_rule_table, agent)


def read_tools(value: SettingValue, agent: str | None = None) -> Iterator[Entry]:
    """The rules of a table that turns tools on or off."""
    yield from _read_table(value, parse_tool_table, agent)


def read_agent(name: str, value: SettingValue) -> Iterator[Entry]:
    """The rules for one agent."""
    is_own = value.document.rule.refuse_unknown
    for key, child in value.children():
        if is_own:
            child.check_known(key, _AGENT_KEYS[:1])
        if key == "tools":
            yield from read_tools(child, name)
        elif key in _AGENT_KEYS:
            yield from read_permissions(child, name)


def read_rule_list(name: str, value: SettingValue) -> Iterator[Entry]:
    """The rules of a list under `allow`, `ask` or `deny`."""
    value.check_known(name, ACTIONS)
    for item in value.items():
        try:
            rule = parse_rule_text(Action(name), item.as_string())
        except RuleError as error:
            raise item.refuse(error.problem) from None
        # Most rules of a host are about other tools.
        if rule is not None:
            yield RULES, msgspec.structs.replace(rule, origin=item.origin), item


def _read_table(
    value: SettingValue, parse: Callable[[Any], Iterator[tuple[Path, Rule]]], agent: str | None
) -> Iterator[Entry]:
    try:
        for path, rule in parse(_select_skill_rules(value)):
            found = SettingValue(rule.text, (*value.path, *path), value.document)
            yield RULES, msgspec.structs.replace(rule, origin=found.origin, agent=agent), found
    except RuleError as error:
        wrong = SettingValue(None, (*value.path, *error.path), value.document)
        raise wrong.refuse(error.problem) from None


def _select_skill_rules(value: SettingValue) -> Any:
    """The part of a table that concerns skills and the commands in them.

    A host's file also has rules for other tools, in notations that need not make sense here.
    """
    is_own = value.document.rule.refuse_unknown
    # One word for all tools is no table; it concerns skills, too.
    if is_own or not isinstance(value.data, dict):
        return value.data
    return {name: child for name, child in value.data.items() if _concerns_skills(name)}


def _concerns_skills(pattern: str) -> bool:
    return any(matches_wildcard(permission, pattern) for permission in _SKILL_PERMISSIONS)
