"""`/compact`: shorten what the model remembers."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.errors import UsageError


async def run(chat: Chat, arguments: str) -> None:
    """Compact the session."""
    raise UsageError("This session cannot be compacted.")
