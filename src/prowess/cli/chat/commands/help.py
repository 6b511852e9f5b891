"""`/help`: the commands and keys of the chat."""

from __future__ import annotations

from rich.text import Text

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.local_commands import COMMANDS
from prowess.cli.chat.output import dim, make_table, stack


async def run(chat: Chat, arguments: str) -> None:
    """Show everything that can be typed besides text."""
    commands = [(f"/{name} {one.arguments}".strip(), one.summary) for name, one in COMMANDS.items()]
    keys = [(", ".join(binding.labels), binding.summary) for binding in chat.keys.values()]
    count = len(chat.session.conversation.commands.typable)
    skills = f"{count:,} skill{'s' if count != 1 else ''} can be typed as a command; / lists them."
    chat.surface.print(
        stack(
            Text("Commands", "bold"),
            make_table(commands),
            Text(),
            Text("Keys", "bold"),
            make_table(keys),
            Text(),
            dim(f"{skills} @ names a file, whose text goes to the model."),
        )
    )
