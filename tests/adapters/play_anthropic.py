"""A loop over Anthropic's messages, with its real client and a server on loopback."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from prowess.adapters.anthropic import MessageSkills
from tests.adapters.loopback import serve
from tests.adapters.shelf import DONE, OWN, Answered, Played


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


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    offered = MessageSkills(skills, on_activation=on_activation)
    said = [say(call(place, parameters)) for place, parameters in enumerate(calls)]
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
