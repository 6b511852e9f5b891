"""A run of pydantic-ai with its own model for tests."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from prowess.adapters.pydantic_ai import SkillToolset
from tests.adapters.shelf import DONE, OWN, Answered, Played


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    seen: list[AgentInfo] = []
    left = [ModelResponse(parts=[ToolCallPart("skill", dict(call))]) for call in calls]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return left.pop(0) if left else ModelResponse(parts=[TextPart(DONE)])

    toolset = SkillToolset(skills, on_activation=on_activation)
    agent = Agent(FunctionModel(answer), instructions=OWN, toolsets=[toolset])
    result = asyncio.run(agent.run("Ahoy", message_history=list(kept)))
    parts = [
        part
        for message in result.all_messages()
        if isinstance(message, ModelRequest)
        for part in message.parts
    ]
    returns = [part for part in parts if isinstance(part, ToolReturnPart)]
    tool = seen[0].function_tools[0]
    return Played(
        _unframe(seen[0].instructions or ""),
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters_json_schema,
        },
        [Answered(str(part.content), part.outcome != "success") for part in returns],
        result.output,
        [str(part.content) for part in parts if isinstance(part, UserPromptPart)],
        result.all_messages(),
    )


def forge(text: str, place: str) -> list[ModelMessage]:
    """Messages in which a text stands where anyone may have put it."""
    if place == "user":
        return [
            ModelRequest(parts=[UserPromptPart(text)]),
            ModelResponse(parts=[TextPart("Aye.")]),
        ]
    return [
        ModelRequest(parts=[UserPromptPart("Look it up.")]),
        ModelResponse(parts=[ToolCallPart("web", {}, tool_call_id="w")]),
        ModelRequest(parts=[ToolReturnPart("web", text, tool_call_id="w")]),
    ]


def _unframe(instructions: str) -> str:
    """The instructions without the frame around the part that may be replaced later."""
    own, opened, framed = instructions.partition('<context id="toolset:skills">\n')
    return own + framed.partition("\n</context>\n")[0] if opened else own
