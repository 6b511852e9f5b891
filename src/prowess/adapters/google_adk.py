"""Skills for Google's ADK: `Agent(model=…, tools=[SkillToolset(skills)])`."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Unpack
from urllib.parse import quote

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import (
    ApprovedCall,
    SuspendedCall,
    describe_question,
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
from prowess.machine.event_loop import run_in_thread
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.runtime import Skills

try:
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as error:
    explain_import(
        error,
        extra="google-adk",
        module="google.adk",
        purpose="give skills to an agent built with Google's ADK",
    )

_WAITS = "This call waits for the approval of a person."


class SkillToolset(BaseToolset):
    """The tools for skills, and the list of them in the instructions of every request.

    One toolset serves any number of people: a run's conversation is that of its session, unless the
    option `conversation` finds it. Where ADK compacts a session, skills that were dropped are given
    back with the next request. With `suspend`, approvals are tool confirmations.
    """

    def __init__(self, skills: Skills | Conversation, **options: Unpack[OfferOptions]) -> None:
        super().__init__()
        self._skills = skills
        self._offer = SkillOffer(skills, **options)
        # A toolset cannot take the tools of others away.
        self._offer.applied = frozenset({"model"})
        self._granted: BoundedDict[tuple[str, ...], GrantedRequests] = BoundedDict()
        self._requests: BoundedDict[tuple[str, ...], _SentRequest] = BoundedDict()

    def conversation(self, context: ReadonlyContext) -> Conversation:
        """The conversation of a run, for tools that tell it which files they touched."""
        return self._offer.open(context, "/".join(_identify_session(context)))

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """The tools; the one that finds skills only where some are not listed."""
        context = readonly_context
        if context is None:
            tools = self._offer.tools
        else:
            tools = await run_in_thread(
                lambda _: self._offer.list_tools(self.conversation(context))
            )
        return [_AdkTool(tool, self) for tool in tools]

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Add the list of skills to a request, and the skills that a compaction dropped."""
        text = await run_in_thread(
            lambda _: self._offer.render_instructions(self.conversation(tool_context))
        )
        if text:
            llm_request.append_instructions([text])
        granted = self._granted.get(_identify_run(tool_context), GrantedRequests())
        model = self._offer.policy.models.get(granted.model or "")
        if model is not None:
            llm_request.model = model
        await self._give_back(tool_context, llm_request)
        loaded = get_versions(self._list_loaded(llm_request.contents))
        # A response has no id of its own before it is an event, so its request gets one.
        self._requests[_identify_run(tool_context)] = _SentRequest(loaded, uuid.uuid4().hex)

    async def call(self, tool: OfferedTool, args: dict[str, Any], context: ToolContext) -> Any:
        """Carry a model's call out."""
        seen = self._requests.get(_identify_run(context))
        if seen is None:
            contents = [event.content for event in context.session.events if event.content]
            seen = _SentRequest(get_versions(self._list_loaded(contents)), "")
        call_context = SkillCallContext(
            conversation=await run_in_thread(lambda _: self.conversation(context)),
            loaded=seen.loaded,
            response=seen.response,
            call_id=context.function_call_id or "",
            run=context,
            suspend=_make_suspension(context) if self._offer.suspends else None,
        )
        try:
            output = await self._offer.call_async(tool.name, args, call_context)
        except SuspendedCall as suspended:
            question = describe_question(suspended.request)
            context.request_confirmation(hint=_describe(suspended.request), payload=question)
            context.actions.skip_summarization = True
            return {"error": _WAITS}
        if output.granted is not None:
            # An invocation is a turn, so what is granted ends with it.
            run = _identify_run(context)
            earlier = self._granted.get(run, GrantedRequests())
            self._granted[run] = merge_granted((earlier, output.granted))
        return _render(output)

    async def _give_back(self, context: ToolContext, request: LlmRequest) -> None:
        events = context.session.events
        if not any(event.actions and event.actions.compaction for event in events):
            return
        before = self._list_loaded(event.content for event in events if event.content)
        lost = find_lost(before, self._list_loaded(request.contents))
        if lost:
            text = await run_in_thread(lambda _: render_survivors(self._skills, lost))
            # First, where it stays the same from request to request.
            request.contents[:0] = _make_message(text)

    def _list_loaded(self, contents: Iterable[types.Content]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(contents, tool=self._offer.load_tool.name)


class _AdkTool(BaseTool):
    def __init__(self, tool: OfferedTool, toolset: SkillToolset) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=dict(self._tool.parameters),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return await self._toolset.call(self._tool, args, tool_context)


class _SentRequest(NamedTuple):
    """What the model had in the request whose response made a call."""

    loaded: frozenset[str]
    response: str


def list_loaded_skills(
    contents: Iterable[types.Content], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its contents: results of the tool, and what was given back."""
    answers: list[str] = []
    survivors: list[str] = []
    for content in contents:
        is_users = content.role == "user"
        for part in content.parts or ():
            answered = part.function_response
            if answered is not None and answered.name == tool:
                response = answered.response or {}
                answers.append(str(response.get("result", "")))
            elif is_users and part.text:
                survivors.append(part.text)
    return list_loaded(answers, filter(is_survivors_text, survivors))


def compact_skills(
    skills: Skills | Conversation,
    before: Iterable[types.Content] | None = None,
    after: Iterable[types.Content] = (),
) -> list[types.Content]:
    """What to append to shortened contents: the skills that they lost, as one message.

    Without the contents from `before`, the ledger of a conversation says what was loaded.
    """
    return _make_message(render_lost(skills, list_loaded_skills, before, after))


def _make_message(text: str) -> list[types.Content]:
    return [types.Content(role="user", parts=[types.Part(text=text)])] if text else []


def _identify_session(context: ReadonlyContext) -> tuple[str, ...]:
    """The session as ADK tells them apart: two people may have sessions of the same id."""
    session = context.session
    return tuple(quote(part, safe="") for part in (session.app_name, session.user_id, session.id))


def _identify_run(context: ToolContext) -> tuple[str, ...]:
    ids = (context.invocation_id, context.agent_name, context.branch or "")
    return (*_identify_session(context), *ids)


def _make_suspension(context: ToolContext) -> Callable[[ApprovalRequest], ApprovalAnswer]:
    """Ask for a confirmation, or use the one that was given."""
    confirmation = context.tool_confirmation
    if confirmation is None:
        return suspend_call
    if not confirmation.confirmed:
        return lambda request: ApprovalAnswer(ApprovalChoice.REJECT)
    payload = confirmation.payload
    keys = [payload["key"]] if isinstance(payload, Mapping) and "key" in payload else []
    return ApprovedCall(keys=keys).answer


def _describe(request: ApprovalRequest) -> str:
    commands = request.metadata.get("commands")
    what = ", ".join(commands) if commands else ", ".join(request.patterns)
    verb = "run" if commands else "use the skill"
    note = f" {request.note}" if request.note else ""
    return f"May the model {verb} {what}?{note}"


def _render(output: ToolOutput) -> dict[str, Any]:
    if output.error is not None:
        return {"error": output.text}
    media = [_convert(block) for block in output.blocks]
    return {"result": output.text, "media": media} if media else {"result": output.text}


def _convert(block: Mapping[str, Any]) -> types.Part | str:
    media = parse_block(block)
    if isinstance(media, str):
        return media
    if media.url:
        kind = "image/*" if media.is_image else "application/pdf"
        return types.Part.from_uri(file_uri=media.url, mime_type=kind)
    return types.Part.from_bytes(data=base64.b64decode(media.data), mime_type=media.media_type)
