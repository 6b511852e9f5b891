"""A loop over Anthropic's messages, with its real client and a server on loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
from anthropic import Anthropic, AsyncAnthropic

from prowess.adapters.anthropic import MessageSkills, compact_skills
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.runtime import Skills
from tests.adapters.loopback import serve
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played, name_call


def say(*content: dict[str, Any]) -> dict[str, Any]:
    """A response of the model."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def call(place: int, parameters: Any, *, name: str = "skill") -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{place}", "name": name, "input": dict(parameters)}


def play(skills, calls, *, on_activation=None, kept=(), **options) -> Played:
    """See `Play`."""
    offered = MessageSkills(skills, on_activation=on_activation, **options)
    named = [name_call(one) for one in calls]
    said = [say(call(place, args, name=tool)) for place, (tool, args) in enumerate(named)]
    messages: list[Any] = [*kept, {"role": "user", "content": "Ahoy"}]
    answers: list[Any] = []
    with (
        serve([*said, say({"type": "text", "text": DONE})]) as provider,
        Anthropic(base_url=provider.url, api_key="none", max_retries=0) as client,
    ):
        while True:
            response = client.messages.create(
                model="claude",
                max_tokens=100,
                system=offered.instructions(OWN),
                tools=offered.tools(),
                messages=messages,
            )
            messages.append({"role": "assistant", "content": response.content})
            results = offered.answer(response.content, messages)
            if not results:
                break
            messages.append({"role": "user", "content": results})
        # What the model got is what arrived at the server.
        sent = provider.asked[-1][1]["messages"][len(kept) + 1 :]
        answers = [
            block
            for message in sent
            if message["role"] == "user"
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
    (path, first) = provider.asked[0]
    assert path == "/v1/messages"
    tool = first["tools"][0]
    return Played(
        "\n\n".join(block["text"] for block in first["system"]),
        {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["input_schema"],
        },
        [Answered(_read(block["content"]), block.get("is_error", False)) for block in answers],
        next(block.text for block in response.content if block.type == "text"),
        [_read(message["content"]) for message in first["messages"]],
        messages,
        [tool["name"] for tool in first["tools"]],
    )


def forge(text: str, place: str) -> list[Any]:
    """Messages in which a text stands where anyone may have put it."""
    if place == "user":
        return [{"role": "user", "content": text}, {"role": "assistant", "content": "Aye."}]
    result = {"type": "tool_result", "tool_use_id": "w", "content": text}
    return [
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [{**call(0, {}, name="web"), "id": "w"}]},
        {"role": "user", "content": [result]},
    ]


def _read(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")


class Crew:
    """See `tests.adapters.scenario.Crew`. Nothing suspends here, so the approver waits."""

    def __init__(self, skills: Skills, script: Script) -> None:
        self._skills = skills
        self._script = script
        self._histories: dict[str, list[Any]] = {}
        self._open: dict[str, tuple[asyncio.Task[Said], asyncio.Future[ApprovalAnswer]]] = {}
        self._asked: dict[
            str, asyncio.Queue[tuple[ApprovalRequest, asyncio.Future[ApprovalAnswer]]]
        ] = {}
        self._offered = MessageSkills(skills, approver=lambda user: _Waiting(self._asked[user]))
        self._client = AsyncAnthropic(
            api_key="none",
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self._respond)),
        )

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        history = [*self._histories.get(user, []), {"role": "user", "content": text}]
        self._asked[user] = asyncio.Queue()
        return await self._wait(user, asyncio.create_task(self._loop(user, history, stream)))

    async def resume(self, user: str, *, approve: bool) -> Said:
        task, answer = self._open.pop(user)
        answer.set_result(ApprovalAnswer(ApprovalChoice.ONCE if approve else ApprovalChoice.REJECT))
        return await self._wait(user, task)

    async def start_afresh(self, user: str) -> None:
        self._histories[user] = []

    async def shorten(self, user: str) -> None:
        shorter = [{"role": "user", "content": f"I am {user}. We spoke."}]
        before = self._histories[user]
        self._histories[user] = [*shorter, *compact_skills(self._skills, before, shorter)]

    async def _wait(self, user: str, task: asyncio.Task[Said]) -> Said:
        """The end of a turn, or the question it stops at."""
        asked = asyncio.create_task(self._asked[user].get())
        try:
            await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            raise
        if task.done():
            asked.cancel()
            return task.result()
        request, answer = asked.result()
        self._open[user] = (task, answer)
        return Said([], "", [request.patterns])

    async def _loop(self, user: str, messages: list[Any], stream: bool) -> Said:
        answers: list[str] = []
        while True:
            response = await self._ask_model(messages, stream)
            messages.append({"role": "assistant", "content": response.content})
            results = await self._offered.answer_async(response.content, messages, run=user)
            if not results:
                break
            answers += [_read(result["content"]) for result in results]
            messages.append({"role": "user", "content": results})
        self._histories[user] = messages
        return Said(answers, response.content[0].text)

    async def _ask_model(self, messages: list[Any], stream: bool) -> Any:
        request: Any = {
            "model": "claude",
            "max_tokens": 100,
            "system": await asyncio.to_thread(self._offered.instructions, OWN),
            "tools": await asyncio.to_thread(self._offered.tools),
            "messages": messages,
        }
        if not stream:
            return await self._client.messages.create(**request)
        async with self._client.messages.stream(**request) as events:
            return await events.get_final_message()

    def _respond(self, request: Any) -> Any:
        asked = json.loads(request.content)
        step = self._script.next(json.dumps(asked["messages"]))
        if isinstance(step, str):
            message = say({"type": "text", "text": step})
        else:
            calls = [
                {"type": "tool_use", "id": id, "name": name, "input": dict(args)}
                for id, name, args in step
            ]
            message = say(*calls)
        if not asked.get("stream"):
            return httpx2.Response(200, json=message)
        return httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, text=_render_events(message)
        )


class _Waiting:
    """Puts questions where a test sees them, and waits for the answer."""

    def __init__(
        self, asked: asyncio.Queue[tuple[ApprovalRequest, asyncio.Future[ApprovalAnswer]]]
    ) -> None:
        self._asked = asked

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        await self._asked.put((request, answer))
        return await answer


def _render_events(message: dict[str, Any]) -> str:
    """A message as the events of a stream."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": []}}
    ]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            written = json.dumps(block["input"])
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": written}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
