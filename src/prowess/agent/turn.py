"""One turn as numbers: what it may take, what it has taken, and how the work of an agent ended."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import msgspec

from prowess.agent.events import RequestFinished, Status
from prowess.text.display import count_words

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_LOG = logging.getLogger(__name__)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one turn may take: requests to the model, US dollars, seconds. None is no limit."""

    turns: int | None = 100
    cost: float | None = None
    seconds: float | None = None


class LoopResult(msgspec.Struct, kw_only=True):
    """How the work of an agent ended."""

    status: Status = "done"
    answer: str = ""
    reason: str = ""


def fail_unexpectedly(error: Exception) -> LoopResult:
    """The end of work in which something raised what nobody expected; the session goes on."""
    _LOG.debug("An unexpected error.", exc_info=error)
    reason = f"unexpected error: {type(error).__name__}: {shorten(str(error))}"
    return LoopResult(status="failed", reason=reason)


def shorten(text: str, most: int = 300) -> str:
    """A text as one line for a sentence, without its period."""
    line = " ".join(text.split())
    return line.rstrip(".") if len(line) <= most else f"{line[:most]}…"


class Spending:
    """What all agents of one turn have used so far, and the limits that they share."""

    def __init__(self, limits: Limits) -> None:
        self.requests = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost: float | None = None
        self._limits = limits
        self._begun = 0
        self._started = time.monotonic()

    @property
    def seconds_left(self) -> float | None:
        """The time that is left; None is no limit."""
        seconds = self.left.seconds
        # pydantic-ai takes no limit of zero.
        return None if seconds is None else max(seconds, 0.001)

    def begin_request(self) -> None:
        """Count a request before it is sent, because agents may work at the same time."""
        most = self._limits.turns
        if most is not None and self._begun >= most:
            requests = count_words(most, "request")
            raise LimitReached(f"the limit of {requests} to the model was reached")
        self.check_cost()
        self._begun += 1

    def add(self, response: ModelResponse, cost: float | None) -> None:
        """Count what an answer took."""
        self.requests += 1
        self.input_tokens += response.usage.input_tokens
        self.output_tokens += response.usage.output_tokens
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def add_finished(self, request: RequestFinished) -> None:
        """Count a request of an agent that works in another process."""
        self._begun += 1
        self.requests += 1
        self.input_tokens += request.input_tokens
        self.output_tokens += request.output_tokens
        if request.cost is not None:
            self.cost = (self.cost or 0.0) + request.cost

    @property
    def is_exhausted(self) -> bool:
        """Whether the turn may not use more."""
        left = self.left
        amounts = (left.turns, left.cost, left.seconds)
        return any(amount is not None and amount <= 0 for amount in amounts)

    @property
    def left(self) -> Limits:
        """What the turn may still use."""
        most, used = self._limits, time.monotonic() - self._started
        return Limits(
            turns=None if most.turns is None else max(most.turns - self._begun, 0),
            cost=None if most.cost is None else max(most.cost - (self.cost or 0.0), 0.0),
            seconds=None if most.seconds is None else max(most.seconds - used, 0.0),
        )

    def check_cost(self) -> None:
        """Stop an agent once the turn has cost too much."""
        most = self._limits.cost
        if most is not None and (self.cost or 0.0) >= most:
            raise LimitReached(f"the limit of ${most:g} was reached")

    def explain_timeout(self) -> str:
        """Why the turn stops once its time is up."""
        seconds = count_words(self._limits.seconds or 0.0, "second")
        return f"the limit of {seconds} was reached"


class LimitReached(Exception):
    """The turn may not use more; the message says of what."""
