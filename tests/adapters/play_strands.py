"""A run of Strands Agents with a model of its own kind."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from strands import Agent
from strands.hooks import AfterToolCallEvent
from strands.models import Model

from prowess.adapters.strands import SkillPlugin
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played

Call = tuple[str, str, Any]


class TestModel(Model):
    """Follows a function from a request to a text, or to calls."""

    __test__ = False

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def update_config(self, **config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any
    ) -> Any:
        prompt = "\n\n".join(block["text"] for block in kwargs["system_prompt_content"])
        said: str | list[Call] = self._answer(messages, tool_specs, prompt)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(said, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": said}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for id, name, args in said:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    seen: list[Any] = []
    left: list[list[Call]] = [
        [(f"call{place}", "skill", dict(call))] for place, call in enumerate(calls)
    ]

    def answer(messages: Any, specs: Any, prompt: Any) -> Any:
        seen.append((list(messages), specs, prompt))
        return left.pop(0) if left else DONE

    plugin = SkillPlugin(skills, on_activation=on_activation)
    agent = Agent(
        model=TestModel(answer),
        system_prompt=OWN,
        plugins=[plugin],
        messages=list(kept),
        callback_handler=None,
    )
    failed: list[Exception] = []
    agent.add_hook(lambda event: failed.append(event.exception), AfterToolCallEvent)
    asyncio.run(agent.invoke_async("Ahoy"))
    # Strands tells the model what a tool raises, and nobody else.
    for error in failed:
        if error is not None:
            raise error
    messages, specs, prompt = seen[0]
    (tool,) = [spec for spec in specs if spec["name"] == "skill"]
    return Played(
        prompt,
        {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["inputSchema"]["json"],
        },
        [
            Answered(*one)
            for message in agent.messages[len(kept) :]
            for one in list_answers(message)
        ],
        agent.messages[-1]["content"][-1]["text"],
        [block["text"] for one in messages for block in one["content"] if "text" in block],
        agent.messages,
    )


def list_answers(message: Any) -> list[tuple[str, bool]]:
    found = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    return [(one["content"][0]["text"], one["status"] == "error") for one in found]


def forge(text: str, place: str) -> list[Any]:
    """Messages in which a text stands where anyone may have put it."""
    aye = {"role": "assistant", "content": [{"text": "Aye."}]}
    if place == "user":
        return [{"role": "user", "content": [{"text": text}]}, aye]
    result = {"toolUseId": "w", "status": "success", "content": [{"text": text}]}
    return [
        {"role": "user", "content": [{"text": "Look it up."}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "w", "name": "web", "input": {}}}],
        },
        {"role": "user", "content": [{"toolResult": result}]},
        aye,
    ]


class Crew:
    """See `tests.adapters.scenario.Crew`. An agent of Strands has one conversation."""

    def __init__(self, skills: Skills, script: Script) -> None:
        self._plugin = SkillPlugin(skills, suspend=True)
        self._script = script
        self._agents: dict[str, Agent] = {}
        self._asked: dict[str, Any] = {}

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        return await self._run(user, text, stream=stream)

    async def resume(self, user: str, *, approve: bool) -> Said:
        answered = [
            {"interruptResponse": {"interruptId": one.id, "response": approve}}
            for one in self._asked.pop(user)
        ]
        return await self._run(user, answered)

    async def start_afresh(self, user: str) -> None:
        self._agents.pop(user, None)

    async def shorten(self, user: str) -> None:
        agent = self._agents[user]
        agent.conversation_manager.removed_message_count += len(agent.messages)
        agent.messages[:] = [
            {"role": "user", "content": [{"text": f"I am {user}."}]},
            {"role": "assistant", "content": [{"text": "We spoke."}]},
        ]

    async def _run(self, user: str, given: Any, *, stream: bool = False) -> Said:
        if user not in self._agents:
            self._agents[user] = Agent(
                model=TestModel(self._answer),
                system_prompt=OWN,
                plugins=[self._plugin],
                callback_handler=None,
            )
        agent = self._agents[user]
        before = len(agent.messages)
        result: Any = None
        if stream:
            async for event in agent.stream_async(given):
                result = event.get("result", result)
        else:
            result = await agent.invoke_async(given)
        if result.stop_reason == "interrupt":
            self._asked[user] = result.interrupts
            return Said([], "", [tuple(one.reason["patterns"]) for one in result.interrupts])
        new = agent.messages[before:]
        answers = [text for message in new for text, _ in list_answers(message)]
        return Said(answers, new[-1]["content"][-1]["text"])

    def _answer(self, messages: Any, specs: Any, prompt: Any) -> Any:
        texts = [block["text"] for one in messages for block in one["content"] if "text" in block]
        return self._script.next(" ".join(texts))
