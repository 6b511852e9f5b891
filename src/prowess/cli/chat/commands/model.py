"""`/model`: show the model, or use another one."""

from __future__ import annotations

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import dim, make_table, stack
from prowess.errors.agent import NoModel
from prowess.machine.event_loop import run_in_thread


async def run(chat: Chat, arguments: str) -> None:
    """Without a name, show what can be chosen; the choice lasts until the chat ends."""
    if arguments:
        # Importing the package of a provider takes a moment.
        await run_in_thread(lambda is_cancelled: chat.session.use_model(arguments))
        chat.surface.print(f"The model is now {chat.session.models.name}.")
        return
    name = chat.session.models.name
    shown = f"The model is {name}." if name is not None else f"{NoModel()} {NoModel().hint}"
    known = chat.skills.project.load_own_settings().agent.models
    hint = dim("`/model NAME` uses another one: provider:name, or a short name of your settings.")
    chat.surface.print(stack(shown, make_table(sorted(known.items())), hint))
