"""Skills for Strands Agents: `Agent(model=…, plugins=[SkillPlugin(skills)])`."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack
from weakref import WeakKeyDictionary

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import describe_question, read_answer
from prowess.adapters.compaction import find_lost, render_lost, render_survivors
from prowess.adapters.media import parse_block
from prowess.adapters.policy import GrantedRequests, merge_granted
from prowess.adapters.skill_offer import (
    OfferOptions,
    SkillOffer,
    explain_import,
    get_versions,
    is_survivors_text,
    list_loaded,
)
from prowess.adapters.skill_tools import OfferedTool, SkillCallContext, ToolOutput
from prowess.conversation.conversation import Conversation
from prowess.machine.event_loop import run_in_thread
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.runtime import Skills

try:
    from strands import Agent, ToolContext
    from strands.interrupt import InterruptException
    from strands.middleware import InvokeModelStage
    from strands.middleware.stages import InvokeModelContext
    from strands.plugins import Plugin
    from strands.types._events import ToolInterruptEvent, ToolResultEvent
    from strands.types.content import ContentBlock, Message
    from strands.types.tools import AgentTool, ToolGenerator, ToolSpec, ToolUse
except ImportError as error:
    explain_import(
        error, extra="strands", module="strands", purpose="give skills to a Strands agent"
    )

_ID_NAMES = ("conversation_id", "session_id", "thread_id")
_GRANTED = "prowess_granted"
_IMAGE_FORMATS = ("png", "jpeg", "gif", "webp")


class SkillPlugin(Plugin):
    """The tools for skills, and the list of them in the system prompt of every request.

    One plugin serves any number of agents and people. A run's conversation is named by
    `conversation_id`, `session_id` or `thread_id` of what you give the agent with the call, or by
    the agent's session manager; otherwise every agent has its own. Skills that the conversation
    manager dropped are given back with the next request. With `suspend`, approvals are interrupts.
    """

    name = "prowess-skills"

    def __init__(self, skills: Skills | Conversation, **options: Unpack[OfferOptions]) -> None:
        super().__init__()
        self._skills = skills
        self._offer = SkillOffer(skills, **options)
        self._offer.applied = frozenset({"model", "disallowed-tools"})
        self._offered: list[Any] = [_StrandsTool(tool, self) for tool in self._offer.tools]
        self._runs: WeakKeyDictionary[Agent, _AgentRun] = WeakKeyDictionary()

    @property
    def tools(self) -> list[Any]:
        """The tools for skills."""
        return self._offered

    def init_agent(self, agent: Agent) -> None:
        """Follow the requests of an agent."""
        agent.add_middleware(InvokeModelStage.Input, self._prepare_request)

    def conversation(self, agent: Agent, invocation_state: Mapping[str, Any]) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return self._open(agent, invocation_state, invocation_state)

    async def call(self, tool: OfferedTool, tool_use: ToolUse, context: ToolContext) -> ToolOutput:
        """Carry a model's call out."""
        run = self._find_run(context.agent)
        state = context.invocation_state

        def suspend(request: ApprovalRequest) -> ApprovalAnswer:
            # The name is part of the interrupt's id, so a second question is another interrupt.
            said = context.interrupt(f"skills:{request.key}", reason=describe_question(request))
            return read_answer(said, request)

        call_context = SkillCallContext(
            conversation=await run_in_thread(lambda _: self._open(context.agent, state, context)),
            loaded=run.loaded,
            response=run.response,
            call_id=tool_use["toolUseId"],
            run=context,
            suspend=suspend if self._offer.suspends else None,
        )
        output = await self._offer.call_async(tool.name, tool_use["input"], call_context)
        if output.granted is not None:
            # The state is that of one call of the agent, so it ends with the turn.
            state[_GRANTED] = merge_granted((_get_granted(state), output.granted))
        return output

    async def _prepare_request(self, context: InvokeModelContext) -> InvokeModelContext:
        """Add the list of skills to a request, and the skills that were dropped from it."""
        run, agent = self._find_run(context.agent), context.agent
        state = context.invocation_state
        conversation = await run_in_thread(lambda _: self._open(agent, state, state))
        text = await run_in_thread(lambda _: self._offer.render_instructions(conversation))
        needed = await run_in_thread(lambda _: self._offer.list_tools(conversation))
        messages = await self._give_back(run, agent, context.messages)
        run.note_request(self._list_loaded(messages))
        left_out = {tool.name for tool in self._offer.tools} - {tool.name for tool in needed}
        granted = _get_granted(state)
        specs = []
        for spec in context.tool_specs:
            is_left_out = spec["name"] in left_out or granted.forbids(spec["name"])
            if not is_left_out:
                specs.append(spec)
        return context.replace(
            system_prompt=_add_text(context.system_prompt, text),
            messages=messages,
            tool_specs=specs,
            model=self._offer.policy.models.get(granted.model or "", context.model),
        )

    async def _give_back(
        self, run: _AgentRun, agent: Any, messages: Sequence[Message]
    ) -> list[Message]:
        # Whoever empties the messages begins anew; only what a manager removes is given back.
        removed = getattr(agent.conversation_manager, "removed_message_count", 0)
        if not removed:
            return list(messages)
        lost = find_lost(run.seen.values(), self._list_loaded(messages))
        if not lost:
            return list(messages)
        text = await run_in_thread(lambda _: render_survivors(self._skills, lost))
        return _insert_text(messages, text)

    def _list_loaded(self, messages: Iterable[Message]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(messages, tool=self._offer.load_tool.name)

    def _find_run(self, agent: Any) -> _AgentRun:
        return self._runs.setdefault(agent, _AgentRun())

    def _open(self, agent: Any, state: Mapping[str, Any], context: Any) -> Conversation:
        given = [state.get(name) for name in _ID_NAMES]
        id = next((value for value in given if isinstance(value, str)), None)
        has_session = getattr(agent, "_session_manager", None) is not None
        if id is None and has_session:
            id = agent.session_id
        return self._offer.open(context, id or self._find_run(agent).id)


class _AgentRun:
    """What is known of an agent: what its last request had, and what any request ever had."""

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self.loaded: frozenset[str] = frozenset()
        self.response = ""
        self.seen: dict[str, LoadedSkill] = {}

    def note_request(self, loaded: Sequence[LoadedSkill]) -> None:
        """A request with these skills is about to be sent."""
        self.loaded = get_versions(loaded)
        self.response = uuid.uuid4().hex
        for skill in loaded:
            # The latest last, as in the messages.
            self.seen.pop(skill.name, None)
            self.seen[skill.name] = skill


class _StrandsTool(AgentTool):
    def __init__(self, tool: OfferedTool, plugin: SkillPlugin) -> None:
        super().__init__()
        self._tool = tool
        self._plugin = plugin

    @property
    def tool_name(self) -> str:
        return self._tool.name

    @property
    def tool_spec(self) -> ToolSpec:
        return {
            "name": self._tool.name,
            "description": self._tool.description,
            "inputSchema": {"json": dict(self._tool.parameters)},
        }

    @property
    def tool_type(self) -> str:
        return "python"

    async def stream(
        self, tool_use: ToolUse, invocation_state: dict[str, Any], **kwargs: Any
    ) -> ToolGenerator:
        context = kwargs.get("_tool_context") or ToolContext(
            tool_use=tool_use, agent=invocation_state["agent"], invocation_state=invocation_state
        )
        try:
            output = await self._plugin.call(self._tool, tool_use, context)
        except InterruptException as interrupted:
            yield ToolInterruptEvent(tool_use, [interrupted.interrupt])
            return
        yield ToolResultEvent(
            {
                "toolUseId": tool_use["toolUseId"],
                "status": "success" if output.error is None else "error",
                "content": [{"text": output.text}, *map(_convert, output.blocks)],
            }
        )


def list_loaded_skills(
    messages: Iterable[Message], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    ours: set[str] = set()
    answers: list[str] = []
    survivors: list[str] = []
    for message in messages:
        for block in message["content"]:
            match block:
                case {"toolUse": {"name": name, "toolUseId": id}} if name == tool:
                    ours.add(id)
                case {"toolResult": {"toolUseId": id, "content": [{"text": text}, *_]}}:
                    # Ids are counted anew by some providers, so an answer uses its call up.
                    if id in ours:
                        ours.discard(id)
                        answers.append(text)
                case {"text": text} if message["role"] == "user" and is_survivors_text(text):
                    survivors.append(text)
    return list_loaded(answers, survivors)


def compact_skills(
    skills: Skills | Conversation,
    before: Iterable[Message] | None = None,
    after: Iterable[Message] = (),
) -> list[Message]:
    """What to put before shortened messages: the skills that they lost, as one message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    text = render_lost(skills, list_loaded_skills, before, after)
    return [{"role": "user", "content": [{"text": text}]}] if text else []


def _get_granted(state: Mapping[str, Any]) -> GrantedRequests:
    """What skills were granted in this turn."""
    granted = state.get(_GRANTED)
    return granted if isinstance(granted, GrantedRequests) else GrantedRequests()


def _insert_text(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages with a text in the first one of the user; roles have to alternate."""
    for place, message in enumerate(messages):
        if message["role"] == "user":
            content: list[ContentBlock] = [{"text": text}, *message["content"]]
            changed: Message = {**message, "content": content}
            return [*messages[:place], changed, *messages[place + 1 :]]
    return [{"role": "user", "content": [{"text": text}]}, *messages]


def _add_text(prompt: Any, text: str) -> Any:
    if not text:
        return prompt
    if not prompt:
        return text
    if isinstance(prompt, str):
        return f"{prompt}\n\n{text}"
    return [*prompt, {"text": text}]


def _convert(block: Mapping[str, Any]) -> Any:
    media = parse_block(block)
    if isinstance(media, str):
        return {"text": media}
    if media.url:
        # Strands takes bytes, and places in S3.
        return {"text": media.url}
    data = {"bytes": base64.b64decode(media.data)}
    kind = media.media_type.rpartition("/")[2]
    if media.is_image and kind in _IMAGE_FORMATS:
        return {"image": {"format": kind, "source": data}}
    if media.media_type == "application/pdf":
        return {"document": {"format": "pdf", "name": media.title or "document", "source": data}}
    return {"text": f"({media.media_type}, {len(data['bytes']):,} bytes)"}
