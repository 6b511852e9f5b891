"""Skills for LangChain: `create_agent(model, middleware=[SkillMiddleware(conversation)])`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from prowess.activate.model_tool import explain_error
from prowess.adapters.media import parse_block
from prowess.adapters.skill_offer import OnActivation, SkillOffer, miss_extra, render_survivors
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
    from langchain_core.tools import StructuredTool, ToolException
except ImportError as missing:
    raise miss_extra("langchain", "a LangChain agent") from missing

Content = str | list[str | dict[str, Any]]


class SkillMiddleware(AgentMiddleware[Any, Any, Any]):
    """Adds the tool that loads skills, and the list of them to the system message of each request.

    Options are those of `Skills.catalog`.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        on_activation: OnActivation | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._offer = SkillOffer(conversation, **options)
        self.tools = [skill_tool(conversation, on_activation=on_activation)]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Add the list to a request."""
        return handler(_add_text(request, self._offer.render_instructions()))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Add the list to a request; it is made in a worker thread."""
        return await handler(
            _add_text(request, await asyncio.to_thread(self._offer.render_instructions))
        )


def skill_tool(
    conversation: Conversation, *, on_activation: OnActivation | None = None
) -> StructuredTool:
    """The tool that loads skills, for graphs and models that take tools without middleware."""
    offer = SkillOffer(conversation, on_activation=on_activation)
    tool = offer.tool

    def load(**parameters: Any) -> Content:
        try:
            activation = offer.load(parameters)
        except ProwessError as error:
            raise ToolException(explain_error(error)) from error
        media = [_convert(block) for block in activation.blocks]
        return [{"type": "text", "text": activation.text}, *media] if media else activation.text

    # Without a coroutine of its own LangChain calls the function in a worker thread.
    return StructuredTool.from_function(
        load,
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
        infer_schema=False,
        handle_tool_error=True,
    )


def skill_instructions(conversation: Conversation, instructions: str = "", **options: Any) -> str:
    """The text of a system message: your own instructions, then the current list of skills."""
    return "\n\n".join(
        filter(None, (instructions, SkillOffer(conversation, **options).render_instructions()))
    )


def compact_skills(conversation: Conversation) -> list[AnyMessage]:
    """What to append to shortened messages: the loaded skills, as one message."""
    text = render_survivors(conversation)
    return [HumanMessage(text)] if text else []


def _add_text(request: ModelRequest[Any], text: str) -> ModelRequest[Any]:
    if not text:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(text))
    if isinstance(system.content, str):
        return request.override(system_message=SystemMessage(f"{system.content}\n\n{text}"))
    return request.override(
        system_message=SystemMessage([*system.content, {"type": "text", "text": text}])
    )


def _convert(block: Mapping[str, Any]) -> dict[str, Any]:
    media = parse_block(block)
    if isinstance(media, str):
        return {"type": "text", "text": media}
    kind = "image" if media.is_image else "file"
    if media.url:
        return {"type": kind, "url": media.url}
    return {"type": kind, "base64": media.data, "mime_type": media.media_type}
