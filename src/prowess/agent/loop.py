"""One agent at work: a model, its tools and its messages, turned into events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from pydantic_ai import Agent, AgentRun, CallToolsNode, CancellationToken, UsageLimits
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    RunCancelled,
    RunTimedOut,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    EnqueuedMessagesEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    UserContent,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import Model
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, ThinkingEffort
from pydantic_ai.toolsets import AbstractToolset

from prowess.agent.compaction import Compactor
from prowess.agent.context_overflow import (
    STILL_TOO_LONG,
    TOO_LONG,
    ContextOverflow,
    find_overflow,
)
from prowess.agent.events import (
    Event,
    RequestFinished,
    StreamCut,
    TextDelta,
    ThinkingDelta,
)
from prowess.agent.prompt_content import Prompt
from prowess.agent.rejected_calls import RejectedCalls
from prowess.agent.turn import (
    LimitReached,
    LoopResult,
    Spending,
    fail_unexpectedly,
    shorten,
)
from prowess.errors import ProwessError
from prowess.telemetry import is_traced

# Of tools that do not exist, and of arguments that do not fit, a model may name some in a row.
_RETRIES = 5
_EFFORTS: tuple[ThinkingEffort, ...] = ("minimal", "low", "medium", "high", "xhigh", "max")


class AgentLoop:
    """One agent. Its messages are in `history`; `on_messages` gets new ones as they come about.

    `before_end` is awaited when the model would stop; a message that is queued meanwhile makes it
    go on.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        toolset: AbstractToolset[Any],
        instructions: str,
        *,
        emit: Callable[[Event], None],
        on_response: Callable[[ModelResponse, str], None],
        on_messages: Callable[[Sequence[ModelMessage]], None],
        on_delivered: Callable[[str], None],
        compactor: Compactor | None = None,
        before_end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.name = name
        self.compactor = compactor
        self.history: list[ModelMessage] = []
        self._model = model
        # Not `SelectModel`: pydantic-ai closes the connections of a model that it selected when the
        # run ends, and a new client takes longer than everything else before the first token.
        self._turn_model = WrapperModel(model)
        self._effort: str | int | None = None
        self._emit = emit
        self._on_response = on_response
        self._on_messages = on_messages
        self._on_delivered = on_delivered
        self._before_end = before_end
        self._run: AgentRun[Any, Any] | None = None
        self._agent: Agent[None, str] = Agent(
            self._turn_model,
            name=name or "prowess",
            instructions=instructions,
            toolsets=[toolset],
            retries=_RETRIES,
            capabilities=_list_instrumentation(),
            model_settings=lambda context: self._find_settings(),
        )

    @property
    def model(self) -> Model:
        """The model of the turn."""
        return self._turn_model.wrapped

    @property
    def is_working(self) -> bool:
        """Whether the model works on a prompt."""
        return self._run is not None

    def use(self, model: Model | None, effort: str | int | None) -> None:
        """Use another model or effort for the rest of the turn; None leaves each as it is."""
        self._turn_model.wrapped = model or self._turn_model.wrapped
        self._effort = self._effort if effort is None else effort

    def begin_turn(self) -> None:
        """Forget what applied to the turn before."""
        self._turn_model.wrapped, self._effort = self._model, None
        if self.compactor is not None:
            self.compactor.begin_turn()

    def enqueue(self, *content: UserContent, steer: bool) -> str | None:
        """Give the model a message while it works: before the next request, or when it would stop.

        Returns the id of the message; None if no model is at work any more.
        """
        if self._run is None:
            return None
        try:
            return self._run.enqueue(*content, priority="asap" if steer else "when_idle")
        except UserError:
            # The run has just ended.
            return None

    def note(self, text: str) -> None:
        """Add something to the messages that the model learns with the next prompt."""
        self.history = [*self.history, ModelRequest(parts=[UserPromptPart(text)])]

    async def work(
        self, prompt: Prompt, spending: Spending, token: CancellationToken
    ) -> LoopResult:
        """Let the model work on a prompt until it stops. Errors of the model become the result.

        Messages that are too long for the model are compacted once.
        """
        history = self.history
        try:
            return await self._work_once(prompt, history, spending, token, known=len(history))
        except ContextOverflow as overflow:
            shortened = await self._compact_overflow(overflow)
        if shortened is None:
            return LoopResult(status="failed", reason=TOO_LONG)
        try:
            known = len(shortened) - 1
            return await self._work_once(None, shortened, spending, token, known=known)
        except ContextOverflow:
            return LoopResult(status="failed", reason=STILL_TOO_LONG)

    async def _compact_overflow(self, overflow: ContextOverflow) -> list[ModelMessage] | None:
        """The messages so far, compacted, with the request that was too long; None if not."""
        messages = self.history
        if isinstance(messages[-1], ModelResponse) and not messages[-1].parts:
            # What pydantic-ai keeps of the answer that never began.
            messages = messages[:-1]
        *before, pending = messages
        if self.compactor is None or not isinstance(pending, ModelRequest):
            return None
        shortened = await self.compactor.compact_overflow(
            before, pending, self.model, limit=overflow.limit
        )
        return None if shortened is None else [*shortened, pending]

    async def _work_once(
        self,
        prompt: Prompt | None,
        history: Sequence[ModelMessage],
        spending: Spending,
        token: CancellationToken,
        *,
        known: int,
    ) -> LoopResult:
        """Work on a prompt, or on the last message. The first `known` messages are kept already.

        Raises `ContextOverflow`.
        """
        result = LoopResult()
        run: AgentRun[Any, Any] | None = None
        try:
            async with self._agent.iter(
                prompt,
                message_history=list(history),
                # The agents of a turn share its limit, which `spending` watches.
                usage_limits=UsageLimits(request_limit=None),
                cancellation_token=token,
                timeout=spending.seconds_left,
            ) as run:
                self._run = run
                await self._follow(run, result, spending, known=known)
        except LimitReached as limit:
            result.status, result.reason = "budget", str(limit)
        except RunTimedOut:
            result.status, result.reason = "budget", spending.explain_timeout()
        except RunCancelled:
            result.status, result.reason = "interrupted", "the user stopped it"
        except ProwessError as error:
            result.status, result.reason = "failed", str(error).rstrip(".")
        except (AgentRunError, ModelAPIError) as error:
            overflow = find_overflow(error)
            if overflow is not None:
                raise overflow from error
            self._fail(error, result)
        except Exception as error:
            # Libraries of providers raise whatever they like; the session must go on.
            failed = fail_unexpectedly(error)
            result.status, result.reason = failed.status, failed.reason
        finally:
            self._run = None
            if run is not None:
                self.history = repair_messages(run.all_messages())
                _share_instructions(self.history)
        return result

    async def _follow(
        self, run: AgentRun[Any, Any], result: LoopResult, spending: Spending, *, known: int
    ) -> None:
        """Walk through the steps of a run, and report each as it happens."""
        async for node in run:
            if Agent.is_model_request_node(node):
                if await self._compact(run, node.request):
                    known = len(run.ctx.state.message_history)
                spending.begin_request()
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        self._report_part(event)
                        # Shown now, and not when everything that has arrived is dealt with.
                        await asyncio.sleep(0)
            elif Agent.is_call_tools_node(node):
                self._finish_request(node.model_response, result, spending)
                spending.check_cost()
                if self._before_end is not None and not node.model_response.tool_calls:
                    await self._before_end()
                await self._run_calls(run, node)
            messages = run.all_messages()
            if len(messages) > known:
                self._on_messages(messages[known:])
                known = len(messages)

    async def _run_calls(self, run: AgentRun[Any, Any], node: CallToolsNode[Any, Any]) -> None:
        """Run the calls of an answer. The toolset reports those that reach a tool."""
        rejected = RejectedCalls(self.name, self._emit)
        try:
            async with node.stream(run.ctx) as calls:
                async for event in calls:
                    self._report_part(event)
                    rejected.report(event)
        except UnexpectedModelBehavior as error:
            # Too many in a row; the last ones have no event.
            rejected.end(node.model_response.tool_calls, str(error))
            raise

    async def _compact(self, run: AgentRun[Any, Any], pending: ModelRequest) -> bool:
        """Shorten the messages if the next request needs it; whether that was done."""
        if self.compactor is None:
            return False
        state = run.ctx.state
        messages = await self.compactor.compact_if_full(state.message_history, pending, self.model)
        if messages is None:
            return False
        state.message_history = messages
        return True

    def _report_part(self, event: Any) -> None:
        match event:
            case EnqueuedMessagesEvent(enqueue_id=str(id)):
                self._on_delivered(id)
            case PartStartEvent(part=TextPart(content=text)) if text:
                self._emit(TextDelta(agent=self.name, text=text))
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                self._emit(TextDelta(agent=self.name, text=text))
            case PartStartEvent(part=ThinkingPart(content=text)) if text:
                self._emit(ThinkingDelta(agent=self.name, text=text))
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
                self._emit(ThinkingDelta(agent=self.name, text=text))

    def _finish_request(
        self, response: ModelResponse, result: LoopResult, spending: Spending
    ) -> None:
        usage, cost = response.usage, find_cost(response)
        spending.add(response, cost)
        result.answer = response.text or result.answer
        self._emit(
            RequestFinished(
                agent=self.name,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cache_read_tokens,
                cost=cost,
                model=response.model_name or "",
            )
        )
        self._on_response(response, self.name)
        if _is_cut(response):
            result.status, result.reason = "failed", "the model's answer was cut off"
            self._emit(StreamCut(agent=self.name, reason="the server ended the stream early"))
        elif response.finish_reason == "length":
            result.status, result.reason = "failed", "the model reached its limit on output"
            self._emit(StreamCut(agent=self.name, reason=result.reason))
        else:
            result.status, result.reason = "done", ""

    def _fail(self, error: Exception, result: LoopResult) -> None:
        result.status, result.reason = "failed", _describe(error)
        if isinstance(error, ModelConnectionError):
            self._emit(StreamCut(agent=self.name, reason=result.reason))

    def _find_settings(self) -> ModelSettings:
        effort = next((one for one in _EFFORTS if one == self._effort), None)
        return ModelSettings() if effort is None else ModelSettings(thinking=effort)


def _share_instructions(messages: Iterable[ModelMessage]) -> None:
    """Keep the instructions once: pydantic-ai makes a copy of them for every request."""
    latest: str | None = None
    for message in messages:
        if not isinstance(message, ModelRequest) or message.instructions is None:
            continue
        if message.instructions == latest:
            message.instructions = latest
        latest = message.instructions


def _list_instrumentation() -> list[AbstractCapability[Any]]:
    """What makes spans of requests and calls, where the program exports any."""
    if not is_traced():
        return []
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.models.instrumented import InstrumentationSettings

    settings = InstrumentationSettings(
        include_content=False, include_model_request_parameters=False
    )
    return [Instrumentation(settings)]


def find_cost(response: ModelResponse) -> float | None:
    """What an answer cost in US dollars; None if the price is not known."""
    # Prices are known for models with known names, as their provider spells them.
    with suppress(LookupError, ValueError, AssertionError):
        return float(response.cost().total_price)
    return None


def _is_cut(response: ModelResponse) -> bool:
    """Whether a stream just ended. A connection that is closed says nothing about why, and is taken
    for the end of the answer; but no reason for the end and no count of tokens came either.
    """
    has_reason = "finish_reason" in (response.provider_details or {})
    return bool(response.usage.unmeasured_requests) and not has_reason


def _describe(error: Exception) -> str:
    """What went wrong with the model, as a part of a sentence."""
    if isinstance(error, ModelHTTPError):
        return f"the provider answered with status {error.status_code} ({shorten(str(error.body))})"
    return shorten(str(error)) or type(error).__name__
