"""Rules as people write them, made into `Rule` values.

There are two ways to write them: tables of a permission, patterns and actions, where order counts
(`{"skill": {"*": "deny", "few": "allow"}}`), and lists of texts by action (`deny: ["Skill(deploy
*)"]`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prowess.model.permission import Action, Rule

Path = tuple[str, ...]
ACTIONS = tuple(action.value for action in Action)

# The tools that rules are about here, and how a rule for each may be written.
_TOOLS = {
    "Skill": (
        "no rule for skills; it must be `Skill`, `Skill(name)`, `Skill(name *)` or `Skill(name:*)`"
    ),
    "Bash": (
        "no rule for commands; it must be `Bash`, `Bash(command)`, `Bash(command *)` or"
        " `Bash(command:*)`"
    ),
}


class RuleError(ValueError):
    """A rule that cannot be read. Whoever reads rules knows where they came from and says so."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(problem)


def parse_rule_table(data: Any) -> Iterator[tuple[Path, Rule]]:
    """The rules of a table, in its order, each with its keys. One action in place of a table is for
    everything.
    """
    if isinstance(data, str):
        yield (), Rule(action=_parse_action((), data), permission="*", text=data, whole=True)
        return
    for permission, value in _entries((), data):
        if not isinstance(value, Mapping):
            action = _parse_action((permission,), value)
            yield (
                (permission,),
                Rule(
                    action=action, permission=permission, text=f"{permission}: {value}", whole=True
                ),
            )
            continue
        for pattern, word in _entries((permission,), value):
            action = _parse_action((permission, pattern), word)
            text = f"{permission}.{pattern}: {word}"
            yield (
                (permission, pattern),
                Rule(action=action, permission=permission, pattern=pattern, text=text),
            )


def parse_tool_table(data: Any) -> Iterator[tuple[Path, Rule]]:
    """The rules of a table of tools that are switched on or off."""
    for tool, value in _entries((), data):
        if not isinstance(value, bool):
            raise RuleError((tool,), "must be true or false")
        action = Action.ALLOW if value else Action.DENY
        text = f"tools.{tool}: {'true' if value else 'false'}"
        yield (tool,), Rule(action=action, permission=tool, text=text, whole=True, weak=True)


def parse_rule_text(action: Action, text: str) -> Rule | None:
    """A rule such as `Skill(deploy *)` or `Bash(git *)`; None where it is about another tool.
    Raises `RuleError`.
    """
    rule = text.strip()
    tool = next((tool for tool in _TOOLS if rule.startswith(tool)), None)
    tail = rule.removeprefix(tool or "")
    if tool is None or tail[:1].isalnum() or tail[:1] == "_":
        return None
    if tail and not (tail.startswith("(") and tail.endswith(")") and tail[1:-1].strip()):
        raise RuleError((), f"is “{text}”, which is {_TOOLS[tool]}")
    pattern = _PATTERNS[tool](tail[1:-1].strip())
    return Rule(
        action=action, permission=tool.lower(), pattern=pattern, text=f"{action.value}: {rule}"
    )


def _as_name(name: str) -> str:
    """`name:*` covers every name that begins so; `name *` the name with any arguments, which are no
    part of a name.
    """
    name = name.removeprefix("/")
    if name.endswith(":*"):
        return name[:-2] + "*"
    return name or "*"


def _as_command(command: str) -> str:
    """`command:*` covers the command alone and with anything behind it."""
    return f"{command[:-2]} *" if command.endswith(":*") else command or "*"


_PATTERNS: Mapping[str, Callable[[str], str]] = {"Skill": _as_name, "Bash": _as_command}


def _entries(path: Path, data: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(data, Mapping):
        allowed = " or ".join((f"one of {', '.join(ACTIONS)}", "a table of them"))
        raise RuleError(path, f"must be {allowed}")
    yield from ((name, value) for name, value in data.items() if value is not None)


def _parse_action(path: Path, word: Any) -> Action:
    if not isinstance(word, str) or word not in ACTIONS:
        found = f"is “{word}”; it " if isinstance(word, str) else ""
        raise RuleError(path, f"{found}must be one of {', '.join(ACTIONS)}")
    return Action(word)
