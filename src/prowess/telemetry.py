"""What Prowess does, for those who watch: OpenTelemetry's spans and metrics, the logger `prowess`.

Names, digests, counts and times, never contents: no text of a skill, no command, no argument and no
path. Nothing is imported here. A program that exports spans has loaded OpenTelemetry itself, and
where it has not, an observation costs two lookups.
"""

from __future__ import annotations

import sys
import time
from functools import cache
from types import TracebackType
from typing import Any, Literal

from prowess.version import VERSION

Operation = Literal[
    "scan", "catalog", "activate", "approve", "run", "turn", "subagent", "hook", "compact"
]
Value = str | bool | int | float


class Observation:
    """One operation, from `with` to its end. As a condition, it says whether anyone watches."""

    __slots__ = ()

    def note(self, **attributes: Value | None) -> None:
        """Add what is known by now; None is left out."""

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Observation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


_UNSEEN = Observation()
# Ends an operation that is repeated once someone has answered. By its name: nothing is imported.
_SUSPENSION = "ApprovalNeeded"


def observe(operation: Operation, **attributes: Value | None) -> Observation:
    """Watch an operation: a span `prowess.OPERATION`, its duration, and a line in the log."""
    trace, logger = _find_tracing(), _find_logger()
    if trace is None and logger is None:
        return _UNSEEN
    return _Watched(operation, attributes, trace, logger)


def is_traced() -> bool:
    """Whether the program exports spans."""
    return _find_tracing() is not None


def _find_tracing() -> Any | None:
    """OpenTelemetry, where the program has set it up and not only loaded it."""
    trace = _find_module("opentelemetry.trace", "get_tracer_provider")
    if trace is None:
        return None
    # Until a program sets a provider, OpenTelemetry answers with a stand-in that drops all spans.
    is_set_up = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return trace if is_set_up else None


def _find_module(name: str, needed: str) -> Any | None:
    """A module that the program has loaded; not one that another thread is just loading."""
    module = sys.modules.get(name)
    # A module is in `sys.modules` before its body has run.
    return module if hasattr(module, needed) else None


def _find_logger() -> Any | None:
    """The logger, where the program uses logging and wants to know this much."""
    logging = _find_module("logging", "getLogger")
    if logging is None:
        return None
    logger = logging.getLogger("prowess")
    return logger if logger.isEnabledFor(logging.DEBUG) else None


class _Watched(Observation):
    __slots__ = ("_attributes", "_began", "_current", "_logger", "_operation", "_span", "_trace")

    def __init__(
        self,
        operation: Operation,
        attributes: dict[str, Value | None],
        trace: Any | None,
        logger: Any | None,
    ) -> None:
        self._operation = operation
        self._attributes: dict[str, Value] = {}
        self._trace = trace
        self._logger = logger
        self._span: Any = None
        self._current: Any = None
        self._began = 0.0
        self.note(**attributes)

    def note(self, **attributes: Value | None) -> None:
        known = {name: value for name, value in attributes.items() if value is not None}
        self._attributes.update(known)

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Observation:
        self._began = time.perf_counter()
        if self._trace is not None:
            tracer = self._trace.get_tracer("prowess", VERSION)
            # The message of an error may hold what a skill says, so only its class is recorded.
            self._current = tracer.start_as_current_span(
                f"prowess.{self._operation}",
                record_exception=False,
                set_status_on_exception=False,
            )
            self._span = self._current.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self._began
        failure = kind.__name__ if kind is not None else None
        is_suspended = failure == _SUSPENSION
        if is_suspended:
            # A question to the user is no failure, and must not look like one on a dashboard.
            failure = None
            self.note(suspended=True)
        if self._logger is not None:
            self._log(seconds, failure)
        if self._span is None:
            return
        self._end_span(failure)
        if not is_suspended:
            # It is measured when it is repeated.
            self._measure(seconds, failure)
        self._current.__exit__(kind, error, traceback)

    def _log(self, seconds: float, failure: str | None) -> None:
        assert self._logger is not None
        shown = dict(self._attributes)
        if failure is not None:
            shown["error"] = failure
        pairs = " ".join(f"{name}={value!r}" for name, value in shown.items())
        self._logger.debug("%s %.1f ms %s", self._operation, seconds * 1_000, pairs)

    def _end_span(self, failure: str | None) -> None:
        for name, value in self._attributes.items():
            self._span.set_attribute(f"prowess.{name}", value)
        if failure is not None:
            assert self._trace is not None
            self._span.set_attribute("error.type", failure)
            self._span.set_status(self._trace.StatusCode.ERROR)

    def _measure(self, seconds: float, failure: str | None) -> None:
        if _find_module("opentelemetry.metrics", "get_meter") is None:
            return
        # Few values each, or every series would be one of a kind.
        series: dict[str, Value] = {"prowess.operation": self._operation}
        if "skill" in self._attributes:
            series["prowess.skill"] = self._attributes["skill"]
        if failure is not None:
            series["error.type"] = failure
        _get_histogram("prowess.duration", "s").record(seconds, series)
        tokens = self._attributes.get("tokens")
        if tokens is not None:
            _get_histogram("prowess.tokens", "{token}").record(tokens, series)


@cache
def _get_histogram(name: str, unit: str) -> Any:
    """An instrument, made once; until the program sets a provider, it drops what it is given."""
    meter = sys.modules["opentelemetry.metrics"].get_meter("prowess", VERSION)
    return meter.create_histogram(name, unit=unit)
