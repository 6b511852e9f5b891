"""Skills for the OpenAI Agents SDK: `Agent(instructions=skill_instructions(c),
tools=[skill_tool(c)])`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from prowess.activate.model_tool import explain_error
from prowess.adapters.media import parse_block
from prowess.adapters.skill_offer import OnActivation, SkillOffer, miss_extra, render_survivors
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError

try:
    from agents import (
        Agent,
        FunctionTool,
        RunContextWrapper,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        TResponseInputItem,
    )
    from agents.tool_context import ToolContext
except ImportError as missing:
    raise miss_extra("openai-agents", "an agent built with the OpenAI Agents SDK") from missing

Output = ToolOutputText | ToolOutputImage | ToolOutputFileContent
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


def skill_tool(
    conversation: Conversation, *, on_activation: OnActivation | None = None
) -> FunctionTool:
    """The tool that loads skills. Errors go to the model as the tool's output."""
    offer = SkillOffer(conversation, on_activation=on_activation)
    tool = offer.tool

    async def load(context: ToolContext[Any], arguments: str) -> str | list[Output]:
        parameters = _parse_object(arguments)
        if parameters is None:
            return f"The tool {tool.name} takes a JSON object, not this: {arguments[:200]}"
        try:
            activation = await asyncio.to_thread(offer.load, parameters)
        except ProwessError as error:
            return explain_error(error)
        media = [_convert(block) for block in activation.blocks]
        return [ToolOutputText(text=activation.text), *media] if media else activation.text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=_make_strict(tool.parameters),
        on_invoke_tool=load,
    )


def skill_instructions(
    conversation: Conversation, instructions: str = "", **options: Any
) -> Instructions:
    """What `Agent(instructions=…)` takes: your own instructions, then the current list of skills.

    Options are those of `Skills.catalog`.
    """
    offer = SkillOffer(conversation, **options)

    async def render(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        return "\n\n".join(
            filter(None, (instructions, await asyncio.to_thread(offer.render_instructions)))
        )

    return render


def compact_skills(conversation: Conversation) -> list[TResponseInputItem]:
    """What to append to shortened input items: the loaded skills, as one message."""
    text = render_survivors(conversation)
    return [{"role": "user", "content": text}] if text else []


def _make_strict(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A strict schema requires every property, so an optional one may be null instead."""
    properties = {
        name: schema
        if name in parameters["required"]
        else {**schema, "type": [schema["type"], "null"]}
        for name, schema in parameters["properties"].items()
    }
    return {**parameters, "properties": properties, "required": list(properties)}


def _parse_object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _convert(block: Mapping[str, Any]) -> Output:
    media = parse_block(block)
    if isinstance(media, str):
        return ToolOutputText(text=media)
    if media.is_image:
        return ToolOutputImage(image_url=media.address)
    if media.url:
        return ToolOutputFileContent(file_url=media.url)
    return ToolOutputFileContent(file_data=media.address, filename=media.file_name)
