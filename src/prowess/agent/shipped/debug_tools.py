"""The tools of `debug`: turn the debug log on, and follow it."""

from __future__ import annotations

import time

from prowess.agent.shipped.changes import plan_reading
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import UsageError
from prowess.runtime import Skills
from prowess.state.debug_log import LogFollower, start_debug_log

_MOST_SECONDS = 120
_MOST_LOG = 50_000
_LOG_PAUSE = 0.2


class DebugTools:
    """The tools of `debug`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._follower: LogFollower | None = None

    def start_debug_log(self) -> Plan:
        """Turn the debug log on for this process, as PROWESS_DEBUG=1 does from the start."""
        facts = self._skills.facts

        def run(is_cancelled: IsCancelled) -> str:
            path = start_debug_log(facts)
            self._follower = LogFollower(path)
            return f"The debug log is on: {path}. For another process: PROWESS_DEBUG=1 prowess …"

        return plan_reading("Start debug log", run)

    def follow_debug_log(self, seconds: float = 10.0) -> Plan:
        """Wait for new lines in the debug log, as `tail -f` does, and return them.

        Args:
            seconds: How long to wait, at most 120.
        """
        if not 0 < seconds <= _MOST_SECONDS:
            raise UsageError(f"`seconds` is {seconds:g}; it must be from 1 to {_MOST_SECONDS}.")

        def run(is_cancelled: IsCancelled) -> str:
            follower = self._follower
            if follower is None:
                raise UsageError("The debug log is not on yet; call StartDebugLog first.")
            return _follow(follower, seconds, is_cancelled) or "No new lines."

        return plan_reading(f"Follow debug log for {seconds:g} s", run)


def _follow(follower: LogFollower, seconds: float, is_cancelled: IsCancelled) -> str:
    end = time.monotonic() + seconds
    lines = ""
    while not is_cancelled() and len(lines) < _MOST_LOG:
        lines += follower.read_new(_MOST_LOG - len(lines))
        # After the reading, so that what is there is returned however short the wait.
        if time.monotonic() >= end:
            break
        time.sleep(_LOG_PAUSE)
    return lines
