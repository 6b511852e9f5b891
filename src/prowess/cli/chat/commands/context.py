"""`/context`: what fills the model's window."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import Cell, dim, make_table, stack
from prowess.cli.terminal.out import shorten_path
from prowess.machine.event_loop import run_in_thread
from prowess.present.tokens import estimate_tokens


async def run(chat: Chat, arguments: str) -> None:
    """List the parts of a request with their tokens."""
    rows = await run_in_thread(lambda is_cancelled: _list_parts(chat))
    used = chat.usage.window
    total = f"The last request and its answer had {used:,} tokens in all, as the model counts them."
    if not used:
        total = "The model has not been asked yet."
    table = make_table(rows, heading=("TOKENS", "WHAT"), right=(0,))
    chat.surface.print(stack(table, dim(f"{total} The other counts are estimates.")))


def _list_parts(chat: Chat) -> list[list[Cell]]:
    """Context files, the list of skills, and the skills that were loaded."""
    rows: list[list[Cell]] = []
    for file in chat.skills.context_files().files:
        name = shorten_path(file.path, chat.skills.cwd)
        rows.append([f"{estimate_tokens(file.text):,}", f"context file {name}"])
    catalog = chat.skills.catalog()
    rows.append([f"{estimate_tokens(catalog.prompt):,}", "the list of skills"])
    for entry in chat.session.conversation.ledger.loaded:
        rows.append([f"{entry.tokens:,}", f"skill {entry.name}"])
    return rows
