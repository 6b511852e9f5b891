"""`/help`: the commands and keys of the chat."""

from __future__ import annotations

from rich.text import Text

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.local_commands import COMMANDS
from prowess.cli.chat.output import dim, make_table, stack
from prowess.text.display import count_words


async def run(chat: Chat, arguments: str) -> None:
    """Show everything that can be typed besides text."""
    commands = [(f"/{name} {one.arguments}".strip(), one.summary) for name, one in COMMANDS.items()]
    keys = [(", ".join(binding.labels), binding.summary) for binding in chat.keys.values()]
    count = len(chat.session.conversation.commands.typable)
    skills = f"{count_words(count, 'skill')} can be used as a command; type / to list them."
    chat.surface.print(
        stack(
            Text("Commands", "bold"),
            make_table(commands),
            Text(),
            Text("Keys", "bold"),
            make_table(keys),
            Text(),
            dim(f"{skills} @ attaches a file."),
        )
    )
