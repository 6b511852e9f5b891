"""The conversations of one agent object, which may serve many people at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from prowess.conversation.conversation import Conversation
from prowess.runtime import Skills

MOST_CONVERSATIONS = 1_000


class Open(Protocol):
    """Opens a conversation with an id, or goes on with one that was saved."""

    def __call__(self, *, session: str | None, saved: str | None) -> Conversation: ...


class Conversations:
    """Finds the conversation of each run by the id that the library gives it.

    A conversation keeps what is awake in it, and the approvals that were given in it. Those used
    least recently are dropped: what the model has is read from its messages, so a dropped one loses
    nothing else. Without an id each call gets a conversation of its own, never one that is shared.
    """

    def __init__(self, skills: Skills | Conversation, *, most: int = MOST_CONVERSATIONS) -> None:
        self.skills = skills
        self._most = most
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self, id: str | None, *, saved: str | None = None, opener: Open | None = None
    ) -> Conversation:
        """The conversation of an id; the one that was given, where there was only one.

        `saved` is what the library kept of it. Another process may have served it since, so what
        woke there is awake here as well. `opener` opens a new one in place of
        `Skills.conversation`.
        """
        if isinstance(self.skills, Conversation):
            return self.skills
        opener = opener or self.skills.conversation
        if id is None:
            return opener(session=None, saved=saved)
        with self._lock:
            known = self._open.get(id)
        # Opened without the lock: it reads settings, and other people's runs need not wait.
        opened = known or opener(session=id, saved=saved)
        with self._lock:
            # Another thread may have opened it meanwhile; then both go on with the same one.
            conversation = self._open.setdefault(id, opened)
            self._open.move_to_end(id)
            while len(self._open) > self._most:
                self._open.popitem(last=False)
        # One that was just opened here has read what was saved.
        is_new = known is None and conversation is opened
        if saved is not None and not is_new:
            conversation.wake_saved(saved)
        return conversation
