"""A run of Google's ADK with a model of its own kind."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from pydantic import PrivateAttr

from prowess.adapters.google_adk import SkillToolset
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played

APP = "harbour"
NAMED = '\n\nYou are an agent. Your internal name is "sailor".'
CONFIRM = "adk_request_confirmation"


class Model(BaseLlm):
    """Follows a function from a request to the parts of its response."""

    _answer: Any = PrivateAttr()

    def __init__(self, answer: Any) -> None:
        super().__init__(model="test")
        self._answer = answer

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        parts = self._answer(llm_request)
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    seen: list[Any] = []
    left = [dict(call) for call in calls]

    def answer(request: Any) -> list[types.Part]:
        seen.append((request.config, list(request.contents)))
        if not left:
            return [types.Part(text=DONE)]
        return [types.Part.from_function_call(name="skill", args=left.pop(0))]

    toolset = SkillToolset(skills, on_activation=on_activation)
    agent = Agent(name="sailor", model=Model(answer), instruction=OWN, tools=[toolset])

    async def run() -> list[types.Content]:
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name=APP, user_id="ann", session_id="1")
        for content in kept:
            author = "user" if content.role == "user" else "sailor"
            await sessions.append_event(session, Event(author=author, content=content))
        runner = Runner(agent=agent, app_name=APP, session_service=sessions)
        said = types.Content(role="user", parts=[types.Part(text="Ahoy")])
        async for _ in runner.run_async(user_id="ann", session_id="1", new_message=said):
            pass
        ended = await sessions.get_session(app_name=APP, user_id="ann", session_id="1")
        assert ended is not None
        return [event.content for event in ended.events if event.content]

    history = asyncio.run(run())
    config, contents = seen[0]
    (declared,) = [
        one for tool in config.tools for one in tool.function_declarations if one.name == "skill"
    ]
    return Played(
        # ADK adds a sentence of its own.
        str(config.system_instruction).replace(NAMED, ""),
        {
            "name": declared.name,
            "description": declared.description,
            "parameters": declared.parameters_json_schema,
        },
        [
            Answered(text, is_error)
            for content in history[len(kept) :]
            for text, is_error in list_answers(content)
        ],
        (history[-1].parts or [types.Part()])[-1].text or "",
        [part.text for content in contents for part in content.parts if part.text],
        history,
    )


def list_answers(content: types.Content) -> list[tuple[str, bool]]:
    found = [part.function_response for part in content.parts or () if part.function_response]
    return [
        (
            str((one.response or {}).get("error") or (one.response or {}).get("result")),
            "error" in (one.response or {}),
        )
        for one in found
        if one.name != CONFIRM
    ]


def forge(text: str, place: str) -> list[types.Content]:
    """Contents in which a text stands where anyone may have put it."""
    aye = types.Content(role="model", parts=[types.Part(text="Aye.")])
    if place == "user":
        return [types.Content(role="user", parts=[types.Part(text=text)]), aye]
    call = types.Part.from_function_call(name="web", args={})
    answer = types.Part.from_function_response(name="web", response={"result": text})
    return [
        types.Content(role="user", parts=[types.Part(text="Look it up.")]),
        types.Content(role="model", parts=[call]),
        types.Content(role="model", parts=[answer]),
        aye,
    ]


class Crew:
    """See `tests.adapters.scenario.Crew`."""

    def __init__(self, skills: Skills, script: Script) -> None:
        def answer(request: Any) -> list[types.Part]:
            texts = [part.text for one in request.contents for part in one.parts if part.text]
            step = script.next(" ".join(texts))
            if isinstance(step, str):
                return [types.Part(text=step)]
            return [
                types.Part(function_call=types.FunctionCall(id=id, name=name, args=dict(args)))
                for id, name, args in step
            ]

        self._agent = Agent(
            name="sailor",
            model=Model(answer),
            instruction=OWN,
            tools=[SkillToolset(skills, suspend=True)],
        )
        self._sessions = InMemorySessionService()
        self._questions: dict[str, types.FunctionCall] = {}

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        return await self._run(user, types.Part(text=text), stream=stream)

    async def resume(self, user: str, *, approve: bool) -> Said:
        call = self._questions.pop(user)
        asked = (call.args or {})["toolConfirmation"]
        answer = {"confirmed": approve, "payload": asked["payload"]}
        response = types.FunctionResponse(
            id=call.id, name=CONFIRM, response={"response": json.dumps(answer)}
        )
        return await self._run(user, types.Part(function_response=response))

    async def start_afresh(self, user: str) -> None:
        await self._sessions.delete_session(app_name=APP, user_id=user, session_id="1")

    async def shorten(self, user: str) -> None:
        session = await self._get(user)
        summary = types.Content(role="user", parts=[types.Part(text=f"I am {user}. We spoke.")])
        compaction = EventCompaction(
            start_timestamp=session.events[0].timestamp,
            end_timestamp=session.events[-1].timestamp,
            compacted_content=summary,
        )
        event = Event(author="user", actions=EventActions(compaction=compaction))
        await self._sessions.append_event(session, event)

    async def _get(self, user: str) -> Any:
        place = {"app_name": APP, "user_id": user, "session_id": "1"}
        found = await self._sessions.get_session(**place)
        return found or await self._sessions.create_session(**place)

    async def _run(self, user: str, part: types.Part, *, stream: bool = False) -> Said:
        await self._get(user)
        runner = Runner(agent=self._agent, app_name=APP, session_service=self._sessions)
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        answers: list[str] = []
        output = ""
        asked: list[tuple[str, ...]] = []
        async for event in runner.run_async(
            user_id=user,
            session_id="1",
            new_message=types.Content(role="user", parts=[part]),
            run_config=RunConfig(streaming_mode=mode),
        ):
            if event.content is None or event.partial:
                continue
            for call in event.get_function_calls():
                if call.name == CONFIRM:
                    self._questions[user] = call
                    asked.append(tuple(call.args["toolConfirmation"]["payload"]["patterns"]))
            answers += [text for text, _ in list_answers(event.content)]
            output = next((one.text for one in event.content.parts or () if one.text), output)
        if asked:
            return Said([], "", asked)
        return Said(answers, output)
