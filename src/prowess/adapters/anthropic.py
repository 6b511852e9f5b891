"""Skills for Anthropic's Messages API, as the dictionaries that `messages.create` takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prowess.activate.model_tool import explain_error
from prowess.adapters.skill_offer import OnActivation, SkillOffer, miss_extra, render_survivors
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError

try:
    from anthropic.types import MessageParam, TextBlockParam, ToolParam, ToolResultBlockParam
except ImportError as missing:
    raise miss_extra("anthropic", "a model through Anthropic's Messages API") from missing


def skill_tool(conversation: Conversation) -> ToolParam:
    """The entry of `tools` that loads skills."""
    tool = SkillOffer(conversation).tool
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }


def skill_instructions(
    conversation: Conversation, instructions: str = "", **options: Any
) -> list[TextBlockParam]:
    """What `system` takes: your own instructions and the current list of skills, a block each.

    Options are those of `Skills.catalog`.
    """
    texts = (instructions, SkillOffer(conversation, **options).render_instructions())
    return [{"type": "text", "text": text} for text in texts if text]


def answer_calls(
    conversation: Conversation, content: Iterable[Any], *, on_activation: OnActivation | None = None
) -> list[ToolResultBlockParam]:
    """The results for those blocks of a response that call the tool for skills, in their order.

    `content` is that of the response. Calls of your own tools are left to you. In the next message
    all results come before anything else.
    """
    offer = SkillOffer(conversation, on_activation=on_activation)
    calls = [_as_mapping(block) for block in content]
    return [
        _answer(offer, call)
        for call in calls
        if (call["type"], call.get("name")) == ("tool_use", offer.tool.name)
    ]


def compact_skills(conversation: Conversation) -> list[MessageParam]:
    """What to append to shortened messages: the loaded skills, as one message of the user."""
    text = render_survivors(conversation)
    return [{"role": "user", "content": [{"type": "text", "text": text}]}] if text else []


def _answer(offer: SkillOffer, call: Mapping[str, Any]) -> ToolResultBlockParam:
    try:
        activation = offer.load(call["input"])
    except ProwessError as error:
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": explain_error(error),
            "is_error": True,
        }
    content: list[Any] = [{"type": "text", "text": activation.text}, *map(dict, activation.blocks)]
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content}


def _as_mapping(block: Any) -> Mapping[str, Any]:
    """A block of a response, or one that was saved as a dictionary."""
    return block if isinstance(block, Mapping) else block.model_dump()
