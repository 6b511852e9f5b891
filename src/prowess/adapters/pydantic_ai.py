"""Skills for pydantic-ai: `Agent(model, toolsets=[SkillToolset(skills)])`."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Unpack

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import describe_question, read_approval
from prowess.adapters.compaction import find_lost, render_survivors
from prowess.adapters.media import parse_block
from prowess.adapters.skill_offer import (
    OfferOptions,
    SkillOffer,
    explain_import,
    get_versions,
    list_loaded,
)
from prowess.adapters.skill_tools import CallContext, OfferedTool, ToolOutput
from prowess.conversation.conversation import Conversation
from prowess.model.permission import Answer, Request
from prowess.runtime import Skills

try:
    from pydantic_ai import ApprovalRequired, ModelRetry, RunContext, ToolDefinition, ToolFailed
    from pydantic_ai.messages import (
        BinaryContent,
        DocumentUrl,
        ImageUrl,
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ToolReturnPart,
        UserPromptPart,
    )
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
        self._id = id
        self._max_retries = max_retries
        self._examples: list[str] | None = None

    @property
    def id(self) -> str:
        return self._id

    def conversation(self, ctx: RunContext[Any]) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return self._offer.open(ctx, ctx.conversation_id)

    async def get_instructions(self, ctx: RunContext[Any]) -> InstructionPart | None:
        """The list of skills. A change is appended, so that the provider's cache stays valid."""
        text = await asyncio.to_thread(
            lambda: self._offer.render_instructions(self.conversation(ctx))
        )
        return InstructionPart(content=text, dynamic=True, on_change="append") if text else None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools."""
        tools = await asyncio.to_thread(self._list_tools, ctx)
        return {tool.name: self._make_tool(tool) for tool in tools}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Content:
        """Carry a call out, in another thread."""
        context = CallContext(
            conversation=await asyncio.to_thread(self.conversation, ctx),
            loaded=get_versions(list_loaded_skills(ctx.messages, tool=self._offer.load_tool.name)),
            response=f"{ctx.run_id}#{ctx.run_step}",
            call_id=ctx.tool_call_id or "",
            run=ctx,
            suspend=_make_suspension(ctx) if self._offer.suspends else None,
        )
        output = await self._offer.call_async(name, tool_args, context)
        if output.error is not None:
            raise _translate(output) from output.error
        media = [_convert(block) for block in output.blocks]
        return [output.text, *media] if media else output.text

    def _list_tools(self, ctx: RunContext[Any]) -> tuple[OfferedTool, ...]:
        conversation = self.conversation(ctx)
        if self._examples is None:
            # Found once: a schema that changes would invalidate the provider's cache.
            self._examples = self._offer.list_examples(conversation)
        return self._offer.list_tools(conversation)

    def _make_tool(self, tool: OfferedTool) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=_add_examples(tool, self._examples or ()),
        )
        return ToolsetTool[Any](
            toolset=self,
            tool_def=definition,
            max_retries=self._max_retries,
            args_validator=_AN_OBJECT,
        )


def list_loaded_skills(
    messages: Sequence[ModelMessage], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    answers = [
        _get_text(part.content)
        for request in requests
        for part in request.parts
        if isinstance(part, ToolReturnPart) and part.tool_name == tool
    ]
    survivors = [
        str(part.content)
        for request in requests
        if request.metadata == _GIVEN_BACK
        for part in request.parts
        if isinstance(part, UserPromptPart)
    ]
    return list_loaded(answers, survivors)


def compact_skills(
    skills: Skills | Conversation,
    before: Sequence[ModelMessage] | None = None,
    after: Sequence[ModelMessage] = (),
) -> list[ModelMessage]:
    """What to append to a shortened message history: the skills that it lost, as one message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    tool, lost = skills.profile.tool.name, None
    if before is not None:
        lost = find_lost(
            list_loaded_skills(before, tool=tool), list_loaded_skills(after, tool=tool)
        )
    text = render_survivors(skills, lost)
    if not text:
        return []
    return [ModelRequest(parts=[UserPromptPart(content=text)], metadata=dict(_GIVEN_BACK))]


def _make_suspension(ctx: RunContext[Any]) -> Callable[[Request], Answer]:
    """Defers a call that needs approval; one that was approved gets its answer."""
    if ctx.tool_call_approved:
        return read_approval(ctx.tool_call_metadata).answer

    def suspend(request: Request) -> NoReturn:
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


def _convert(block: Mapping[str, Any]) -> str | BinaryContent | ImageUrl | DocumentUrl:
    media = parse_block(block)
    if isinstance(media, str):
        return media
    if media.url:
        return ImageUrl(media.url) if media.is_image else DocumentUrl(media.url)
    return BinaryContent(base64.b64decode(media.data), media_type=media.media_type)
