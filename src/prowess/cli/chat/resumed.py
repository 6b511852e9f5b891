"""What a session that goes on was about: the last thing typed, and its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from prowess.agent.session_file import SavedSession, join_messages
from prowess.text.display import count_words


def list_recap(saved: SavedSession) -> Iterator[tuple[Literal["note", "typed", "answer"], str]]:
    """The lines to begin with."""
    turns = count_words(len(saved.turns), "turn")
    yield "note", f"Continuing after {turns} of the session {saved.header.id}."
    if not saved.turns:
        return
    last = saved.turns[-1]
    yield "typed", last.text
    answer = _find_answer(join_messages([last]))
    if answer:
        yield "answer", answer


def _find_answer(messages: list[Any]) -> str:
    """The text of the model's last answer."""
    for message in reversed(messages):
        is_answer = message.get("kind") == "response"
        texts = [part["content"] for part in _list_parts(message) if part["part_kind"] == "text"]
        # A response may have nothing but calls of tools.
        if is_answer and texts:
            return "".join(texts)
    return ""


def _list_parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(message.get("parts", ()))
