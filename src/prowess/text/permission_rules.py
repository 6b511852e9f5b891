"""Parse permission rules as users write them.

There are two notations: tables by permission and pattern, where order counts (`{"skill": {"*":
"deny", "few": "allow"}}`), and lists of strings by action (`deny: ["Skill(deploy *)"]`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prowess.model.permission import Action, Rule

Path = tuple[str, ...]
ACTIONS = tuple(action.value for action in Action)

Tools = Mapping[str, Callable[[str], str]]
"""Tools by name, each with what makes a pattern of the text in parentheses."""

MCP_PREFIX = "mcp__"
"""How the name of a tool of an MCP server begins."""
# Compiled on first use: every command that scans imports this module, and few users have rules.
_NAME = r"\w*"
_MCP_RULE = r"mcp__[\w*-]+"
_ONE_ACTION = f"one of {', '.join(ACTIONS)}"


class RuleError(ValueError):
    """An invalid rule. The caller knows which file it came from and reports it."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(problem)


def parse_rule_table(data: Any) -> Iterator[tuple[Path, Rule]]:
    """The rules of a table in order, each with its keys.

    A single action instead of a table applies to everything.
    """
    if isinstance(data, str):
        yield (), Rule(action=_parse_action((), data), permission="*", text=data, whole=True)
        return
    for permission, value in _read_entries((), data):
        if isinstance(value, Mapping):
            yield from _parse_patterns(permission, value)
        else:
            yield (permission,), _parse_whole_permission(permission, value)


def _parse_whole_permission(permission: str, value: Any) -> Rule:
    """`bash = "ask"`: a rule for everything that a permission is about."""
    # Somebody wrote the other notation, with the names below the action.
    is_reversed = permission in ACTIONS and value not in ACTIONS
    if is_reversed:
        problem = f'is an action, not a permission; write it as `bash = "{permission}"`'
        raise RuleError((permission,), problem)
    action = _parse_action((permission,), value)
    text = f"{permission}: {value}"
    return Rule(action=action, permission=permission, text=text, whole=True)


def _parse_patterns(permission: str, data: Mapping[str, Any]) -> Iterator[tuple[Path, Rule]]:
    for pattern, word in _read_entries((permission,), data):
        path = (permission, pattern)
        action = _parse_action(path, word)
        text = f"{permission}.{pattern}: {word}"
        yield path, Rule(action=action, permission=permission, pattern=pattern, text=text)


def parse_tool_table(data: Any) -> Iterator[tuple[Path, Rule]]:
    """The rules of a table that turns tools on or off."""
    for tool, value in _read_entries((), data):
        if not isinstance(value, bool):
            raise RuleError((tool,), "must be true or false")
        action = Action.ALLOW if value else Action.DENY
        text = f"tools.{tool}: {'true' if value else 'false'}"
        yield (tool,), Rule(action=action, permission=tool, text=text, whole=True, weak=True)


def parse_rule_text(action: Action, text: str, tools: Tools | None = None) -> Rule | None:
    """A rule such as `Skill(deploy *)` or `Bash(git *)`; None if it is about another tool.

    `tools` are those that rules can be about, by default those that skills need. Raises
    `RuleError`.
    """
    rule = text.strip()
    # Only Prowess's own agent, whose tools these are, has rules about tools of MCP servers.
    is_for_agent = tools is not None and "WebFetch" in tools
    if is_for_agent and rule.startswith(MCP_PREFIX):
        return _parse_mcp_rule(action, rule)
    tool = re.match(_NAME, rule)[0]  # type: ignore[index]
    patterns = SKILL_TOOLS if tools is None else tools
    if tool not in patterns:
        return None
    tail = rule.removeprefix(tool)
    pattern = tail[1:-1].strip()
    is_call = tail.startswith("(") and tail.endswith(")")
    if tail and not (is_call and pattern):
        forms = f"`{tool}`, `{tool}(NAME)`, `{tool}(NAME *)` or `{tool}(NAME:*)`"
        raise RuleError((), f"must be {forms.replace('NAME', _find_object(tool))}; got “{text}”")
    return Rule(
        action=action,
        permission=tool.lower(),
        pattern=patterns[tool](pattern),
        text=f"{action.value}: {rule}",
    )


def _parse_mcp_rule(action: Action, rule: str) -> Rule:
    """`mcp__server__tool`, `mcp__server__*`, or `mcp__server` for all tools of a server."""
    if not re.fullmatch(_MCP_RULE, rule):
        forms = "`mcp__SERVER`, `mcp__SERVER__TOOL` or `mcp__SERVER__*`"
        raise RuleError((), f"must be {forms}; got “{rule}”")
    names_tool = "__" in rule.removeprefix(MCP_PREFIX)
    is_server = not names_tool and not rule.endswith("*")
    permission = f"{rule}__*" if is_server else rule
    return Rule(action=action, permission=permission, text=f"{action.value}: {rule}")


def _parse_name(name: str) -> str:
    """`name:*` matches names that start with `name`.

    `name *`, the name with any arguments, needs no change: arguments are not part of a name.
    """
    name = name.removeprefix("/")
    if name.endswith(":*"):
        return name[:-2] + "*"
    return name or "*"


def _parse_command(command: str) -> str:
    """`command:*` matches the command with and without arguments."""
    if command.endswith(":*"):
        return f"{command[:-2]} *"
    return command or "*"


def _parse_path(path: str) -> str:
    """`folder:*` and `folder/` match everything in a folder."""
    path = path.removesuffix(":*").removeprefix("./")
    if path.endswith("/"):
        return f"{path}*"
    return path or "*"


def _parse_address(address: str) -> str:
    """`domain:example.org` matches every page of a host, `domain:*.example.org` those below it."""
    if address.startswith("domain:"):
        # Kept as it is: as a pattern for addresses, the wildcard could match a path or a query.
        return address.lower()
    return address or "*"


SKILL_TOOLS: Tools = {"Skill": _parse_name, "Bash": _parse_command}
"""The tools that the rules of every host are read for."""
AGENT_TOOLS: Tools = {
    **SKILL_TOOLS,
    **dict.fromkeys(("Read", "Write", "Edit", "Glob", "Grep"), _parse_path),
    "WebFetch": _parse_address,
    "Task": _parse_name,
}
"""The tools of an agent that rules can be about."""
_OBJECTS = {"Bash": "command", "WebFetch": "address", "Skill": "name", "Task": "name"}


def _find_object(tool: str) -> str:
    return _OBJECTS.get(tool, "path")


def _read_entries(path: Path, data: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(data, Mapping):
        raise RuleError(path, f"must be {_ONE_ACTION}, or a table of them")
    for name, value in data.items():
        # null is how a JSON file unsets a key.
        if value is not None:
            yield name, value


def _parse_action(path: Path, word: Any) -> Action:
    if not isinstance(word, str):
        raise RuleError(path, f"must be {_ONE_ACTION}")
    if word not in ACTIONS:
        raise RuleError(path, f"must be {_ONE_ACTION}; got “{word}”")
    return Action(word)
