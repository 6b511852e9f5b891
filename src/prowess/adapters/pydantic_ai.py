"""Skills for pydantic-ai: `Agent(model, toolsets=[SkillToolset(skills)])`."""

from __future__ import annotations

import asyncio
import base64
import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Unpack

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import describe_question, explain_unasked, read_approval
from prowess.adapters.compaction import find_lost, render_lost, render_survivors
from prowess.adapters.media import parse_block
from prowess.adapters.policy import (
    FIELDS,
    GrantedRequests,
    keep_granted,
    merge_granted,
    parse_granted,
)
from prowess.adapters.skill_offer import (
    OfferedSkills,
    OfferOptions,
    SkillOffer,
    explain_import,
    get_versions,
    list_loaded,
)
from prowess.adapters.skill_tools import OfferedTool, SkillCallContext, ToolOutput
from prowess.conversation.conversation import Conversation
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.runtime import Skills

try:
    from pydantic_ai import (
        ApprovalRequired,
        DeferredToolRequests,
        DeferredToolResults,
        ModelRetry,
        ModelSettings,
        RunContext,
        ToolDefinition,
        ToolFailed,
        ToolReturn,
    )
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        BinaryContent,
        DocumentUrl,
        ImageUrl,
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextContent,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext, ModelSelectionContext
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    explain_import(
        error,
        extra="pydantic-ai",
        module="pydantic_ai",
        purpose="give skills to a pydantic-ai agent",
    )

_AN_OBJECT = SchemaValidator(
    core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
)
_IN_FORK = {"prowess": "fork"}
_GIVEN_BACK = {"prowess": "skills given back"}
Content = str | list[str | BinaryContent | ImageUrl | DocumentUrl]


class SkillToolset(AbstractToolset[Any]):
    """The tools for skills, and the instructions that list them, made for every request.

    One toolset serves any number of people: the conversation of a run is found by its
    `conversation_id`, unless the option `conversation` finds it in `ctx.deps` or elsewhere. For an
    unknown name the model is asked to try again, at most `max_retries` times in a row; a refusal or
    a failure is final.
    """

    def __init__(
        self,
        skills: Skills | Conversation,
        *,
        id: str = "skills",
        max_retries: int = 3,
        **options: Unpack[OfferOptions],
    ) -> None:
        self._offer = SkillOffer(skills, **options)
        self._offer.applied = frozenset({"context"})
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str:
        return self._id

    def conversation(self, ctx: RunContext[Any]) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return self._offer.open(ctx, ctx.conversation_id)

    async def get_instructions(self, ctx: RunContext[Any]) -> InstructionPart | None:
        """The list of skills. A change is appended, so that the provider's cache stays valid."""
        text = (await self._load_described(ctx)).instructions
        return InstructionPart(content=text, dynamic=True, on_change="append") if text else None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools."""
        described = await self._load_described(ctx)
        return {tool.name: self._make_tool(tool, described.examples) for tool in described.tools}

    async def _load_described(self, ctx: RunContext[Any]) -> OfferedSkills:
        """The instructions and tools; in this thread where they are as in the last request."""
        # Changing threads takes longer than everything else that happens here.
        kept = self._offer.find_described()
        if kept is not None:
            return kept
        return await asyncio.to_thread(lambda: self._offer.describe(self.conversation(ctx)))

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Content | ToolReturn[Any]:
        """Carry a call out, in another thread."""
        context = SkillCallContext(
            conversation=await asyncio.to_thread(self.conversation, ctx),
            loaded=get_versions(self._list_loaded(ctx)),
            response=f"{ctx.run_id}#{ctx.run_step}",
            call_id=ctx.tool_call_id or "",
            run=ctx,
            suspend=_make_suspension(ctx) if self._offer.suspends else None,
        )
        output = await self._offer.call_async(name, tool_args, context)
        if output.error is not None:
            raise _translate(output) from output.error
        is_fork = output.granted is not None and output.granted.fork
        can_fork = ctx.agent is not None and ctx.metadata != _IN_FORK
        if is_fork and can_fork:
            return await self._follow(ctx, output)
        media = [convert_block(block) for block in output.blocks]
        content: Content = [output.text, *media] if media else output.text
        if output.granted is None:
            return content
        return ToolReturn(return_value=content, metadata=keep_granted(output.granted))

    async def _follow(self, ctx: RunContext[Any], output: ToolOutput) -> str:
        """Let a sub-agent follow a skill; its answer is the result of the call."""
        assert ctx.agent is not None
        # A skill that it loads is loaded in the sub-agent itself, or forks would never end.
        result = await ctx.agent.run(
            output.text, deps=ctx.deps, usage=ctx.usage, metadata=dict(_IN_FORK)
        )
        if isinstance(result.output, DeferredToolRequests):
            # The sub-agent's run ends with this call, so nobody could resume it with the answers.
            waiting = (*result.output.approvals, *result.output.calls)
            raise ToolFailed(explain_unasked(call.tool_name for call in waiting))
        return str(result.output)

    def _list_loaded(self, ctx: RunContext[Any]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(ctx.messages, tool=self._offer.load_tool.name)

    def _make_tool(self, tool: OfferedTool, examples: Sequence[str]) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=_add_examples(tool, examples),
        )
        return ToolsetTool[Any](
            toolset=self,
            tool_def=definition,
            max_retries=self._max_retries,
            args_validator=_AN_OBJECT,
        )


class SkillCapability(AbstractCapability[Any]):
    """Skills as a capability: the toolset, and what only a capability can do.

    What a policy grants is applied until the user's next message, and skills that another
    capability drops from the messages are given back. List it last, so that it sees the messages as
    the model gets them. The arguments are those of `SkillToolset`.
    """

    def __init__(
        self,
        skills: Skills | Conversation,
        *,
        id: str = "skills",
        max_retries: int = 3,
        **options: Unpack[OfferOptions],
    ) -> None:
        self.id = id
        self._skills = skills
        self._toolset = _RunToolset(skills, id=id, max_retries=max_retries, **options)
        self._offer = self._toolset.offer
        self._offer.applied = frozenset(FIELDS)
        self._before: tuple[LoadedSkill, ...] = ()

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None

    def conversation(self, ctx: RunContext[Any]) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return self._toolset.conversation(ctx)

    def get_toolset(self) -> AbstractToolset[Any]:
        return self._toolset

    def get_model(self) -> Callable[[ModelSelectionContext[Any]], Any] | None:
        models = self._offer.policy.models
        if not models:
            return None
        return lambda ctx: models.get(self._list_granted(ctx.messages).model or "", ctx.model)

    def get_model_settings(self) -> Callable[[RunContext[Any]], ModelSettings] | None:
        if not self._offer.policy.effort:
            return None

        def choose(ctx: RunContext[Any]) -> ModelSettings:
            effort: Any = self._list_granted(ctx.messages).effort
            return ModelSettings(thinking=effort) if effort else ModelSettings()

        return choose

    async def for_run(self, ctx: RunContext[Any]) -> SkillCapability:
        """One for each run, because it follows the run's messages."""
        own = copy.copy(self)
        own._toolset = copy.copy(self._toolset)
        return own

    async def prepare_tools(
        self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        granted = self._list_granted(ctx.messages)
        return [tool for tool in tool_defs if not granted.forbids(tool.name)]

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Approve calls of tools that a skill was granted."""
        granted = self._list_granted(ctx.messages)
        own = {tool.name for tool in self._offer.tools}
        approved: dict[str, Any] = {
            call.tool_call_id: True
            for call in requests.approvals
            if granted.allows(call.tool_name) and call.tool_name not in own
        }
        return DeferredToolResults(approvals=approved) if approved else None

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        self._before = self._list_loaded(request_context.messages)
        response: ModelResponse = await handler(request_context)
        return response

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Give skills back that were dropped, and note what the request has."""
        lost = find_lost(self._before, self._list_loaded(request_context.messages))
        if lost:
            text = await asyncio.to_thread(render_survivors, self._skills, lost)
            message = build_survivors(text)
            # First, where it never comes between a call and its result.
            request_context.messages = [message, *request_context.messages]
            ctx.messages.insert(0, message)
        self._toolset.loaded = self._list_loaded(request_context.messages)
        return request_context

    def _list_loaded(self, messages: Sequence[ModelMessage]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(messages, tool=self._offer.load_tool.name)

    def _list_granted(self, messages: Sequence[ModelMessage]) -> GrantedRequests:
        """What skills were granted since the user's last message."""
        newest_first: list[GrantedRequests] = []
        for message in reversed(messages):
            parts = message.parts if isinstance(message, ModelRequest) else ()
            kept = [parse_granted(getattr(part, "metadata", None)) for part in parts]
            newest_first += filter(None, kept)
            if any(isinstance(part, UserPromptPart) for part in parts):
                break
        return merge_granted(reversed(newest_first))


class _RunToolset(SkillToolset):
    """The toolset of one run, which knows the messages as the model got them."""

    loaded: tuple[LoadedSkill, ...] | None = None

    @property
    def offer(self) -> SkillOffer:
        return self._offer

    def _list_loaded(self, ctx: RunContext[Any]) -> tuple[LoadedSkill, ...]:
        return super()._list_loaded(ctx) if self.loaded is None else self.loaded


def list_loaded_skills(
    messages: Sequence[ModelMessage], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    answers: list[str] = []
    survivors: list[str] = []
    for message in messages:
        parts = message.parts if isinstance(message, ModelRequest) else ()
        for part in parts:
            if isinstance(part, ToolReturnPart) and part.tool_name == tool:
                answers.append(_get_text(part.content))
            elif isinstance(part, UserPromptPart):
                survivors += _list_given_back(part)
    return list_loaded(answers, survivors)


def _list_given_back(prompt: UserPromptPart) -> list[str]:
    """The texts in a prompt that a compaction gave back, known by their metadata."""
    if isinstance(prompt.content, str):
        return []
    texts = [item for item in prompt.content if isinstance(item, TextContent)]
    return [text.content for text in texts if text.metadata == _GIVEN_BACK]


def compact_skills(
    skills: Skills | Conversation,
    before: Sequence[ModelMessage] | None = None,
    after: Sequence[ModelMessage] = (),
) -> list[ModelMessage]:
    """What to append to a shortened message history: the skills that it lost, as one message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    text = render_lost(skills, list_loaded_skills, before, after)
    return [build_survivors(text)] if text else []


def build_survivors(text: str) -> ModelRequest:
    """The message that gives skills back, from their text."""
    # Marked in the text itself: pydantic-ai merges neighbouring requests and drops their metadata.
    content = [TextContent(text, metadata=dict(_GIVEN_BACK))]
    return ModelRequest(parts=[UserPromptPart(content=content)])


def _make_suspension(ctx: RunContext[Any]) -> Callable[[ApprovalRequest], ApprovalAnswer]:
    """Defers a call that needs approval; one that was approved gets its answer."""
    if ctx.tool_call_approved:
        return read_approval(ctx.tool_call_metadata).answer

    def suspend(request: ApprovalRequest) -> NoReturn:
        raise ApprovalRequired(metadata=describe_question(request))

    return suspend


def _add_examples(tool: OfferedTool, examples: Sequence[str]) -> dict[str, Any]:
    """The schema with names of skills as examples, which `TestModel` calls the tool with."""
    if tool.kind not in ("load", "run") or not examples:
        return dict(tool.parameters)
    name = tool.parameters["required"][0]
    properties = dict(tool.parameters["properties"])
    properties[name] = {**properties[name], "examples": list(examples)}
    return {**tool.parameters, "properties": properties}


def _get_text(content: Any) -> str:
    """The first text of a result, which is where the tool puts a skill."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return next((part for part in parts if isinstance(part, str)), "")


def _translate(output: ToolOutput) -> ModelRetry | ToolFailed:
    return ModelRetry(output.text) if output.can_correct else ToolFailed(output.text)


def convert_block(block: Mapping[str, Any]) -> str | BinaryContent | ImageUrl | DocumentUrl:
    """A content block as pydantic-ai has it. Raises `ValueError` for bytes that are not base64."""
    media = parse_block(block)
    if isinstance(media, str):
        return media
    if media.url:
        return ImageUrl(media.url) if media.is_image else DocumentUrl(media.url)
    return BinaryContent(base64.b64decode(media.data), media_type=media.media_type)
