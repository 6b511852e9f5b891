"""Worker: one agent of a session, with what its tools need."""

from __future__ import annotations

from prowess.agent.background import BackgroundTasks
from prowess.agent.loop import AgentLoop
from prowess.agent.toolset import CallContext


class Worker:
    """An agent: its loop, what its tools need, and how many agents are above it.

    The messages of one that `is_kept` are those of its session, also on disk. The loop, the context
    and the tasks refer to the worker, so they are set after it is made.
    """

    loop: AgentLoop
    context: CallContext
    tasks: BackgroundTasks

    def __init__(self, name: str, *, depth: int, is_kept: bool) -> None:
        self.name = name
        self.depth = depth
        self.is_kept = is_kept

    def report(self, text: str) -> str | None:
        """Give the agent a message before its next request; its id, None if it does not work."""
        return self.loop.enqueue(text, steer=True)
