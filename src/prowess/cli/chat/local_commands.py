"""The commands of the chat itself, as a table. Their code is imported when they are called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

# A command gets the chat, which imports this table, and what was typed after its name.
Run = Callable[[Any, str], Awaitable[None]]


class LocalCommand(NamedTuple):
    """A command: its line in the help, its module in `commands`, and how arguments are shown.

    `choices` are completed as its first argument. A command that is not `safe_while_working` has to
    wait for the model. One that `is_turn` is a turn of the session.
    """

    summary: str
    module: str
    arguments: str = ""
    choices: Sequence[str] = ()
    safe_while_working: bool = True
    is_turn: bool = False


COMMANDS: dict[str, LocalCommand] = {
    "help": LocalCommand("Show the commands and keys.", "help"),
    "skills": LocalCommand(
        "List the available skills, and switch them on or off.",
        "skills",
        "[WORD | NAME SWITCH]",
    ),
    "reload-skills": LocalCommand("Read the skills again now.", "reload_skills"),
    "context": LocalCommand("Show what fills the model's window.", "context"),
    "compact": LocalCommand(
        "Shorten what the model remembers.",
        "compact",
        "[WORDS]",
        safe_while_working=False,
        is_turn=True,
    ),
    "clear": LocalCommand("Forget the conversation.", "clear", safe_while_working=False),
    "model": LocalCommand(
        "Show the model, or use another one.", "model", "[NAME]", safe_while_working=False
    ),
    "permissions": LocalCommand(
        "Show the rules, or add one for this chat.",
        "permissions",
        "[ACTION RULE]",
        choices=("allow", "ask", "deny"),
    ),
    "plugin": LocalCommand("List the plugins, and switch them.", "plugin", "[NAME on|off]"),
    "quit": LocalCommand("Quit. The session is kept.", "quit"),
}
ALIASES = {"exit": "quit", "new": "clear", "?": "help"}


def find_local(text: str) -> tuple[str, str] | None:
    """The local command in a typed text, and its arguments; None if it is not one."""
    if not text.startswith("/"):
        return None
    word, _, arguments = text[1:].partition(" ")
    name = ALIASES.get(word.strip(), word.strip())
    return (name, arguments.strip()) if name in COMMANDS else None


def load_local(name: str) -> Run:
    """The function of a local command."""
    module = import_module(f"prowess.cli.chat.commands.{COMMANDS[name].module}")
    run: Run = module.run
    return run
