"""Skills for LangChain: `create_agent(model, middleware=[SkillMiddleware(skills)])`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Unpack

import msgspec

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import describe_question, read_answer
from prowess.adapters.compaction import find_lost, render_lost, render_survivors
from prowess.adapters.media import parse_block
from prowess.adapters.policy import GrantedRequests, keep_granted, merge_granted, parse_granted
from prowess.adapters.skill_offer import (
    OfferOptions,
    SkillOffer,
    explain_import,
    get_versions,
    list_loaded,
)
from prowess.adapters.skill_tools import OfferedTool, SkillCallContext, ToolOutput
from prowess.conversation.conversation import Conversation
from prowess.errors import UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.runtime import Skills

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ExtendedModelResponse, PrivateStateAttr
    from langchain.chat_models import init_chat_model
    from langchain.tools import ToolRuntime
    from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import StructuredTool, ToolException
    from langgraph.types import Command, interrupt
except ImportError as error:
    explain_import(
        error, extra="langchain", module="langchain", purpose="give skills to a LangChain agent"
    )

Content = str | list[str | dict[str, Any]]
# What the model gets, and what the graph keeps beside it.
Rendered = tuple[Content, dict[str, Any] | None]
_GIVEN_BACK = {"prowess": "skills given back"}
_STATE_KEY = "prowess_skills"


class SkillState(AgentState[Any]):
    """What the graph keeps of a conversation with skills, in each checkpoint.

    `loaded` are the skills in the messages of the last request, and `awake` what woke.
    """

    prowess_skills: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class SkillMiddleware(AgentMiddleware[Any, Any, Any]):
    """Adds the tools for skills, and the list of them to the system message of each request.

    One middleware serves any number of people: a run's conversation is that of its `thread_id`,
    unless the option `conversation` finds another. Without either, each call is on its own. Skills
    that a summary dropped from the messages are given back, if this comes after the middleware that
    summarises. Put it last, so that it sees the messages as the model gets them.
    """

    state_schema = SkillState

    def __init__(self, skills: Skills | Conversation, **options: Unpack[OfferOptions]) -> None:
        super().__init__()
        self._skills = skills
        self._offer = SkillOffer(skills, **options)
        self._offer.applied = frozenset({"model", "disallowed-tools"})
        self.tools = [_make_tool(tool, self._offer) for tool in self._offer.tools]

    def conversation(self, runtime: Any, state: Mapping[str, Any] | None = None) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return _open(self._offer, runtime, state)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Give skills back that are no longer in the messages."""
        loaded = self._list_loaded(state["messages"])
        lost = find_lost(_read_loaded(state), loaded)
        # A single message is a new beginning, not the rest of a longer conversation.
        if not lost or len(state["messages"]) == 1:
            return None
        text = render_survivors(self.conversation(runtime, state), lost)
        return {"messages": [_make_survivors(text)]} if text else None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """As `before_model`."""
        return await asyncio.to_thread(self.before_model, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Add the list to a request, and note what its messages hold."""
        prepared, command = self._prepare(request)
        return ExtendedModelResponse(handler(prepared), command)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Add the list to a request; it is made in a worker thread."""
        prepared, command = await asyncio.to_thread(self._prepare, request)
        return ExtendedModelResponse(await handler(prepared), command)

    def _prepare(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], Command[Any]]:
        conversation = self.conversation(request.runtime, request.state)
        needed = {tool.name for tool in self._offer.list_tools(conversation)}
        extra = {tool.name for tool in self._offer.tools} - needed
        granted = list_granted(request.messages)
        tools = []
        for tool in request.tools:
            # A provider's own tools are dictionaries without a name of this kind.
            name = getattr(tool, "name", "")
            is_left_out = name in extra or granted.forbids(name)
            if not is_left_out:
                tools.append(tool)
        request = request.override(tools=tools)
        model = self._offer.policy.models.get(granted.model or "")
        if model is not None:
            chosen = init_chat_model(model) if isinstance(model, str) else model
            request = request.override(model=chosen)
        prepared = _add_text(request, self._offer.render_instructions(conversation))
        kept = {
            "loaded": msgspec.to_builtins(self._list_loaded(request.messages)),
            "awake": conversation.save(with_ledger=False),
        }
        return prepared, Command(update={_STATE_KEY: kept})

    def _list_loaded(self, messages: Sequence[AnyMessage]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(messages, tool=self._offer.load_tool.name)


def skill_tools(
    skills: Skills | Conversation, **options: Unpack[OfferOptions]
) -> list[StructuredTool]:
    """The tools for skills, for graphs and models that take tools without middleware."""
    offer = SkillOffer(skills, **options)
    return [_make_tool(tool, offer) for tool in offer.tools]


def skill_instructions(
    skills: Skills | Conversation, instructions: str = "", **options: Unpack[OfferOptions]
) -> str:
    """The text of a system message: your own instructions, then the current list of skills."""
    offer = SkillOffer(skills, **options)
    listed = offer.render_instructions(offer.open(None, None))
    return "\n\n".join(filter(None, (instructions, listed)))


def list_loaded_skills(
    messages: Sequence[AnyMessage], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    answers: list[str] = []
    survivors: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage) and message.name == tool:
            answers.append(_get_text(message.content))
        elif isinstance(message, HumanMessage) and _is_given_back(message):
            survivors.append(str(message.content))
    return list_loaded(answers, survivors)


def list_granted(messages: Sequence[AnyMessage]) -> GrantedRequests:
    """What skills were granted since the user's last message."""
    newest_first: list[GrantedRequests] = []
    for message in reversed(messages):
        kept = parse_granted(getattr(message, "artifact", None))
        if kept is not None:
            newest_first.append(kept)
        # What a compaction gave back is from the user in form only.
        if isinstance(message, HumanMessage) and not _is_given_back(message):
            break
    return merge_granted(reversed(newest_first))


def compact_skills(
    skills: Skills | Conversation,
    before: Sequence[AnyMessage] | None = None,
    after: Sequence[AnyMessage] = (),
) -> list[AnyMessage]:
    """What to append to shortened messages: the skills that they lost, as one message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    text = render_lost(skills, list_loaded_skills, before, after)
    return [_make_survivors(text)] if text else []


class _LangChainTool(StructuredTool):
    """A tool that ignores what a model adds to the parameters of the schema."""

    def _parse_input(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> str | dict[str, Any]:
        parsed = super()._parse_input(tool_input, tool_call_id)
        if isinstance(parsed, str):
            return parsed
        # They become keyword arguments: `self` or `runtime` of a model's own would break the call.
        kept = {name: value for name, value in parsed.items() if name in self.args}
        runtime = parsed.get("runtime")
        return {**kept, "runtime": runtime} if isinstance(runtime, ToolRuntime) else kept


def _make_tool(tool: OfferedTool, offer: SkillOffer) -> StructuredTool:
    def call(runtime: ToolRuntime = None, **parameters: Any) -> Rendered:  # type: ignore[assignment]
        return _render(offer.call(tool.name, parameters, _make_context(offer, runtime)))

    async def call_async(runtime: ToolRuntime = None, **parameters: Any) -> Rendered:  # type: ignore[assignment]
        context = await asyncio.to_thread(_make_context, offer, runtime)
        return _render(await offer.call_async(tool.name, parameters, context))

    return _LangChainTool.from_function(
        call,
        call_async,
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
        infer_schema=False,
        handle_tool_error=True,
        response_format="content_and_artifact",
    )


def _make_context(offer: SkillOffer, runtime: Any) -> SkillCallContext:
    conversation = _open(offer, runtime, getattr(runtime, "state", None))
    if runtime is None:
        # Called without a graph: nobody knows the messages.
        return SkillCallContext(conversation=conversation)
    state = runtime.state
    # The state of a graph may also be the list of messages alone.
    is_table = isinstance(state, Mapping)
    messages = state["messages"] if is_table else state
    if is_table and _STATE_KEY in state:
        loaded = _read_loaded(state)
    else:
        loaded = list_loaded_skills(messages, tool=offer.load_tool.name)
    response = ""
    if messages:
        response = f"{_find_thread(runtime)}#{getattr(messages[-1], 'id', None)}"
    return SkillCallContext(
        conversation=conversation,
        loaded=get_versions(loaded),
        response=response,
        call_id=runtime.tool_call_id or "",
        run=runtime,
        suspend=_interrupt if offer.suspends else None,
    )


def _interrupt(request: ApprovalRequest) -> ApprovalAnswer:
    """Suspend the graph; when it is resumed, the call is repeated and gets the answer here."""
    question = describe_question(request)
    while True:
        said = interrupt(question)
        try:
            return read_answer(said, request)
        except UsageError as error:
            # The graph keeps what was said and repeats it each time it is resumed. To raise this
            # would end every later attempt, too, so the person is asked again.
            question = {**question, "problem": str(error)}


def _open(offer: SkillOffer, runtime: Any, state: Any) -> Conversation:
    kept = state.get(_STATE_KEY) if isinstance(state, Mapping) else None
    saved = kept.get("awake") if isinstance(kept, Mapping) else None
    return offer.open(runtime, _find_thread(runtime), saved=saved)


def _find_thread(runtime: Any) -> str | None:
    """The id of the thread, which tools and nodes get in different places."""
    config = getattr(runtime, "config", None) or {}
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return str(thread) if thread is not None else None


def _read_loaded(state: Any) -> tuple[LoadedSkill, ...]:
    kept = state.get(_STATE_KEY) or {}
    return msgspec.convert(kept.get("loaded", ()), tuple[LoadedSkill, ...])


def _is_given_back(message: HumanMessage) -> bool:
    return message.additional_kwargs.items() >= _GIVEN_BACK.items()


def _make_survivors(text: str) -> HumanMessage:
    return HumanMessage(text, additional_kwargs=dict(_GIVEN_BACK))


def _add_text(request: ModelRequest[Any], text: str) -> ModelRequest[Any]:
    if not text:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(text))
    if isinstance(system.content, str):
        return request.override(system_message=SystemMessage(f"{system.content}\n\n{text}"))
    return request.override(
        system_message=SystemMessage([*system.content, {"type": "text", "text": text}])
    )


def _get_text(content: Any) -> str:
    """The first text of a result, which is where the tool puts a skill."""
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in content if isinstance(block, Mapping))
    return next((text for text in texts if isinstance(text, str)), "")


def _render(output: ToolOutput) -> Rendered:
    if output.error is not None:
        raise ToolException(output.text) from output.error
    media = [_convert(block) for block in output.blocks]
    content: Content = [{"type": "text", "text": output.text}, *media] if media else output.text
    return content, keep_granted(output.granted)


def _convert(block: Mapping[str, Any]) -> dict[str, Any]:
    media = parse_block(block)
    if isinstance(media, str):
        return {"type": "text", "text": media}
    kind = "image" if media.is_image else "file"
    if media.url:
        return {"type": kind, "url": media.url}
    return {"type": kind, "base64": media.data, "mime_type": media.media_type}
