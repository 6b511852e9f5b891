"""`/permissions`: the rules about tools and skills, and rules for this chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from prowess.agent.permissions import gather_tool_rules
from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import Cell, dim, make_table, stack
from prowess.cli.options import parse_rules
from prowess.cli.terminal.out import shorten_path
from prowess.errors import UsageError
from prowess.model.permission import COMMAND_LINE, Action, Rule
from prowess.text.permission_rules import AGENT_TOOLS

_STYLES = {Action.ALLOW: "green", Action.ASK: "yellow", Action.DENY: "red"}
_DEFAULTS = (
    "Without a rule, reading inside the project is allowed, and Write, Edit and Bash are asked"
    " about."
)
_HINT = "`/permissions allow 'Bash(git *)'` adds a rule for this chat; ask and deny work the same."


async def run(chat: Chat, arguments: str) -> None:
    """Without arguments show the rules; otherwise add one until the chat ends."""
    if arguments:
        _add(chat, arguments)
        return
    settings = chat.session.conversation.snapshot.settings
    sets = gather_tool_rules(settings, chat.skills.project.gather_rules)
    rules = dict.fromkeys(rule for one in sets for rule in (*one.given, *one.written))
    rows = list(_list_rows(chat, rules))
    listed = make_table(rows, heading=("", "RULE", "FROM")) if rows else "No rules."
    chat.surface.print(stack(listed, dim(_DEFAULTS), dim(_HINT)))


def _list_rows(chat: Chat, rules: Iterable[Rule]) -> Iterator[list[Cell]]:
    for rule in rules:
        action = rule.action
        written = rule.text.removeprefix(f"{action.value}: ")
        text = written or f"{rule.permission}({rule.pattern})"
        where = "the host"
        if rule.origin == COMMAND_LINE:
            where = "this chat"
        elif rule.origin.file is not None:
            where = shorten_path(str(rule.origin), chat.skills.cwd)
        yield [Text(action.value, _STYLES[action]), text, where]


def _add(chat: Chat, arguments: str) -> None:
    word, _, rest = arguments.partition(" ")
    # `_HINT` shows the rule in quotes, as the command line needs it.
    rule = rest.strip().strip("'\"")
    is_action = word in {action.value for action in Action}
    if not is_action or not rule:
        raise UsageError("Write `/permissions allow|ask|deny RULE`, such as `allow Bash(git *)`.")
    chat.skills.project.add_rules(parse_rules(tools=AGENT_TOOLS, **{word: (rule,)}))
    chat.surface.print(f"Until the chat ends: {word} {rule}.")
