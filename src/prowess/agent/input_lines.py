"""Messages that reach a session as lines of JSON, while the model works and after.

A line is `{"text": "…"}`, which steers a model that works, `{"text": "…", "key": "follow-up"}`,
which it gets when it would stop, or `{"interrupt": true}`. If no model works, a text is the next
prompt. `{"answer": "once", "id": "question-1"}` answers a question, with `always` or `reject` in
place of `once`; a rejection may have `feedback` for the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Literal, Protocol

import msgspec

from prowess.activate.slash.messages import Delivery, Key
from prowess.agent.events import Event, TurnEnded, Warned
from prowess.agent.line_approver import LineApprover
from prowess.errors import ProwessError, UsageError
from prowess.machine.event_loop import run_in_thread
from prowess.ports import Approver

_KEYS = {"send": Key.SEND, "follow-up": Key.FOLLOW_UP}


class Turns(Protocol):
    """What takes the lines: a session."""

    def send(self, text: str) -> AsyncGenerator[Event, None]:
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
    answer: Literal["once", "always", "reject"] | None = None
    id: str = ""
    feedback: str | None = None


async def converse(
    session: Turns,
    first: str,
    read_line: Callable[[], str],
    show: Callable[[Event], object],
    approver: Approver | None = None,
) -> TurnEnded:
    """Run turns until the input has ended and nothing is left to do; returns the end of the last.

    `read_line` blocks until there is a line, and gives "" at the end of the input. It runs in a
    thread of its own. An `approver` that asks by events gets the answers among the lines.
    """
    arrivals = _Arrivals()
    lines = _Lines(session, show, approver if isinstance(approver, LineApprover) else None)
    reader = asyncio.create_task(_read(lines, read_line, arrivals))
    prompts = [first]
    ended: TurnEnded | None = None
    try:
        while prompts:
            async with aclosing(session.send(prompts.pop(0))) as events:
                async for event in events:
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


async def _read(lines: _Lines, read_line: Callable[[], str], arrivals: _Arrivals) -> None:
    # A text may itself need an approval, so that lines are read while it is taken.
    taker = asyncio.create_task(lines.take_texts(arrivals))
    try:
        while line := await run_in_thread(lambda is_cancelled: read_line()):
            if line.strip():
                lines.take(line)
                arrivals.note()
        lines.end()
        await taker
    finally:
        # Also where reading failed: nobody waits for an answer that cannot come.
        lines.end()
        taker.cancel()
        arrivals.end()


class _Lines:
    """Gives each line to whom it concerns. What is wrong with one is shown."""

    def __init__(
        self, session: Turns, show: Callable[[Event], object], approver: LineApprover | None
    ) -> None:
        self._session = session
        self._show = show
        self._approver = approver
        self._texts: asyncio.Queue[InputLine | None] = asyncio.Queue()

    def take(self, text: str) -> None:
        """Take a line: an answer or an interrupt at once, a text after those before it."""
        try:
            line = msgspec.json.decode(text, type=InputLine)
            if line.answer is not None:
                self._answer(line, line.answer)
        except UnicodeEncodeError:
            # Bytes that are no UTF-8 are read as lone surrogates.
            self._warn("The line is not valid UTF-8.")
            return
        except (msgspec.DecodeError, UsageError) as error:
            self._warn(str(error))
            return
        if line.interrupt:
            self._session.interrupt()
        if line.text:
            self._texts.put_nowait(line)

    def end(self) -> None:
        """There are no more lines."""
        if self._approver is not None:
            self._approver.end()
        self._texts.put_nowait(None)

    async def take_texts(self, arrivals: _Arrivals) -> None:
        """Give texts to the session, one after the other, until there are no more."""
        while (line := await self._texts.get()) is not None:
            try:
                await self._session.queue(line.text, key=_KEYS[line.key])
            except ProwessError as error:
                self._warn(str(error))
            arrivals.note()

    def _answer(self, line: InputLine, reply: str) -> None:
        if self._approver is None:
            raise UsageError(
                "There is no question to answer; approvals are asked for only with --json."
            )
        self._approver.answer(line.id, reply, line.feedback)

    def _warn(self, message: str) -> None:
        self._show(Warned(code="input-ignored", message=message))
