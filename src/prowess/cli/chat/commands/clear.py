"""`/clear`: begin a new session."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import dim


async def run(chat: Chat, arguments: str) -> None:
    """Begin a new session; the old one is kept."""
    old = chat.session.id
    chat.clear()
    chat.surface.print(
        dim(f"This is a new session. `prowess chat --resume {old}` has the old one.")
    )
