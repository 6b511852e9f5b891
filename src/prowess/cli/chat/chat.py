"""Chat: what becomes of a typed text, whatever shows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from rich.console import RenderableType

from prowess.activate.slash.messages import Delivery, Key
from prowess.activate.slash.parser import Plain, parse_command
from prowess.agent.events import Event, TurnEnded, TurnStarted
from prowess.agent.key_bindings import KEYS, KeyMap, load_keys
from prowess.agent.session_file import SavedSession
from prowess.cli.agent_run import RunOptions, find_session, open_session
from prowess.cli.chat.local_commands import COMMANDS, find_local, load_local
from prowess.cli.chat.mentions import NO_MENTIONS, Mentions, find_mentions
from prowess.cli.chat.usage import SessionUsage
from prowess.cli.no_model import Answer, answer_without_model
from prowess.errors import ProwessError, UsageError, nearest_names
from prowess.machine.event_loop import run_in_thread
from prowess.ports import Approver
from prowess.runtime import Skills


class Surface(Protocol):
    """Where a chat is shown: a terminal, or plain lines."""

    def print(self, shown: RenderableType) -> None:
        """Show something of the chat's own: what a local command says, a note, an error."""
        ...

    def show(self, event: Event) -> None:
        """Show something that happened in the session."""
        ...

    def answer(self, answer: Answer) -> None:
        """Show what a text comes to without a model."""
        ...

    def restore(self, text: str) -> None:
        """Put text back into the line, which the model has not received."""
        ...

    async def open_view(self, view: Any) -> bool:
        """Let the user work in a view until they leave it; False where there are no views."""
        ...

    def leave(self) -> None:
        """End the chat."""
        ...


class Chat:
    """A session, what is typed into it, and what it has used."""

    def __init__(
        self,
        skills: Skills,
        host: str,
        options: RunOptions,
        surface: Surface,
        approver: Approver | None,
    ) -> None:
        self.skills = skills
        self.host = host
        self.options = options
        self.surface = surface
        self.resumed: SavedSession | None = find_session(skills, options)
        self.usage = SessionUsage()
        self.keys, self.keys_problem = _load_keys(skills)
        self.is_working = False
        self._turn: asyncio.Task[None] | None = None
        self.session = open_session(skills, options, approver, self.resumed, taken=COMMANDS)
        if self.resumed is not None:
            self.usage.add_saved(self.resumed)
            loaded = self.session.conversation.ledger.loaded
            self.usage.skills = list(dict.fromkeys(entry.name for entry in loaded))

    @property
    def interrupt_key(self) -> str:
        """The key that interrupts, as hints name it."""
        return self.keys["interrupt"].labels[0]

    async def submit(self, text: str, key: Key = Key.SEND) -> None:
        """Do what a typed text asks for. Problems are shown."""
        if not text.strip():
            return
        try:
            await self._carry_out(text.strip(), key)
        except ProwessError as error:
            self.surface.print(_describe(error))

    def interrupt(self) -> None:
        """Stop what is going on."""
        self.session.interrupt()
        self._cancel_command()

    def leave(self) -> None:
        """Stop what is going on here; sub-agents that are jobs go on."""
        self.session.leave()
        self._cancel_command()

    def _cancel_command(self) -> None:
        if self._turn is not None and self.session.models.name is None:
            self._turn.cancel()

    async def compact(self, instructions: str) -> None:
        """Replace the messages so far by a summary."""
        self.is_working = True
        try:
            await self._show_turn(self.session.compact(instructions))
        finally:
            self.is_working = False

    def clear(self) -> None:
        """Forget the conversation."""
        self.session.clear()
        self.usage.window, self.usage.skills = 0, []

    async def aclose(self) -> None:
        """Close the session, which is kept."""
        await self.session.aclose()

    async def _carry_out(self, text: str, key: Key) -> None:
        local = find_local(text)
        if local is not None:
            await self._run_local(*local)
            return
        await self._check_command(text)
        if self.is_working:
            await self._queue(text, key)
        else:
            self._turn = asyncio.current_task()
            self.is_working = True
            try:
                await self._work(text)
            finally:
                self.is_working, self._turn = False, None

    async def _run_local(self, name: str, arguments: str) -> None:
        if self.is_working and not COMMANDS[name].safe_while_working:
            raise UsageError(
                f"/{name} has to wait until the model is done; {self.interrupt_key} interrupts it."
            )
        await load_local(name)(self, arguments)

    async def _check_command(self, text: str) -> None:
        """Raise `UsageError` for what looks like a command and is none, in place of sending it."""
        # Without a model, what comes of it is explained anyway.
        if self.session.models.name is None or self._find_unknown(text) is None:
            return
        # It may be new.
        await run_in_thread(lambda is_cancelled: self.skills.reload())
        name = self._find_unknown(text)
        if name is None:
            return
        known = [one.name for one in self.session.conversation.commands.typable]
        nearest = nearest_names(name, [*COMMANDS, *known])
        hint = f"Did you mean /{' or /'.join(nearest)}?" if nearest else "/help shows all."
        raise UsageError(f"There is no command “/{name}”. {hint}")

    def _find_unknown(self, text: str) -> str | None:
        """The name of a command that does not exist; None for everything else."""
        commands = self.session.conversation.commands
        typed = parse_command(text, commands, self.skills.profile.commands)
        is_path = "/" in text.split(maxsplit=1)[0][1:]
        return typed.name if isinstance(typed, Plain) and not is_path else None

    async def _queue(self, text: str, key: Key) -> None:
        if self.session.models.name is None:
            raise UsageError(f"A command is running; {self.interrupt_key} interrupts it.")
        mentions = find_mentions(text, self.skills.cwd)
        delivery = await self.session.queue(text, key=key, files=mentions.found)
        self._report_missing(mentions)
        if delivery is Delivery.PROMPT and not self.is_working:
            # The turn has ended meanwhile, so nobody else sends it.
            for one in self.session.take_undelivered():
                await self._carry_out(one, Key.SEND)

    async def _work(self, text: str) -> None:
        if self.session.models.name is None:
            await self._answer_alone(text)
        else:
            await self._send_all((text,))

    async def _send_all(self, texts: Sequence[str]) -> None:
        """Run a turn with each text, and with what was queued and not delivered meanwhile."""
        waiting = list(texts)
        while waiting:
            text = waiting.pop(0)
            ended = await self._send(text)
            waiting += self.session.take_undelivered()
            if waiting and ended is not None and ended.status == "interrupted":
                self.surface.restore("\n".join(waiting))
                return

    async def _send(self, text: str) -> TurnEnded | None:
        mentions = find_mentions(text, self.skills.cwd)
        events = self.session.send(text, files=mentions.found)
        return await self._show_turn(events, mentions)

    def _report_missing(self, mentions: Mentions) -> None:
        """Say which names have no file. They are sent: `@` also begins decorators and packages."""
        for name in mentions.missing:
            self.surface.print(f"There is no file “{name}”; “@{name}” is sent as text.")

    async def _show_turn(
        self, events: AsyncIterator[Event], mentions: Mentions = NO_MENTIONS
    ) -> TurnEnded | None:
        ended: TurnEnded | None = None
        async for event in events:
            self.usage.note(event)
            self.surface.show(event)
            if isinstance(event, TurnStarted):
                # Below the text that names them.
                self._report_missing(mentions)
            ended = event if isinstance(event, TurnEnded) else ended
        return ended

    async def _answer_alone(self, text: str) -> None:
        """Without a model, commands with a tool run, and everything else is explained."""
        await run_in_thread(lambda is_cancelled: self.skills.reload())
        result = await self.session.conversation.run_async(text)
        answer = await run_in_thread(lambda is_cancelled: answer_without_model(result, self.skills))
        self.surface.answer(answer)


def _load_keys(skills: Skills) -> tuple[KeyMap, str]:
    """The keys, and why they are the usual ones: a wrong key file must not keep a chat closed."""
    try:
        return load_keys(skills), ""
    except ProwessError as error:
        return KEYS, f"{_describe(error)} The usual keys are used."


def _describe(error: ProwessError) -> str:
    return f"{error} {error.hint}" if error.hint else str(error)
