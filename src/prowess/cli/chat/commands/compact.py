"""`/compact`: shorten what the model remembers."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.errors.agent import NoModel


async def run(chat: Chat, arguments: str) -> None:
    """Let the model summarize the conversation; the arguments say what must be in the summary."""
    if chat.session.models.name is None:
        raise NoModel
    await chat.compact(arguments)
