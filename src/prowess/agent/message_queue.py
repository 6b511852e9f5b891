"""What the user typed while the model works, until the model has received it."""

from __future__ import annotations

import time
from typing import NamedTuple

from prowess.activate.slash.messages import Delivery
from prowess.conversation.slash_commands import RunResult


class QueuedMessage(NamedTuple):
    """What was typed; `typed` is what became of it, if it was interpreted already."""

    text: str
    typed: RunResult | None = None


class MessageQueue:
    """Messages that have not reached the model, by their ids, in the order they were typed."""

    def __init__(self) -> None:
        self._waiting: dict[str, QueuedMessage] = {}
        # What became of texts that were interpreted and then did not reach the model.
        self._interpreted: dict[str, RunResult] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """What waits, as it was typed."""
        return tuple(one.text for one in self._waiting.values())

    def add(self, id: str, text: str, typed: RunResult) -> None:
        """Note a message that the model is to receive under an id."""
        self._waiting[id] = QueuedMessage(text, typed)

    def add_prompt(self, text: str, typed: RunResult | None = None) -> Delivery:
        """Keep a text for the next turn."""
        id = f"prompt-{len(self._waiting)}-{time.time_ns():x}"
        self._waiting[id] = QueuedMessage(text, typed)
        return Delivery.PROMPT

    def pop_delivered(self, id: str) -> QueuedMessage | None:
        """Forget a message that has reached the model; None if it was none of these."""
        return self._waiting.pop(id, None)

    def take_all(self) -> tuple[str, ...]:
        """Empty the queue, for someone who sends the texts again."""
        texts = self.texts
        for one in self._waiting.values():
            if one.typed is not None:
                self._interpreted[one.text] = one.typed
        self._waiting.clear()
        return texts

    def pop_interpreted(self, text: str) -> RunResult | None:
        """What became of a text that was taken from the queue; a command must not run twice."""
        return self._interpreted.pop(text, None)
