"""`/plugin`: the plugins that bring skills."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import make_table
from prowess.model.skill import Scope


async def run(chat: Chat, arguments: str) -> None:
    """List the plugins whose skills were found, with how many each has."""
    counts: dict[str, int] = {}
    for outcome in chat.skills.snapshot.outcomes:
        root = outcome.candidate.root
        if root.scope is Scope.PLUGIN:
            counts[root.source.label] = counts.get(root.source.label, 0) + 1
    if not counts:
        chat.surface.print("No plugin is installed.")
        return
    rows = [(label, f"{count:,}") for label, count in sorted(counts.items())]
    chat.surface.print(make_table(rows, heading=("PLUGIN", "SKILLS"), right=(1,)))
