"""Skills for the OpenAI Agents SDK: `agent = add_skills(Agent(…), skills)`."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, Unpack
from weakref import WeakKeyDictionary

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import (
    ApprovedCall,
    SuspendedCall,
    explain_unasked,
    suspend_call,
)
from prowess.adapters.bounded import BoundedDict
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
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.runtime import Skills

try:
    from agents import (
        Agent,
        AgentBase,
        AgentHooks,
        FunctionTool,
        ModelResponse,
        RunContextWrapper,
        Runner,
        Tool,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        TResponseInputItem,
    )
    from agents.run import CallModelData, CallModelInputFilter, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    explain_import(
        error,
        extra="openai-agents",
        module="agents",
        purpose="give skills to an agent built with the OpenAI Agents SDK",
    )

Output = ToolOutputText | ToolOutputImage | ToolOutputFileContent
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]

_in_fork: ContextVar[bool] = ContextVar("prowess_in_fork", default=False)
_ID_NAMES = ("conversation_id", "session_id", "thread_id")


def add_skills(
    agent: Agent[Any], skills: Skills | Conversation, **options: Unpack[OfferOptions]
) -> Agent[Any]:
    """A copy of an agent with the tools for skills and the list of them in its instructions.

    One agent serves any number of people. A run's conversation is named by `conversation_id`,
    `session_id` or `thread_id` of the context that you give `Runner.run`, as an attribute or a key,
    unless the option `conversation` finds it. Without either, each call is on its own: nothing
    stays awake, and “always” is not kept.
    """
    offer = SkillOffer(skills, **options)
    offer.applied = frozenset({"allowed-tools", "disallowed-tools", "context"})
    requests = _RequestLog(offer.load_tool.name)
    own_tools = [_apply_granted(tool, requests) for tool in agent.tools]
    return agent.clone(
        instructions=_make_instructions(offer, agent.instructions),
        tools=[*own_tools, *(_make_tool(tool, offer, requests) for tool in offer.tools)],
        hooks=_SkillHooks(requests, agent.hooks),
    )


def skill_tools(
    skills: Skills | Conversation, **options: Unpack[OfferOptions]
) -> list[FunctionTool]:
    """The tools for skills on their own. Errors go to the model as the tool's output.

    The SDK does not tell a tool what earlier turns of its run added to the messages, so a skill
    that is asked for twice in one run is given twice. `add_skills` knows better.
    """
    offer = SkillOffer(skills, **options)
    requests = _RequestLog(offer.load_tool.name)
    return [_make_tool(tool, offer, requests) for tool in offer.tools]


def skill_instructions(
    skills: Skills | Conversation, instructions: str = "", **options: Unpack[OfferOptions]
) -> Instructions:
    """What `Agent(instructions=…)` takes: your own instructions, then the list of skills."""
    return _make_instructions(SkillOffer(skills, **options), instructions)


def keep_skills(
    skills: Skills | Conversation, shorten: CallModelInputFilter
) -> CallModelInputFilter:
    """A `call_model_input_filter` that shortens as yours does, and gives back skills it drops."""
    tool = skills.profile.tool.name

    async def shorten_all_else(data: CallModelData[Any]) -> ModelInputData:
        before = list_loaded_skills(data.model_data.input, tool=tool)
        shortened = shorten(data)
        result = await shortened if inspect.isawaitable(shortened) else shortened
        lost = find_lost(before, list_loaded_skills(result.input, tool=tool))
        if not lost:
            return result
        text = await asyncio.to_thread(render_survivors, skills, lost)
        # First, where it stays the same from request to request.
        return ModelInputData([*_make_message(text), *result.input], result.instructions)

    return shorten_all_else


def compact_skills(
    skills: Skills | Conversation,
    before: Iterable[TResponseInputItem] | None = None,
    after: Iterable[TResponseInputItem] = (),
) -> list[TResponseInputItem]:
    """What to append to shortened input items: the skills that they lost, as one message.

    Without the items from `before`, the ledger of a conversation says what was loaded.
    """
    return _make_message(render_lost(skills, list_loaded_skills, before, after))


def list_loaded_skills(
    items: Iterable[TResponseInputItem], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its input: outputs of the tool, and what was given back."""
    ours: set[Any] = set()
    answers: list[str] = []
    survivors: list[str] = []
    for item in items:
        match item:
            case {"type": "function_call", "name": name, "call_id": id} if name == tool:
                ours.add(id)
            case {"type": "function_call_output", "call_id": id, "output": output} if id in ours:
                answers.append(_get_text(output))
            case {"role": "user", "content": str(text)} if is_survivors_text(text):
                survivors.append(text)
    return list_loaded(answers, survivors)


class _CallOrigin(NamedTuple):
    """What the request had whose response made a call.

    The run's `usage` is kept, so that its `id` means this run as long as the entry is there.
    """

    usage: object
    loaded: frozenset[str]
    response: str


class _RequestLog:
    """Remembers, for each call under way, which skills the request before it had.

    The SDK tells its hooks the input of a request, but not its tools.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self._sent: WeakKeyDictionary[RunContextWrapper[Any], frozenset[str]] = WeakKeyDictionary()
        self._calls: BoundedDict[tuple[int, str], _CallOrigin] = BoundedDict()
        self._granted: BoundedDict[tuple[int, str], tuple[object, GrantedRequests]] = BoundedDict()
        self._lock = threading.Lock()

    def note_request(
        self, context: RunContextWrapper[Any], items: Iterable[TResponseInputItem]
    ) -> None:
        """A request with these items is about to be sent."""
        self._sent[context] = get_versions(list_loaded_skills(items, tool=self.tool))

    def note_response(self, context: RunContextWrapper[Any], response: ModelResponse) -> None:
        """The response to that request arrived."""
        seen = _CallOrigin(context.usage, self._sent.get(context, frozenset()), uuid.uuid4().hex)
        with self._lock:
            for item in response.output:
                call_id = getattr(item, "call_id", None)
                if isinstance(call_id, str):
                    self._calls[id(context.usage), call_id] = seen

    def note_granted(self, context: RunContextWrapper[Any], granted: GrantedRequests) -> None:
        """A skill was granted something for the rest of the run."""
        merged = merge_granted((self.get_granted(context), granted))
        with self._lock:
            self._granted[id(context.usage), ""] = (context.usage, merged)

    def get_granted(self, context: RunContextWrapper[Any]) -> GrantedRequests:
        """What skills were granted in a run."""
        with self._lock:
            kept = self._granted.get((id(context.usage), ""))
        return kept[1] if kept is not None else GrantedRequests()

    def find(self, context: RunContextWrapper[Any], call_id: str) -> _CallOrigin:
        """What the request had whose response made this call.

        Without the hooks, and in a run that was resumed, only the run's own input is known.
        """
        with self._lock:
            seen = self._calls.get((id(context.usage), call_id))
        if seen is not None:
            return seen
        versions = get_versions(list_loaded_skills(context.turn_input, tool=self.tool))
        return _CallOrigin(context.usage, versions, "")


class _SkillHooks(AgentHooks[Any]):
    """Follows the requests of an agent, and passes everything on to its own hooks."""

    def __init__(self, requests: _RequestLog, own: Any) -> None:
        self._requests = requests
        self._own = own or AgentHooks()

    async def on_llm_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        self._requests.note_request(context, input_items)
        await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        self._requests.note_response(context, response)
        await self._own.on_llm_end(context, agent, response)

    async def on_start(self, context: Any, agent: Any) -> None:
        await self._own.on_start(context, agent)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._own.on_end(context, agent, output)

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        await self._own.on_handoff(context, agent, source)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        await self._own.on_tool_start(context, agent, tool)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        await self._own.on_tool_end(context, agent, tool, result)


def _make_instructions(offer: SkillOffer, own: Any) -> Instructions:
    async def render(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        text = own(context, agent) if callable(own) else own
        if inspect.isawaitable(text):
            text = await text
        listed = await asyncio.to_thread(lambda: offer.render_instructions(_open(offer, context)))
        return "\n\n".join(filter(None, (text, listed)))

    return render


def _make_tool(tool: OfferedTool, offer: SkillOffer, requests: _RequestLog) -> FunctionTool:
    calls = _ToolCalls(tool, offer, requests)
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=_make_strict(tool.parameters),
        on_invoke_tool=calls.answer,
        is_enabled=calls.is_offered if tool.kind == "find" else True,
        needs_approval=calls.needs_approval if offer.suspends else False,
    )


class _ToolCalls:
    """The calls of one tool."""

    def __init__(self, tool: OfferedTool, offer: SkillOffer, requests: _RequestLog) -> None:
        self._tool = tool
        self._offer = offer
        self._requests = requests
        self._finished: BoundedDict[tuple[int, str], ToolOutput] = BoundedDict()

    async def answer(self, context: ToolContext[Any], arguments: str) -> str | list[Output]:
        """The result of a call."""
        parameters = _parse_object(arguments)
        if parameters is None:
            return f"The tool {self._tool.name} takes a JSON object, not this: {arguments[:200]}"
        output = self._finished.pop((id(context.usage), context.tool_call_id), None)
        if output is None:
            # The SDK calls a tool that needs approval only when it was given.
            suspend = ApprovedCall().answer if self._offer.suspends else None
            output = await self._carry_out(context, context.tool_call_id, parameters, suspend)
        is_fork = output.granted is not None and output.granted.fork
        if is_fork and isinstance(context.agent, Agent) and not _in_fork.get():
            return await _follow(context.agent, context, output.text)
        return _render(output)

    async def needs_approval(
        self, context: RunContextWrapper[Any], parameters: dict[str, Any], call_id: str
    ) -> bool:
        """Whether someone has to be asked first, which only trying tells.

        Without a question the call is done then, and its output waits for the SDK to ask for it.
        """
        try:
            output = await self._carry_out(context, call_id, parameters, suspend_call)
        except SuspendedCall:
            return True
        self._finished[(id(context.usage), call_id)] = output
        return False

    async def is_offered(self, context: RunContextWrapper[Any], agent: AgentBase[Any]) -> bool:
        """Whether the tool is among those of this conversation."""
        offer = self._offer
        tools = await asyncio.to_thread(lambda: offer.list_tools(_open(offer, context)))
        return self._tool in tools

    async def _carry_out(
        self,
        context: RunContextWrapper[Any],
        call_id: str,
        parameters: Mapping[str, Any],
        suspend: Callable[[ApprovalRequest], ApprovalAnswer] | None,
    ) -> ToolOutput:
        seen = self._requests.find(context, call_id)
        call_context = SkillCallContext(
            conversation=await asyncio.to_thread(_open, self._offer, context),
            loaded=seen.loaded,
            response=seen.response,
            call_id=call_id,
            run=context,
            suspend=suspend,
        )
        output = await self._offer.call_async(self._tool.name, parameters, call_context)
        if output.granted is not None:
            self._requests.note_granted(context, output.granted)
        return output


async def _follow(agent: Agent[Any], context: ToolContext[Any], text: str) -> str:
    """Let a sub-agent follow a skill; its answer is the result of the call."""
    # A skill that it loads is loaded in the sub-agent itself, or forks would never end.
    token = _in_fork.set(True)
    try:
        result = await Runner.run(
            agent, text, context=context.context, run_config=context.run_config
        )
    finally:
        _in_fork.reset(token)
    if result.interruptions:
        # The sub-agent's run ends with this call, so nobody could resume it with the answers.
        return explain_unasked(item.tool_name or "a tool" for item in result.interruptions)
    return str(result.final_output)


def _apply_granted(tool: Tool, requests: _RequestLog) -> Tool:
    """A tool of the agent that skills can forbid, or free of its approval."""
    if not isinstance(tool, FunctionTool):
        return tool
    is_enabled, needs_approval = tool.is_enabled, tool.needs_approval

    async def is_left(context: RunContextWrapper[Any], agent: AgentBase[Any]) -> bool:
        if requests.get_granted(context).forbids(tool.name):
            return False
        said = is_enabled(context, agent) if callable(is_enabled) else is_enabled
        return bool(await said if inspect.isawaitable(said) else said)

    async def is_asked(
        context: RunContextWrapper[Any], parameters: dict[str, Any], call_id: str
    ) -> bool:
        if requests.get_granted(context).allows(tool.name):
            return False
        if callable(needs_approval):
            return await needs_approval(context, parameters, call_id)
        return needs_approval

    changed = dataclasses.replace(tool, is_enabled=is_left)
    if needs_approval is False:
        # The SDK asks about some calls of any tool that has a function for this.
        return changed
    return dataclasses.replace(changed, needs_approval=is_asked)


def _open(offer: SkillOffer, context: RunContextWrapper[Any]) -> Conversation:
    given = context.context
    ids = (
        given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
        for name in _ID_NAMES
    )
    # An empty id is none: it would be shared by everybody who has not got one.
    found = (str(id) for id in ids if id not in (None, ""))
    return offer.open(context, next(found, None))


def _make_message(text: str) -> list[TResponseInputItem]:
    return [{"role": "user", "content": text}] if text else []


def _make_strict(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A strict schema requires every property, so an optional one may be null instead."""
    properties = {
        name: schema
        if name in parameters["required"]
        else {**schema, "type": [schema["type"], "null"]}
        for name, schema in parameters["properties"].items()
    }
    return {**parameters, "properties": properties, "required": list(properties)}


def _parse_object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _get_text(output: Any) -> str:
    """The first text of an output, which is where the tool puts a skill."""
    if isinstance(output, str):
        return output
    texts = (part.get("text") for part in output if isinstance(part, Mapping))
    return next((text for text in texts if isinstance(text, str)), "")


def _render(output: ToolOutput) -> str | list[Output]:
    media = [_convert(block) for block in output.blocks]
    return [ToolOutputText(text=output.text), *media] if media else output.text


def _convert(block: Mapping[str, Any]) -> Output:
    media = parse_block(block)
    if isinstance(media, str):
        return ToolOutputText(text=media)
    if media.is_image:
        return ToolOutputImage(image_url=media.address)
    if media.url:
        return ToolOutputFileContent(file_url=media.url)
    return ToolOutputFileContent(file_data=media.address, filename=media.file_name)
