"""While nobody types, a chat lets the skill `dream` think about the project and leave a plan."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing

import msgspec
from pydantic_ai.messages import ModelMessage

from prowess.agent.events import RequestFinished, ToolFinished
from prowess.agent.shipped.commands import register_commands
from prowess.cli.agent_run import open_session
from prowess.cli.chat.chat import Chat
from prowess.errors import ProwessError
from prowess.model.skill import Scope
from prowess.state.folders import state_folder
from prowess.state.locks import hold_lock
from prowess.supply.bundled import find_features

_LOG = logging.getLogger(__name__)
_FEATURE = "dream"
_LOOK_SECONDS = 5.0


class IdleDream:
    """Starts `/dream` once after a turn, when the chat has been idle for long enough.

    Only the skill that ships is started: it reads and saves a plan, and its session has no approver
    to ask. It is cancelled as soon as the user types. Only its costs and its plan reach the chat.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._active = time.monotonic()
        # What was said last when it dreamed: without anything new there is nothing to add.
        self._dreamed_after = self._find_last_message()
        self._dream: asyncio.Task[None] | None = None

    def note_activity(self) -> None:
        """The user does something: stop dreaming, and wait again."""
        self._active = time.monotonic()
        # Once: the next key must not cut off how it ends.
        if self._dream is not None and not self._dream.cancelling():
            self._dream.cancel()

    async def run(self) -> None:
        """Watch the chat until this is cancelled."""
        try:
            while True:
                await asyncio.sleep(_LOOK_SECONDS)
                if self._is_due():
                    self._dreamed_after = self._find_last_message()
                    self._dream = asyncio.create_task(self._think())
                    await asyncio.wait([self._dream])
                    if not self._dream.cancelled() and (error := self._dream.exception()):
                        # Nobody asked for it, so nobody is told that it did not work.
                        _LOG.debug("The idle chat could not dream.", exc_info=error)
                    self._dream = None
        finally:
            if self._dream is not None:
                self._dream.cancel()
                await asyncio.wait([self._dream])

    def _is_due(self) -> bool:
        chat = self._chat
        if chat.is_working:
            self._active = time.monotonic()
            return False
        last = self._find_last_message()
        if last is None or last is self._dreamed_after or chat.options.read_only:
            return False
        try:
            own = chat.skills.project.load_own_settings()
        except ProwessError:
            # Perhaps the file is being edited. The next turn says what is wrong.
            return False
        is_on = _FEATURE in find_features(own) and own.agent.dream_after > 0
        return is_on and time.monotonic() - self._active >= own.agent.dream_after * 60

    def _find_last_message(self) -> ModelMessage | None:
        messages = self._chat.session.messages
        return messages[-1] if messages else None

    async def _think(self) -> None:
        facts = self._chat.skills.facts
        # Another chat of this user that is idle, too, must not do the same at the same time.
        with hold_lock(f"{state_folder(facts)}/dream", seconds=0):
            for saved in await self._collect_plans():
                self._chat.surface.print(f"While you were away, Prowess made a plan. {saved}")

    async def _collect_plans(self) -> list[str]:
        chat, plans = self._chat, list[str]()
        if chat.skills.get(_FEATURE).scope is not Scope.BUNDLED:
            # A project's own skill of that name would run with nobody at the keyboard.
            return plans
        options = msgspec.structs.replace(
            chat.options, model=chat.session.models.reusable_name, record=None, fork=False
        )
        session = open_session(chat.skills, options, None, None, keep=False)
        # Commands that the user types later are the chat's.
        register_commands(chat.skills, find_model=lambda: chat.session.models.reusable_name)
        async with session, aclosing(session.send(f"/{_FEATURE}")) as events:
            async for event in events:
                if isinstance(event, RequestFinished):
                    chat.usage.note(event)
                elif isinstance(event, ToolFinished) and event.tool == "SavePlan":
                    plans += [event.output] if event.outcome == "done" else []
        return plans
