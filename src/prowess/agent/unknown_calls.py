"""Calls of unknown outcome: what the model is told of them, and whether it has been."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic_ai.messages import ModelMessage, UserPromptPart

from prowess.agent.prompt_content import get_text
from prowess.agent.session_file import CallRecord


def render_unknown(calls: Sequence[CallRecord]) -> str:
    """What the model is told of calls that may or may not have happened."""
    listed = "\n".join(f"- {call.title}" for call in calls)
    return (
        "The session ended while these calls were running. It is unknown whether they were done:\n"
        f"{listed}\n"
        "Find out before you do anything like them again, and ask the user if you cannot."
    )


def is_told(calls: Sequence[CallRecord], messages: Sequence[ModelMessage]) -> bool:
    """Whether a prompt among the messages begins with what is said of these calls."""
    notice = render_unknown(calls)
    return any(prompt.startswith(notice) for prompt in list_prompts(messages))


def list_prompts(messages: Sequence[ModelMessage]) -> Iterator[str]:
    """The texts of all prompts among messages."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                yield get_text(part.content)
