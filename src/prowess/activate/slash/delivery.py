"""When a message reaches the model: the key that sent it decides, and nothing else does."""

from __future__ import annotations

from enum import Enum


class Key(str, Enum):
    """The two ways to send what was typed; the values are the usual keys."""

    SEND = "enter"
    FOLLOW_UP = "ctrl+enter"


class Delivery(str, Enum):
    """What becomes of a message: an ordinary prompt, a word to a model that is at work, or what
    comes after that.
    """

    PROMPT = "prompt"
    STEER = "steer"
    FOLLOW_UP = "follow-up"


_WHILE_STREAMING: dict[Key, Delivery] = {
    Key.SEND: Delivery.STEER,
    Key.FOLLOW_UP: Delivery.FOLLOW_UP,
}


def find_delivery(key: Key = Key.SEND, *, streaming: bool = False) -> Delivery:
    """The delivery of a message that was sent by a key, while the model is at work or not."""
    return _WHILE_STREAMING[key] if streaming else Delivery.PROMPT
