"""Skills for pydantic-ai: `Agent(model, toolsets=[SkillToolset(conversation)])`."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

from prowess.activate.model_tool import ModelTool, explain_error
from prowess.adapters.media import parse_block
from prowess.adapters.skill_offer import OnActivation, SkillOffer, miss_extra, render_survivors
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError, UnknownSkill, UsageError

try:
    from pydantic_ai import ModelRetry, RunContext, ToolDefinition, ToolFailed
    from pydantic_ai.messages import (
        BinaryContent,
        DocumentUrl,
        ImageUrl,
        InstructionPart,
        ModelMessage,
        ModelRequest,
        UserPromptPart,
    )
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as missing:
    raise miss_extra("pydantic-ai", "a pydantic-ai agent") from missing

_AN_OBJECT = SchemaValidator(
    core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
)
Content = str | list[str | BinaryContent | ImageUrl | DocumentUrl]


class SkillToolset(AbstractToolset[Any]):
    """The tool that loads skills, and the instructions that list them, made for every request.

    For an unknown name the model is asked to try again, at most `max_retries` times in a row; a
    refusal or a failure is final. Options are those of `Skills.catalog`.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        on_activation: OnActivation | None = None,
        id: str = "skills",
        max_retries: int = 3,
        **options: Any,
    ) -> None:
        self._offer = SkillOffer(conversation, on_activation=on_activation, **options)
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str:
        return self._id

    async def get_instructions(self, ctx: RunContext[Any]) -> InstructionPart | None:
        """The list of skills. A change is appended, so that the provider's cache stays valid."""
        text = await asyncio.to_thread(self._offer.render_instructions)
        return InstructionPart(content=text, dynamic=True, on_change="append") if text else None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The one tool."""
        tool = await asyncio.to_thread(lambda: self._offer.tool)
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=_with_examples(tool),
        )
        made = ToolsetTool[Any](
            toolset=self,
            tool_def=definition,
            max_retries=self._max_retries,
            args_validator=_AN_OBJECT,
        )
        return {tool.name: made}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Content:
        """Load a skill, in a worker thread."""
        try:
            activation = await asyncio.to_thread(self._offer.load, tool_args)
        except ProwessError as error:
            raise _translate(error) from error
        media = [_convert(block) for block in activation.blocks]
        return [activation.text, *media] if media else activation.text


def compact_skills(conversation: Conversation) -> list[ModelMessage]:
    """What to append to a shortened message history: the loaded skills, as one message."""
    text = render_survivors(conversation)
    return [ModelRequest(parts=[UserPromptPart(content=text)])] if text else []


def _with_examples(tool: ModelTool) -> dict[str, Any]:
    """The schema with names of skills as examples, which `TestModel` calls the tool with."""
    properties = dict(tool.parameters["properties"])
    if tool.examples:
        (name,) = tool.parameters["required"]
        properties[name] = {**properties[name], "examples": list(tool.examples)}
    return {**tool.parameters, "properties": properties}


def _translate(error: ProwessError) -> ModelRetry | ToolFailed:
    # A call without a name is a plain `UsageError`. Its subclasses mean that the skill exists but
    # cannot be loaded, which another try would not change.
    can_correct = isinstance(error, UnknownSkill) or type(error) is UsageError
    return ModelRetry(explain_error(error)) if can_correct else ToolFailed(explain_error(error))


def _convert(block: Mapping[str, Any]) -> str | BinaryContent | ImageUrl | DocumentUrl:
    media = parse_block(block)
    if isinstance(media, str):
        return media
    if media.url:
        return ImageUrl(media.url) if media.is_image else DocumentUrl(media.url)
    return BinaryContent(base64.b64decode(media.data), media_type=media.media_type)
