"""The hooks of a session and of each agent in it: which run at an event, and what they decide."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from prowess.agent.events import Event, HookFinished, HookOutcome, Warned
from prowess.agent.hooks.process import HookProcess
from prowess.agent.hooks.reply import HookReply, drop_allow, merge_replies
from prowess.agent.hooks.sources import GatheredHooks
from prowess.errors.activation import Cancelled
from prowess.machine.event_loop import run_in_thread
from prowess.model.hooks import Hook
from prowess.telemetry import observe
from prowess.text.hooks import matches_hook

_LOG = logging.getLogger(__name__)
# A model that is told to go on may do the same again and again.
MOST_CONTINUATIONS = 5
# Events with a subject that is compared with the matcher of a hook: a tool, an agent, or how a
# session starts.
_ABOUT_TOOLS = ("PreToolUse", "PostToolUse")
_MATCHED = (*_ABOUT_TOOLS, "SessionStart", "SubagentStop")
# Whose hooks can permit a call. A skill has `allowed-tools` for what it may permit.
_MAY_ALLOW = ("user",)


class SessionHooks:
    """The hooks of one session.

    `is_interrupted` says whether the user stopped the turn, and `interrupt` stops it. Where a hook
    wanted that, `stop_reason` says why, until the next turn.
    """

    def __init__(
        self,
        gathered: GatheredHooks,
        process: HookProcess,
        *,
        emit: Callable[[Event], None],
        is_interrupted: Callable[[], bool],
        interrupt: Callable[[], None],
    ) -> None:
        self.stop_reason: str | None = None
        self._hooks = gathered.hooks
        self._warnings = list(gathered.warnings)
        self._process = process
        self._emit = emit
        self._is_interrupted = is_interrupted
        self._interrupt = interrupt
        # Those that ran and were to run once.
        self._spent: set[Hook] = set()

    @property
    def has_any(self) -> bool:
        """Whether the settings or plugins have hooks."""
        return bool(self._hooks)

    def open_agent(self, agent: str, inherited: Iterable[Hook] = ()) -> AgentHooks:
        """The hooks of one agent; a sub-agent inherits those of its parent."""
        return AgentHooks(self, agent, inherited)

    async def run(
        self,
        event: str,
        fields: Mapping[str, Any],
        *,
        subject: str = "",
        agent: str = "",
        call: str = "",
        added: Iterable[Hook] = (),
    ) -> HookReply:
        """Run every hook of an event, all at the same time, and merge what they say."""
        self._warn_left()
        chosen = [one for one in (*self._hooks, *added) if self._is_due(one, event, subject)]
        if not chosen:
            return HookReply()
        # Before they run: the same event may come again meanwhile, from another agent.
        self._spent.update(one for one in chosen if one.once)
        reply = await self._run_all(chosen, event, fields, agent=agent, call=call)
        if reply.stops and event in _ABOUT_TOOLS:
            self.stop_reason = reply.reason or "no reason given"
            self._interrupt()
        return reply

    async def _run_all(
        self, hooks: Sequence[Hook], event: str, fields: Mapping[str, Any], *, agent: str, call: str
    ) -> HookReply:
        runs = [self._run_one(one, fields, agent=agent, call=call) for one in hooks]
        replies = await asyncio.gather(*runs)
        changes = [index for index, one in enumerate(replies) if one.input is not None]
        # Only before a call is there an input that can still be changed.
        if event != "PreToolUse" or not changes:
            return merge_replies(replies)
        last = changes[-1]
        # An `allow` is for the input that its hook saw or gave, not for that of another hook.
        valid = [one if index == last else drop_allow(one) for index, one in enumerate(replies)]
        merged = merge_replies(valid)
        own = [one for one in hooks if one.source in _MAY_ALLOW]
        is_users_change = hooks[last].source in _MAY_ALLOW
        if is_users_change or not own:
            return merged
        # Others must not get a command past the user's own hooks by changing it after the fact.
        changed = {**fields, "tool_input": merged.input}
        again = await self._run_all(own, event, changed, agent=agent, call=call)
        return merge_replies((merged, again))

    def _warn_left(self) -> None:
        """Say once which hooks do not run."""
        warnings, self._warnings = self._warnings, []
        for warning in warnings:
            self._emit(warning)

    def warn_continued(self, agent: str) -> None:
        """Say that hooks made an agent go on as often as they may."""
        message = f"Hooks made the agent continue {MOST_CONTINUATIONS} times; now it stops."
        self._emit(Warned(agent=agent, code="hook-loop", message=message))

    def _is_due(self, hook: Hook, event: str, subject: str) -> bool:
        if hook.event != event or hook in self._spent:
            return False
        # A matcher of an event without a subject is ignored, as Claude Code does.
        return event not in _MATCHED or matches_hook(hook, subject)

    async def _run_one(
        self, hook: Hook, fields: Mapping[str, Any], *, agent: str, call: str
    ) -> HookReply:
        started = time.monotonic()
        with observe("hook", event=hook.event, source=hook.source) as seen:
            reply = await run_in_thread(lambda is_cancelled: self._try(hook, fields, is_cancelled))
            seen.note(outcome=_name_outcome(reply))
        if hook.source not in _MAY_ALLOW:
            # What others wrote permits nothing; of a project, the model could have written it.
            reply = drop_allow(reply)
        self._emit(
            HookFinished(
                agent=agent,
                hook=hook.event,
                command=hook.command or hook.kind,
                source=hook.source,
                name=hook.name,
                call=call,
                outcome=_name_outcome(reply),
                message=reply.failure or reply.message or reply.reason,
                seconds=round(time.monotonic() - started, 3),
            )
        )
        return reply

    def _try(
        self, hook: Hook, fields: Mapping[str, Any], is_cancelled: Callable[[], bool]
    ) -> HookReply:
        def is_stopped() -> bool:
            return is_cancelled() or self._is_interrupted()

        try:
            return self._process.run(hook, fields, is_stopped)
        except Cancelled:
            return HookReply(failure="it was interrupted")
        except Exception as error:
            # Whatever is wrong with a hook, the session goes on.
            _LOG.debug("A hook failed.", exc_info=True)
            return HookReply(failure=f"{type(error).__name__}: {error}")


def _name_outcome(reply: HookReply) -> HookOutcome:
    if reply.failure:
        return "failed"
    return "blocked" if reply.is_refusal else "done"


class AgentHooks:
    """The hooks that apply to one agent: those of the session, and those of skills it loaded.

    `digests` are those of the hooks of each skill that the agent loaded itself.
    """

    def __init__(self, session: SessionHooks, agent: str, inherited: Iterable[Hook]) -> None:
        self._session = session
        self._agent = agent
        self._inherited = tuple(inherited)
        self._own: dict[Hook, None] = {}
        self.digests: dict[str, str] = {}

    @property
    def added(self) -> tuple[Hook, ...]:
        """The hooks of skills, which sub-agents inherit."""
        return tuple(dict.fromkeys((*self._inherited, *self._own)))

    def add(self, hooks: Iterable[Hook]) -> None:
        """Add the hooks of a skill, for as long as the agent is there."""
        for hook in hooks:
            if self._agent and hook.event == "Stop":
                # For a skill in a sub-agent, the end is the end of that agent.
                hook = msgspec.structs.replace(hook, event="SubagentStop")
            self._own[hook] = None

    async def run(self, event: str, subject: str = "", **fields: Any) -> HookReply:
        """Run the hooks of an event that is not about a tool."""
        return await self._session.run(
            event, fields, subject=subject, agent=self._agent, added=self.added
        )

    async def before_tool(self, tool: str, input: Mapping[str, Any], call: str) -> HookReply:
        """Run the hooks that judge a call before it happens."""
        fields = {"tool_name": tool, "tool_input": dict(input), "tool_use_id": call}
        return await self._run_tool("PreToolUse", fields, tool, call)

    async def after_tool(
        self, tool: str, input: Mapping[str, Any], answer: str, call: str
    ) -> HookReply:
        """Run the hooks that look at what a call did."""
        fields = {
            "tool_name": tool,
            "tool_input": dict(input),
            "tool_response": {"success": True, "output": answer},
            "tool_use_id": call,
        }
        return await self._run_tool("PostToolUse", fields, tool, call)

    async def _run_tool(
        self, event: str, fields: Mapping[str, Any], tool: str, call: str
    ) -> HookReply:
        return await self._session.run(
            event, fields, subject=tool, agent=self._agent, call=call, added=self.added
        )

    async def find_continuation(self, answer: str, *, continued: int) -> str | None:
        """What the agent is told instead of being allowed to stop; None if it may.

        `continued` is how often that has happened already.
        """
        event = "SubagentStop" if self._agent else "Stop"
        fields: dict[str, Any] = {
            "stop_hook_active": continued > 0,
            "last_assistant_message": answer,
        }
        if self._agent:
            fields["agent_type"] = self._agent
        reply = await self.run(event, self._agent, **fields)
        if reply.decision != "deny" or reply.stops:
            return None
        if continued >= MOST_CONTINUATIONS:
            self._session.warn_continued(self._agent)
            return None
        return f"A hook says that you cannot stop yet: {reply.reason}"
