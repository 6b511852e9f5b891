"""`/reload-skills`: read the skills again."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.machine.event_loop import run_in_thread
from prowess.reports.phrases import render_counts
from prowess.text.display import count_words


async def run(chat: Chat, arguments: str) -> None:
    """Scan again, and say what is there."""
    before = {skill.name for skill in chat.skills.snapshot.skills}
    snapshot = await run_in_thread(lambda is_cancelled: chat.skills.reload())
    after = {skill.name for skill in snapshot.skills}
    total = count_words(len(snapshot.outcomes), "file")
    lines = [f"{total}: {render_counts(snapshot.counts()) or 'no skills'}."]
    for word, names in (("New", after - before), ("Gone", before - after)):
        if names:
            lines.append(f"{word}: {', '.join(sorted(names))}.")
    chat.surface.print("\n".join(lines))
