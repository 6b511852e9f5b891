"""One scenario for every adapter: what the model does, and an agent that several people share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from prowess.runtime import Skills

Calls = Sequence[tuple[str, Mapping[str, Any]]]
Step = Calls | str | Exception


class Said(NamedTuple):
    """What came of a turn: the answers to its calls, the model's last words, and open questions."""

    answers: list[str]
    output: str = ""
    questions: list[tuple[str, ...]] = []  # noqa: RUF012


class Script:
    """What the model does for each person, one step for each request.

    A step is calls to make at once, the model's last words, or an error of the provider.
    """

    def __init__(self) -> None:
        self._steps: dict[str, list[Step]] = {}
        self._requests: Counter[str] = Counter()

    def plan(self, user: str, *steps: Step) -> None:
        """What the model does in the next requests of a person."""
        self._steps[user] = list(steps)

    def next(self, text: str) -> list[tuple[str, str, Mapping[str, Any]]] | str:
        """The next step for whoever says their name in a text; calls have an id.

        Raises the error of the provider.
        """
        named = re.search(r"I am (\w+)", text)
        assert named is not None, text
        step = self._steps[named[1]].pop(0)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, str):
            return step
        self._requests[named[1]] += 1
        # Everyone has the same ids, as with small providers that count calls.
        turn = self._requests[named[1]]
        return [(f"call{turn}.{place}", tool, args) for place, (tool, args) in enumerate(step)]


class Crew(Protocol):
    """One agent of a library, used by several people."""

    def __init__(self, skills: Skills, script: Script) -> None: ...

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        """A turn of a person's conversation."""
        ...

    async def resume(self, user: str, *, approve: bool) -> Said:
        """Answer the open question of a person, and go on."""
        ...

    async def start_afresh(self, user: str) -> None:
        """Drop a person's messages, as after an error."""
        ...

    async def shorten(self, user: str) -> None:
        """Put a summary in the place of a person's messages, as the library does."""
        ...
