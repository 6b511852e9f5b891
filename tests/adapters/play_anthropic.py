"""A loop over Anthropic's messages, with its real client and a server on loopback."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from prowess.adapters.anthropic import answer_calls, skill_instructions, skill_tool
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


def play(conversation, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
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
                system=skill_instructions(conversation, OWN),
                tools=[skill_tool(conversation)],
                messages=messages,
            )
            messages.append({"role": "assistant", "content": response.content})
            results = answer_calls(conversation, response.content, on_activation=on_activation)
            if not results:
                break
            messages.append({"role": "user", "content": results})
        # What the model got is what arrived at the server.
        sent = provider.asked[-1][1]["messages"][len(kept) + 1 :]
        answers = [
            block for message in sent if message["role"] == "user" for block in message["content"]
        ]
    (path, first) = provider.asked[0]
    assert path == "/v1/messages"
    (tool,) = first["tools"]
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
    )


def _read(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)
