"""Messages that reach a session as lines of JSON, while the model works and after.

A line is `{"text": "…"}`, which steers a model that works, `{"text": "…", "key": "follow-up"}`,
which it gets when it would stop, or `{"interrupt": true}`. If no model works, a text is the next
prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Literal, Protocol

import msgspec

from prowess.activate.slash.messages import Delivery, Key
from prowess.agent.events import Event, TurnEnded, Warned
from prowess.errors import ProwessError
from prowess.machine.event_loop import run_in_thread

_KEYS = {"send": Key.SEND, "follow-up": Key.FOLLOW_UP}


class Turns(Protocol):
    """What takes the lines: a session."""

    def send(self, text: str) -> AsyncIterator[Event]:
        """Run one turn."""
        ...

    async def queue(self, text: str, *, key: Key = Key.SEND) -> Delivery:
        """Take a message while the model works."""
        ...

    def take_undelivered(self) -> tuple[str, ...]:
        """What the model has not received."""
        ...

    def interrupt(self) -> None:
        """Stop the turn."""
        ...


class InputLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of input."""

    text: str = ""
    key: Literal["send", "follow-up"] = "send"
    interrupt: bool = False


async def converse(
    session: Turns,
    first: str,
    read_line: Callable[[], str],
    show: Callable[[Event], object],
) -> TurnEnded:
    """Run turns until the input has ended and nothing is left to do; returns the end of the last.

    `read_line` blocks until there is a line, and gives "" at the end of the input. It runs in a
    thread of its own.
    """
    arrivals = _Arrivals()
    reader = asyncio.create_task(_read(session, read_line, show, arrivals))
    prompts = [first]
    ended: TurnEnded | None = None
    try:
        while prompts:
            async for event in session.send(prompts.pop(0)):
                show(event)
                ended = event if isinstance(event, TurnEnded) else ended
            # What an interrupt, or the end of the turn, kept from the model is sent now.
            prompts += session.take_undelivered()
            while not prompts and not arrivals.is_over:
                await arrivals.wait()
                prompts += session.take_undelivered()
    finally:
        reader.cancel()
        with suppress(asyncio.CancelledError):
            await reader
    assert ended is not None
    return ended


class _Arrivals:
    """Tells whoever waits that a line was taken, or that there will be no more."""

    def __init__(self) -> None:
        self.is_over = False
        self._event = asyncio.Event()

    def note(self) -> None:
        """A line was taken."""
        self._event.set()

    def end(self) -> None:
        """The input has ended."""
        self.is_over = True
        self._event.set()

    async def wait(self) -> None:
        """Wait for the next."""
        await self._event.wait()
        self._event.clear()


async def _read(
    session: Turns,
    read_line: Callable[[], str],
    show: Callable[[Event], object],
    arrivals: _Arrivals,
) -> None:
    try:
        while line := await run_in_thread(lambda is_cancelled: read_line()):
            if not line.strip():
                continue
            try:
                await _take(session, msgspec.json.decode(line, type=InputLine))
            except UnicodeEncodeError:
                # Bytes that are no UTF-8 are read as lone surrogates.
                show(Warned(code="input-ignored", message="The line is not valid UTF-8."))
            except (msgspec.DecodeError, ProwessError) as error:
                show(Warned(code="input-ignored", message=str(error)))
            arrivals.note()
    finally:
        arrivals.end()


async def _take(session: Turns, line: InputLine) -> None:
    if line.interrupt:
        session.interrupt()
    if line.text:
        await session.queue(line.text, key=_KEYS[line.key])
