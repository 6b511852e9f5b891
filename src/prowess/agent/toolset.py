"""Every call of a tool on its way: planned, shown, judged, written down, run, answered."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Container, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, Unpack

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from prowess.adapters.pydantic_ai import SkillToolset
from prowess.adapters.skill_offer import OfferOptions
from prowess.agent.events import Event, Outcome, SkillsWoken, ToolFinished, ToolStarted
from prowess.agent.hooks.session_hooks import AgentHooks
from prowess.agent.hooks.tool_calls import HookedCall
from prowess.agent.mcp_tools import McpTools, McpToolset
from prowess.agent.permissions import Gatekeeper, Granted, ToolRules
from prowess.agent.shipped.tools import SHIPPED_TOOLS
from prowess.agent.tool_schemas import make_tool
from prowess.agent.tools.bash import BashTool
from prowess.agent.tools.files import FileTools
from prowess.agent.tools.plan import Plan, name_call, render_answer
from prowess.agent.tools.web import WebTool
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError
from prowess.errors.activation import NotPermitted
from prowess.machine.event_loop import run_in_thread
from prowess.model.activation import Activation
from prowess.text.display import count_words
from prowess.text.permission_rules import MCP_PREFIX

# The skills that were loaded during the call of a tool, in the task of that call.
_loaded: ContextVar[list[Activation]] = ContextVar("loaded")


class CallLog(Protocol):
    """Keeps every call on disk, before it runs and after, and the hooks that skills bring."""

    def note_call(self, call: str, tool: str, title: str) -> None:
        """A call is about to run. Raises `MachineError`, and then it does not run."""
        ...

    def note_result(self, call: str, outcome: Outcome) -> None:
        """A call has ended."""
        ...

    def note_hooks(self, skill: str, digest: str) -> None:
        """The hooks of a skill apply from now on."""
        ...


class NoCallLog:
    """A `CallLog` for sessions that are not kept."""

    def note_call(self, call: str, tool: str, title: str) -> None:
        """Keep nothing."""

    def note_result(self, call: str, outcome: Outcome) -> None:
        """Keep nothing."""

    def note_hooks(self, skill: str, digest: str) -> None:
        """Keep nothing."""


@dataclass
class Turn:
    """What applies until the model stops: grants of skills, and whether anything was refused."""

    granted: Granted = field(default_factory=Granted)
    refusals: list[str] = field(default_factory=list)


@dataclass
class CallContext:
    """What calls of tools need from their agent."""

    agent: str
    conversation: Conversation
    gatekeeper: Gatekeeper
    get_rules: Callable[[], ToolRules]
    emit: Callable[[Event], None]
    wait_until_shown: Callable[[], Awaitable[None]]
    log: CallLog
    activated: Callable[[Activation], Awaitable[str | None]]
    hooks: AgentHooks
    turn: Turn = field(default_factory=Turn)


class _Refused(Exception):
    """A call that was not permitted; the message is for the model.

    `is_open` if a person could have permitted it. What a rule denies is settled.
    """

    def __init__(self, reason: str, *, is_open: bool) -> None:
        self.is_open = is_open
        super().__init__(reason)


@dataclass
class GuardedToolset(WrapperToolset[Any]):
    """The tools of an agent. Nothing runs that the rules or the person asked did not allow."""

    context: CallContext = field(kw_only=True)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Carry out a call. Whatever goes wrong in it is an answer to the model."""
        call = ctx.tool_call_id or ""
        started = time.monotonic()
        state = _CallState(name, tool_args, call)
        outcome: Outcome = "failed"
        answer: Any = "The call was interrupted."
        try:
            answer = await self._carry_out(state, ctx, tool)
            outcome = "done"
            return answer
        except _Refused as refusal:
            outcome, answer = "refused", str(refusal)
            if refusal.is_open:
                self.context.turn.refusals.append(answer)
            raise ToolFailed(answer) from None
        except (ModelRetry, ToolFailed) as error:
            answer = error.message
            if isinstance(error.__cause__, NotPermitted):
                outcome = "refused"
                self.context.turn.refusals.append(answer)
            raise
        except ProwessError as error:
            answer = _explain(error)
            raise ToolFailed(answer) from error
        except Exception as error:
            # A bug in a tool must not end the run; the model can try another way.
            answer = f"The tool failed: {type(error).__name__}: {error}"
            raise ToolFailed(answer) from error
        finally:
            self._finish(state, outcome, answer, time.monotonic() - started)

    async def _carry_out(
        self, state: _CallState, ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        hooked = HookedCall(self.context.hooks, state.tool, state.call)
        refusal = await hooked.find_refusal(state.input)
        if refusal is not None:
            self._begin(state, _name_skill_call(state), log=False)
            raise _Refused(refusal, is_open=False)
        state.input = hooked.change_input(state.input, ctx, tool)
        answer = await self._call(state, ctx, tool, hooked)
        return await hooked.finish(state.input, answer, ctx)

    async def _call(
        self, state: _CallState, ctx: RunContext[Any], tool: ToolsetTool[Any], hooked: HookedCall
    ) -> Any:
        context = self.context
        # Loading a skill is judged by the conversation, everything else by the plan.
        activations: list[Activation] = []
        _loaded.set(activations)
        if not _is_planned(state.tool):
            self._begin(state, _name_skill_call(state), log=True)
            await context.wait_until_shown()
            question = hooked.plan_question(state.title)
            if question is not None:
                await self._settle(question)
            answer = await super().call_tool(state.tool, state.input, ctx, tool)
            for activation in activations:
                answer = await context.activated(activation) or answer
            return answer
        plan = await super().call_tool(state.tool, state.input, ctx, tool)
        assert isinstance(plan, Plan)
        self._begin(state, plan.title, diff=plan.diff, log=False)
        # Whoever is asked about a change has seen it.
        await context.wait_until_shown()
        await self._settle(hooked.adjust(plan))
        context.log.note_call(state.call, state.tool, plan.title)
        answer = await _perform(plan)
        if plan.touched is not None:
            await self._touch(plan.touched)
        return answer

    async def _settle(self, plan: Plan) -> None:
        """Have a call permitted by the rules or by a person, or raise `_Refused`."""
        context = self.context
        permit = await context.gatekeeper.settle(plan, context.get_rules(), context.turn.granted)
        if permit.granted:
            return
        feedback = f" The user says: {permit.feedback}" if permit.feedback else ""
        prefix = "" if permit.by == "nobody" else "Not permitted: "
        reason = f"{prefix}{permit.reason.rstrip('.')}.{feedback}"
        raise _Refused(reason, is_open=permit.by in ("person", "nobody"))

    def _begin(self, state: _CallState, title: str, *, diff: str = "", log: bool) -> None:
        state.title = title
        if log:
            self.context.log.note_call(state.call, state.tool, title)
        self.context.emit(
            ToolStarted(
                agent=self.context.agent,
                call=state.call,
                tool=state.tool,
                title=title,
                input=state.input,
                diff=diff,
            )
        )

    def _finish(self, state: _CallState, outcome: Outcome, answer: Any, seconds: float) -> None:
        if not state.title:
            # The call could not even be planned, so that nobody was told of it yet.
            self._begin(state, state.tool, log=False)
        self.context.emit(
            ToolFinished(
                agent=self.context.agent,
                call=state.call,
                tool=state.tool,
                outcome=outcome,
                output=render_answer(answer),
                seconds=round(seconds, 3),
            )
        )
        self.context.log.note_result(state.call, outcome)

    async def _touch(self, path: str) -> None:
        """Wake the skills that wait for a file, and find those in its folder."""
        conversation = self.context.conversation
        woken = await run_in_thread(lambda is_cancelled: conversation.touched(path))
        if woken:
            names = tuple(skill.name for skill in woken)
            self.context.emit(SkillsWoken(agent=self.context.agent, names=names))


async def _perform(plan: Plan) -> str | list[Any]:
    if plan.delegate is not None:
        return _bound(await plan.delegate())
    assert plan.run is not None
    answer = await run_in_thread(plan.run)
    return _bound(answer) if isinstance(answer, str) else answer


def _bound(answer: str) -> str:
    """An answer that leaves room for others: one call must not fill the window."""
    if len(answer) <= _MOST_CHARACTERS:
        return answer
    left = count_words(len(answer) - _MOST_CHARACTERS, "more character")
    return f"{answer[:_MOST_CHARACTERS]}\n[{left}; ask for less]"


@dataclass
class _CallState:
    tool: str
    input: dict[str, Any]
    call: str
    title: str = ""


def _name_skill_call(state: _CallState) -> str:
    """A call of one of the tools for skills, as a person reads it."""
    return name_call(state.tool.replace("_", " ").capitalize(), state.input)


def _explain(error: ProwessError) -> str:
    return f"{error} {error.hint}" if error.hint else str(error)


TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "Task")
_MOST_CHARACTERS = 100_000
_CHANGING = ("Write", "Edit", "Bash")


def _is_planned(tool: str) -> bool:
    """Whether a tool gives a plan of what it would do, as all do but those for skills."""
    return tool in TOOLS or tool in SHIPPED_TOOLS or tool.startswith(MCP_PREFIX)


def build_toolset(
    context: CallContext,
    files: FileTools,
    bash: BashTool,
    web: WebTool,
    task: Callable[..., Plan],
    *,
    shipped: AbstractToolset[Any],
    mcp: McpTools | None = None,
    only: Container[str] | None = None,
    **catalog_options: Any,
) -> AbstractToolset[Any]:
    """The tools of an agent: files, commands, the web, sub-agents, MCP servers, and for skills.

    `shipped` are those of the skills that ship. `only` are the ones it may have, except for those
    for skills; None is all.
    """
    functions: tuple[Callable[..., Plan], ...] = (
        files.read,
        files.write,
        files.edit,
        files.glob,
        files.grep,
        bash.bash,
        web.fetch,
        task,
    )
    planned = FunctionToolset[Any](
        [
            # Whatever changes something waits for the calls before it, and those after it wait.
            make_tool(name, function, sequential=name in _CHANGING)
            for function, name in zip(functions, TOOLS, strict=True)
            if only is None or name in only
        ]
    )
    others = (shipped,) if mcp is None else (shipped, McpToolset(mcp, only))
    tools = AgentTools(
        context.conversation,
        planned,
        others,
        on_activation=lambda activation, run: _loaded.get().append(activation),
        **catalog_options,
    )
    return GuardedToolset(tools, context=context)


class AgentTools(SkillToolset):
    """All tools of an agent as one toolset: those for skills, the planned ones, and others.

    pydantic-ai starts tasks for every request where there are several toolsets, which take longer
    than all that the toolsets do.
    """

    def __init__(
        self,
        skills: Conversation,
        planned: FunctionToolset[Any],
        others: Sequence[AbstractToolset[Any]],
        **options: Unpack[OfferOptions],
    ) -> None:
        super().__init__(skills, **options)
        self._planned = planned
        self._others = others
        # The planned tools never change, except for the number of retries of the run.
        self._listed: tuple[int, dict[str, ToolsetTool[Any]]] | None = None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """All tools, always in the same order, so that a provider can cache them."""
        if self._listed is None or self._listed[0] != ctx.max_retries:
            self._listed = (ctx.max_retries, await self._planned.get_tools(ctx))
        tools = {**self._listed[1], **await super().get_tools(ctx)}
        for toolset in self._others:
            tools |= await toolset.get_tools(ctx)
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Let the toolset that a tool is of carry out a call."""
        if tool.toolset is self:
            return await super().call_tool(name, tool_args, ctx, tool)
        return await tool.toolset.call_tool(name, tool_args, ctx, tool)
