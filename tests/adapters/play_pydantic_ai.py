"""A run of pydantic-ai with its own model for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from prowess.adapters.pydantic_ai import SkillCapability, SkillToolset, compact_skills
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played, name_call


def play(skills, calls, *, on_activation=None, kept=(), **options) -> Played:
    """See `Play`."""
    seen: list[AgentInfo] = []
    left = [ModelResponse(parts=[ToolCallPart(*name_call(call))]) for call in calls]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return left.pop(0) if left else ModelResponse(parts=[TextPart(DONE)])

    toolset = SkillToolset(skills, on_activation=on_activation, **options)
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
        [_get_text(part) for part in parts if isinstance(part, UserPromptPart)],
        result.all_messages(),
        [tool.name for tool in seen[0].function_tools],
    )


def _get_text(prompt: UserPromptPart) -> str:
    if isinstance(prompt.content, str):
        return prompt.content
    return "".join(item.content for item in prompt.content if isinstance(item, TextContent))


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


class Crew:
    """See `tests.adapters.scenario.Crew`."""

    def __init__(self, skills: Skills, script: Script) -> None:
        self._skills = skills
        self._histories: dict[str, list[ModelMessage]] = {}
        self._open: dict[str, DeferredToolRequests] = {}

        def choose(messages: list[ModelMessage]) -> Any:
            return script.next(str(messages[0]) + str(messages))

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            step = choose(messages)
            if isinstance(step, str):
                return ModelResponse(parts=[TextPart(step)])
            return ModelResponse(
                parts=[ToolCallPart(name, args, tool_call_id=id) for id, name, args in step]
            )

        async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
            step = choose(messages)
            if isinstance(step, str):
                yield step
            else:
                for place, (id, name, args) in enumerate(step):
                    yield {place: DeltaToolCall(name, json.dumps(args), tool_call_id=id)}

        self._agent = Agent(
            FunctionModel(answer, stream_function=stream),
            instructions=OWN,
            capabilities=[SkillCapability(skills, suspend=True)],
            output_type=[str, DeferredToolRequests],
        )

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        history = self._histories.get(user, [])
        if stream:
            async with self._agent.run_stream(
                text, message_history=history, conversation_id=user
            ) as streamed:
                output = await streamed.get_output()
                messages, new = streamed.all_messages(), streamed.new_messages()
            return self._note(user, output, messages, new)
        result = await self._agent.run(text, message_history=history, conversation_id=user)
        return self._note(user, result.output, result.all_messages(), result.new_messages())

    async def resume(self, user: str, *, approve: bool) -> Said:
        asked = self._open.pop(user)
        approvals: dict[str, Any] = {call.tool_call_id: approve for call in asked.approvals}
        result = await self._agent.run(
            message_history=self._histories[user],
            deferred_tool_results=DeferredToolResults(approvals=approvals),
            conversation_id=user,
        )
        return self._note(user, result.output, result.all_messages(), result.new_messages())

    async def start_afresh(self, user: str) -> None:
        self._histories[user] = []

    async def shorten(self, user: str) -> None:
        shorter: list[ModelMessage] = [
            ModelRequest(parts=[UserPromptPart(f"I am {user}.")]),
            ModelResponse(parts=[TextPart("We spoke.")]),
        ]
        before = self._histories[user]
        self._histories[user] = [*shorter, *compact_skills(self._skills, before, shorter)]

    def _note(self, user: str, output: Any, messages: Any, new: Any) -> Said:
        self._histories[user] = list(messages)
        parts = [
            part for message in new if isinstance(message, ModelRequest) for part in message.parts
        ]
        answers = [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
        if isinstance(output, str):
            return Said(answers, output)
        self._open[user] = output
        return Said(answers, "", [tuple(one["patterns"]) for one in output.metadata.values()])
