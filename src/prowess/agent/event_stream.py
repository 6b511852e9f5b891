"""The events of a turn on their way from its session to whoever reads them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from prowess.agent.events import Event, TextDelta, ThinkingDelta, render_event

_LOG = logging.getLogger(__name__)


class EventStream:
    """The events of a session, for one reader at a time; without one they are only logged."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._queue: asyncio.Queue[Event | None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody reads events, because a turn is running."""
        return self._queue is not None

    def emit(self, event: Event) -> None:
        """Hand an event to the reader."""
        if _LOG.isEnabledFor(logging.DEBUG) and not isinstance(event, TextDelta | ThinkingDelta):
            _LOG.debug("%s %s", self._session, render_event(event))
        if self._queue is not None:
            self._queue.put_nowait(event)

    async def wait_until_shown(self) -> None:
        """Wait until the reader has dealt with every event so far."""
        if self._queue is not None:
            await self._queue.join()

    async def follow(
        self, work: Callable[[], Coroutine[Any, Any, None]], *, on_left: Callable[[], object]
    ) -> AsyncGenerator[Event, None]:
        """Do some work, and give its events as they happen.

        Whoever stops reading cancels the work; `on_left` is called before.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._queue = queue
        task = asyncio.create_task(work())
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
                queue.task_done()
            await task
        finally:
            if not task.done():
                # Whoever reads no more has ended, or is about to.
                on_left()
                task.cancel()
                await asyncio.wait([task])
            self._queue = None
