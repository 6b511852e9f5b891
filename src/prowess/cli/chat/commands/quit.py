"""`/quit`: leave the chat."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat


async def run(chat: Chat, arguments: str) -> None:
    """Leave; what is going on is interrupted, except for jobs."""
    if chat.is_working:
        chat.leave()
    chat.surface.leave()
