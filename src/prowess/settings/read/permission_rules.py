"""Permission rules as settings files have them. Unlike other settings they add up, file after file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from prowess.model.permission import Action, Rule
from prowess.settings.formats.document import Value
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
Entry = tuple[Path, Any, Value]

# The permissions that skills can need.
_OURS = ("skill", "bash")
# The words that agents' tables have for their rules: Prowess's own first.
_AGENT_KEYS = ("permissions", "permission", "tools")


def read_permissions(value: Value, agent: str | None = None) -> Iterator[Entry]:
    """The rules of a table of permissions."""
    yield from _read_table(value, parse_rule_table, agent)


def read_tools(value: Value, agent: str | None = None) -> Iterator[Entry]:
    """The rules of a table of tools that are on or off."""
    yield from _read_table(value, parse_tool_table, agent)


def read_agent(name: str, value: Value) -> Iterator[Entry]:
    """The rules that hold for one agent."""
    is_own = value.document.rule.refuse_unknown
    for key, child in value.children():
        if is_own and key != _AGENT_KEYS[0]:
            raise child.unknown([_AGENT_KEYS[0]])
        if key in _AGENT_KEYS:
            yield from (read_tools if key == "tools" else read_permissions)(child, name)


def read_rule_list(name: str, value: Value) -> Iterator[Entry]:
    """The rules of a list under `allow`, `ask` or `deny`."""
    if name not in ACTIONS:
        raise value.unknown(list(ACTIONS))
    for item in value.items():
        if not isinstance(item.data, str):
            raise item.wrong("a text")
        try:
            rule = parse_rule_text(Action(name), item.data)
        except RuleError as error:
            raise item.refuse(error.problem) from None
        if rule is not None:
            yield RULES, msgspec.structs.replace(rule, origin=item.origin), item


def _read_table(
    value: Value, parse: Callable[[Any], Iterator[tuple[Path, Rule]]], agent: str | None
) -> Iterator[Entry]:
    try:
        for path, rule in parse(_own_part(value)):
            found = Value(rule.text, (*value.path, *path), value.document)
            yield RULES, msgspec.structs.replace(rule, origin=found.origin, agent=agent), found
    except RuleError as error:
        raise Value(None, (*value.path, *error.path), value.document).refuse(
            error.problem
        ) from None


def _own_part(value: Value) -> Any:
    """What is about skills and the commands in them. A host's file holds rules for its other tools,
    in forms that are no concern of ours."""
    if value.document.rule.refuse_unknown or not isinstance(value.data, dict):
        return value.data
    return {
        name: child
        for name, child in value.data.items()
        if any(matches_wildcard(one, name) for one in _OURS)
    }
