"""Skills for Microsoft's Agent Framework: a `SkillProvider` among its `context_providers`."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NoReturn, Unpack

from prowess.activate.loaded_tags import LoadedSkill
from prowess.adapters.approval import (
    SuspendedCall,
    describe_question,
    read_approval,
    suspend_call,
)
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
    from agent_framework import (
        AgentSession,
        ChatContext,
        ChatMiddleware,
        Content,
        ContextProvider,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        Message,
        SessionContext,
    )
except ImportError as error:
    explain_import(
        error,
        extra="agent-framework",
        module="agent_framework",
        purpose="give skills to an agent of Microsoft's Agent Framework",
    )

Next = Callable[[], Awaitable[None]]
# How the framework marks messages that its compaction leaves out of requests.
_EXCLUDED = "_excluded"


class SkillProvider(ContextProvider):
    """The tools for skills, and the list of them in the instructions of every run.

    One provider serves any number of people: a run's conversation is that of its session, unless
    the option `conversation` finds it from a `SessionContext` or a `FunctionInvocationContext`.
    Skills that a compaction dropped from the messages are given back. With `suspend`, approvals are
    the framework's own.
    """

    def __init__(
        self,
        skills: Skills | Conversation,
        *,
        source_id: str = "skills",
        **options: Unpack[OfferOptions],
    ) -> None:
        super().__init__(source_id)
        self._skills = skills
        self._offer = SkillOffer(skills, **options)
        self._offer.applied = frozenset({"model", "disallowed-tools"})

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the list, the tools, and what follows the run's requests and calls."""
        conversation = await run_in_thread(lambda _: self._offer.open(context, session.session_id))
        text = await run_in_thread(lambda _: self._offer.render_instructions(conversation))
        tools = await run_in_thread(lambda _: self._offer.list_tools(conversation))
        if text:
            context.extend_instructions(self.source_id, text)
        run = _FrameworkRun(self._skills, self._offer, conversation, state)
        context.extend_tools(self.source_id, [_make_tool(tool) for tool in tools])
        context.extend_middleware(self.source_id, [_RequestMiddleware(run), _CallMiddleware(run)])


class _FrameworkRun:
    """One run of an agent. `state` is what the session keeps of it, as plain data."""

    def __init__(
        self,
        skills: Skills | Conversation,
        offer: SkillOffer,
        conversation: Conversation,
        state: dict[str, Any],
    ) -> None:
        self.skills = skills
        self.offer = offer
        self.conversation = conversation
        self.tools = {tool.name: tool for tool in offer.tools}
        self.loaded: frozenset[str] = frozenset()
        self.response = ""
        # A run is a turn, so what is granted ends with it.
        self.granted = GrantedRequests()
        self._state = state

    async def prepare(self, messages: Iterable[Message]) -> list[Message]:
        """The messages of a request, with the skills that they lost given back."""
        sent = list(messages)
        lost = find_lost(self._load_seen(), self._list_loaded(sent))
        if lost:
            text = await run_in_thread(lambda _: render_survivors(self.skills, lost))
            # Behind the instructions, where it stays the same from request to request.
            start = next((i for i, one in enumerate(sent) if one.role != "system"), len(sent))
            sent[start:start] = _make_message(text)
        loaded = self._list_loaded(sent)
        self.loaded = get_versions(loaded)
        self.response = uuid.uuid4().hex
        self._keep_seen(loaded)
        return sent

    def _list_loaded(self, messages: Iterable[Message]) -> tuple[LoadedSkill, ...]:
        return list_loaded_skills(messages, tool=self.offer.load_tool.name)

    def _load_seen(self) -> list[LoadedSkill]:
        kept = self._state.get("loaded")
        rows = kept if isinstance(kept, list) else []
        return [LoadedSkill(**row) for row in rows if isinstance(row, dict)]

    def _keep_seen(self, loaded: Iterable[LoadedSkill]) -> None:
        latest = {skill.name: skill for skill in (*self._load_seen(), *loaded)}
        self._state["loaded"] = [
            {
                "name": skill.name,
                "digest": skill.digest,
                "text": skill.text,
                "has_media": skill.has_media,
            }
            for skill in latest.values()
        ]


class _RequestMiddleware(ChatMiddleware):
    """Follows the requests of a run."""

    def __init__(self, run: _FrameworkRun) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Next) -> None:
        run = self._run
        context.messages = await run.prepare(context.messages)
        options = dict(context.options or {})
        if run.granted.disallowed_tools:
            tools = options.get("tools") or ()
            forbids = run.granted.forbids
            options["tools"] = [tool for tool in tools if not forbids(getattr(tool, "name", ""))]
        model = run.offer.policy.models.get(run.granted.model or "")
        if model is not None:
            options["model"] = model
        context.options = options
        await call_next()


class _CallMiddleware(FunctionMiddleware):
    """Carries the calls of skills' tools out; all others go on."""

    def __init__(self, run: _FrameworkRun) -> None:
        self._run = run

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        run, tool = self._run, self._run.tools.get(context.function.name)
        if run.granted.forbids(context.function.name):
            context.result = [Content.from_text("A loaded skill does not allow this tool.")]
            return
        if tool is None:
            await call_next()
            return
        call_context = SkillCallContext(
            conversation=run.conversation,
            loaded=run.loaded,
            response=run.response,
            call_id=str(context.metadata.get("call_id", "")),
            run=context,
            suspend=_make_suspension(context) if run.offer.suspends else None,
        )
        try:
            output = await run.offer.call_async(tool.name, context.arguments, call_context)
        except SuspendedCall as suspended:
            context.result = _ask(context, suspended.request)
            return
        if output.granted is not None:
            run.granted = merge_granted((run.granted, output.granted))
        context.result = _render(output)


def list_loaded_skills(
    messages: Iterable[Message], *, tool: str = "skill"
) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages: results of the tool, and what was given back."""
    ours: set[str] = set()
    answers: list[str] = []
    survivors: list[str] = []
    for message in messages:
        # A compaction leaves messages in the session and marks them; the model does not get them.
        if message.additional_properties.get(_EXCLUDED):
            continue
        for content in message.contents:
            if content.type == "function_call" and content.name == tool and content.call_id:
                ours.add(content.call_id)
            elif content.type == "function_result" and content.call_id in ours:
                # Ids are counted anew by some providers, so an answer uses its call up.
                ours.discard(content.call_id)
                answers.append(_get_text(content))
            elif content.type == "text" and message.role == "user":
                survivors.append(content.text or "")
    return list_loaded(answers, filter(is_survivors_text, survivors))


def compact_skills(
    skills: Skills | Conversation,
    before: Iterable[Message] | None = None,
    after: Iterable[Message] = (),
) -> list[Message]:
    """What to put before shortened messages: the skills that they lost, as one message.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    return _make_message(render_lost(skills, list_loaded_skills, before, after))


def _make_message(text: str) -> list[Message]:
    return [Message(role="user", contents=[text])] if text else []


def _make_tool(tool: OfferedTool) -> FunctionTool:
    # The middleware carries the call out, because only there it can be suspended.
    def refuse(**parameters: Any) -> NoReturn:
        raise RuntimeError(f"The tool {tool.name} works only in an agent with its provider.")

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        input_model=dict(tool.parameters),
        func=refuse,
    )


def _make_suspension(
    context: FunctionInvocationContext,
) -> Callable[[ApprovalRequest], ApprovalAnswer]:
    """Ask for an approval, or use the one that was given."""
    given = context.metadata.get("approval_response")
    if given is not None and given.approved:
        return read_approval(given.additional_properties).answer
    return suspend_call


def _ask(context: FunctionInvocationContext, request: ApprovalRequest) -> Content:
    call_id = str(context.metadata["call_id"])
    id = str(context.metadata.get("function_call_occurrence_id") or call_id)
    arguments = context.arguments
    call = Content.from_function_call(
        call_id=call_id,
        name=context.function.name,
        arguments=dict(arguments) if isinstance(arguments, Mapping) else arguments.model_dump(),
        id=id,
    )
    question = describe_question(request)
    return Content.from_function_approval_request(
        id=id, function_call=call, additional_properties=question
    )


def _render(output: ToolOutput) -> list[Content]:
    return [Content.from_text(output.text), *map(_convert, output.blocks)]


def _get_text(content: Content) -> str:
    """The first text of a result, which is where the tool puts a skill."""
    for item in content.items or ():
        if item.type == "text" and item.text:
            return str(item.text)
    return str(content.result or "")


def _convert(block: Mapping[str, Any]) -> Content:
    media = parse_block(block)
    if isinstance(media, str):
        return Content.from_text(media)
    if media.url:
        kind = "image/*" if media.is_image else "application/pdf"
        return Content.from_uri(media.url, media_type=kind)
    return Content.from_data(base64.b64decode(media.data), media.media_type)
