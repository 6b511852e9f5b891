"""A run of Microsoft's Agent Framework with a client of its own kind."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
)

from prowess.adapters.agent_framework import SkillProvider
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
    """Follows a function from a request to the contents of its response."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def _inner_get_response(
        self, *, messages: Any, stream: bool, options: Any, **kwargs: Any
    ) -> Any:
        if stream:
            return self._build_response_stream(self._stream(messages, options))
        return self._respond(messages, options)

    async def _respond(self, messages: Any, options: Any) -> ChatResponse:
        contents = self._answer(messages, options)
        return ChatResponse(messages=[Message(role="assistant", contents=contents)])

    async def _stream(self, messages: Any, options: Any) -> Any:
        for content in self._answer(messages, options):
            yield ChatResponseUpdate(role="assistant", contents=[content])


class Failures(FunctionMiddleware):
    """Remembers what calls raise."""

    def __init__(self) -> None:
        self.raised: list[Exception] = []

    async def process(self, context: Any, call_next: Any) -> None:
        try:
            await call_next()
        except Exception as error:
            self.raised.append(error)
            raise


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    seen: list[Any] = []
    left = [
        Content.from_function_call(f"call{place}", "skill", arguments=dict(call))
        for place, call in enumerate(calls)
    ]

    def answer(messages: Any, options: Any) -> list[Content]:
        seen.append((list(messages), options))
        return [left.pop(0)] if left else [Content.from_text(DONE)]

    provider = SkillProvider(skills, on_activation=on_activation)
    failures = Failures()
    agent = Agent(
        Client(answer), instructions=OWN, context_providers=[provider], middleware=[failures]
    )
    session = AgentSession()
    said = [*kept, Message(role="user", contents=["Ahoy"])]
    response = asyncio.run(agent.run(said, session=session))
    # The framework tells the model that a tool failed, and nobody else.
    for error in failures.raised:
        raise error
    messages, options = seen[0]
    (tool,) = [tool for tool in options["tools"] if tool.name == "skill"]
    return Played(
        # The framework puts a single line end between instructions.
        options["instructions"].replace(f"{OWN}\n", f"{OWN}\n\n", 1),
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters()},
        [Answered(text) for message in response.messages for text in list_answers(message)],
        response.messages[-1].text,
        [message.text for message in messages if message.text],
        [*said, *response.messages],
    )


def list_answers(message: Message) -> list[str]:
    return [str(one.result) for one in message.contents if one.type == "function_result"]


def forge(text: str, place: str) -> list[Message]:
    """Messages in which a text stands where anyone may have put it."""
    aye = Message(role="assistant", contents=["Aye."])
    if place == "user":
        return [Message(role="user", contents=[text]), aye]
    return [
        Message(role="user", contents=["Look it up."]),
        Message(role="assistant", contents=[Content.from_function_call("w", "web", arguments={})]),
        Message(role="tool", contents=[Content.from_function_result("w", result=text)]),
        aye,
    ]


class Crew:
    """See `tests.adapters.scenario.Crew`."""

    def __init__(self, skills: Skills, script: Script) -> None:
        def answer(messages: Any, options: Any) -> list[Content]:
            step = script.next(" ".join(message.text for message in messages))
            if isinstance(step, str):
                return [Content.from_text(step)]
            return [
                Content.from_function_call(id, name, arguments=dict(args))
                for id, name, args in step
            ]

        self._agent = Agent(
            Client(answer),
            instructions=OWN,
            context_providers=[SkillProvider(skills, suspend=True)],
        )
        self._sessions: dict[str, AgentSession] = {}
        self._asked: dict[str, list[Content]] = {}

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        return await self._run(user, Message(role="user", contents=[text]), stream=stream)

    async def resume(self, user: str, *, approve: bool) -> Said:
        answers = [one.to_function_approval_response(approve) for one in self._asked.pop(user)]
        return await self._run(user, Message(role="user", contents=answers))

    async def start_afresh(self, user: str) -> None:
        self._sessions.pop(user, None)

    async def shorten(self, user: str) -> None:
        session = self._sessions[user]
        (kept,) = [state["messages"] for state in session.state.values() if "messages" in state]
        kept[:] = [
            Message(role="user", contents=[f"I am {user}."]),
            Message(role="assistant", contents=["We spoke."]),
        ]

    async def _run(self, user: str, message: Message, *, stream: bool = False) -> Said:
        session = self._sessions.setdefault(user, AgentSession())
        if stream:
            streamed = self._agent.run(message, session=session, stream=True)
            async for _ in streamed:
                pass
            response = await streamed.get_final_response()
        else:
            response = await self._agent.run(message, session=session)
        asked = list(response.user_input_requests)
        if asked:
            self._asked[user] = asked
            return Said([], "", [tuple(one.additional_properties["patterns"]) for one in asked])
        answers = [text for one in response.messages for text in list_answers(one)]
        return Said(answers, response.messages[-1].text)
