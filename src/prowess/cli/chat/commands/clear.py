"""`/clear`: forget the conversation."""

from __future__ import annotations

from prowess.agent.subagent_jobs import list_lost_reports
from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import dim


async def run(chat: Chat, arguments: str) -> None:
    """Begin anew, with no messages and no loaded skills."""
    lost = list_lost_reports(chat.session.waiting_jobs)
    chat.clear()
    chat.surface.print(dim("The model has forgotten the conversation so far."))
    for warning in lost:
        chat.surface.show(warning)
