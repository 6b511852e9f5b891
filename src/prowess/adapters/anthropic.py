"""Skills for Anthropic's Messages API, as the dictionaries that `messages.create` takes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import msgspec

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.compaction import render_lost
from prowess.adapters.skill_offer import (
    OfferOptions,
    SkillOffer,
    explain_import,
    get_versions,
    is_survivors_text,
    list_loaded,
)
from prowess.adapters.skill_tools import SkillCallContext, ToolOutput
from prowess.conversation.conversation import Conversation
from prowess.runtime import Skills

try:
    from anthropic.types import MessageParam, TextBlockParam, ToolParam, ToolResultBlockParam
except ImportError as error:
    explain_import(
        error,
        extra="anthropic",
        module="anthropic",
        purpose="give skills to a model through Anthropic's Messages API",
    )

Messages = Sequence[Mapping[str, Any]]


class MessageSkills:
    """Skills for a loop over Anthropic's messages; one object serves any number of people.

    What a model has is read from its messages, so nothing has to be kept between requests. To keep
    what wakes and what was approved, give the methods the id of the conversation as `run`, or
    anything else in which the option `conversation` finds it.
    """

    def __init__(self, skills: Skills | Conversation, **options: Unpack[OfferOptions]) -> None:
        self._offer = SkillOffer(skills, **options)

    def tools(self, run: Any = None) -> list[ToolParam]:
        """The entries of `tools`."""
        conversation = self._open(run)
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.parameters),
            }
            for tool in self._offer.list_tools(conversation)
        ]

    def instructions(self, own: str = "", *, run: Any = None) -> list[TextBlockParam]:
        """What `system` takes: your own instructions and the list of skills, a block each."""
        texts = (own, self._offer.render_instructions(self._open(run)))
        return [{"type": "text", "text": text} for text in texts if text]

    def answer(
        self, content: Iterable[Any], messages: Messages, *, run: Any = None
    ) -> list[ToolResultBlockParam]:
        """The results for those blocks of a response that call tools for skills, in their order.

        `content` is that of the response and `messages` are those that were sent. Calls of your own
        tools are left to you. In the next message all results come before anything else.
        """
        calls, context = self._prepare(content, messages, run)
        return [
            _render(call, self._offer.call(call["name"], call.get("input"), _at(context, call)))
            for call in calls
        ]

    async def answer_async(
        self, content: Iterable[Any], messages: Messages, *, run: Any = None
    ) -> list[ToolResultBlockParam]:
        """As `answer`, for `AsyncAnthropic`: all calls at once, in other threads."""
        calls, context = await asyncio.to_thread(self._prepare, content, messages, run)
        under_way = [
            asyncio.ensure_future(
                self._offer.call_async(call["name"], call.get("input"), _at(context, call))
            )
            for call in calls
        ]
        try:
            outputs = await asyncio.gather(*under_way)
        finally:
            # If one fails or the task is cancelled, the others end, too.
            for one in under_way:
                one.cancel()
        return [_render(call, output) for call, output in zip(calls, outputs, strict=True)]

    def _open(self, run: Any) -> Conversation:
        return self._offer.open(run, run if isinstance(run, str) else None)

    def _prepare(
        self, content: Iterable[Any], messages: Messages, run: Any
    ) -> tuple[list[Mapping[str, Any]], SkillCallContext]:
        names = {tool.name for tool in self._offer.tools}
        blocks = [_as_mapping(block) for block in content]
        calls = [
            block
            for block in blocks
            if block.get("type") == "tool_use" and block.get("name") in names
        ]
        context = SkillCallContext(
            conversation=self._open(run),
            loaded=get_versions(list_loaded_skills(messages, tool=self._offer.load_tool.name)),
            response=uuid.uuid4().hex,
            run=run,
        )
        return calls, context


def list_loaded_skills(messages: Messages, *, tool: str = "skill") -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    ours: set[Any] = set()
    answers: list[str] = []
    survivors: list[str] = []
    for block in _list_blocks(messages):
        match block:
            case {"type": "tool_use", "name": name, "id": id} if name == tool:
                ours.add(id)
            case {"type": "tool_result", "tool_use_id": id} if id in ours:
                answers.append(_get_text(block.get("content")))
            case {"role": "user", "text": str(text)} if is_survivors_text(text):
                survivors.append(text)
    return list_loaded(answers, survivors)


def compact_skills(
    skills: Skills | Conversation, before: Messages | None = None, after: Messages = ()
) -> list[MessageParam]:
    """What to append to shortened messages: the skills that they lost, as one user message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    text = render_lost(skills, list_loaded_skills, before, after)
    if not text:
        return []
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


def _list_blocks(messages: Messages) -> Iterable[Mapping[str, Any]]:
    """All content blocks in their order; those of text say whose they are."""
    for message in messages:
        content, role = message.get("content"), message.get("role")
        if isinstance(content, str):
            yield {"type": "text", "text": content, "role": role}
            continue
        for block in map(_as_mapping, content or ()):
            yield {**block, "role": role} if block.get("type") == "text" else block


def _get_text(content: Any) -> str:
    """The first text of a result, which is where the tool puts a skill."""
    if isinstance(content, str):
        return content
    for block in map(_as_mapping, content or ()):
        if block.get("type") == "text":
            return str(block["text"])
    return ""


def _at(context: SkillCallContext, call: Mapping[str, Any]) -> SkillCallContext:
    return msgspec.structs.replace(context, call_id=str(call.get("id")))


def _render(call: Mapping[str, Any], output: ToolOutput) -> ToolResultBlockParam:
    result: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": call["id"]}
    if output.error is not None:
        return {**result, "content": output.text, "is_error": True}
    content: list[Any] = [{"type": "text", "text": output.text}, *map(dict, output.blocks)]
    return {**result, "content": content}


def _as_mapping(block: Any) -> Mapping[str, Any]:
    """A block of a response, or one that was saved as a dictionary."""
    return block if isinstance(block, Mapping) else block.model_dump()
