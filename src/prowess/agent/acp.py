"""The agent in an editor: sessions over the Agent Client Protocol, on stdin and stdout.

The editor shows text, calls and their changes as they come, and answers questions about permission.
Skills are its slash commands.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Literal

import acp
import msgspec
from acp import helpers, schema
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)

from prowess.activate.slash.completion import spell
from prowess.agent.acp_messages import MOST_BYTES, MessageLines
from prowess.agent.events import (
    Event,
    SkillLoaded,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    Warned,
)
from prowess.agent.prompt_content import get_text
from prowess.agent.session import Session
from prowess.agent.session_file import load_session
from prowess.errors import ProwessError
from prowess.machine.event_loop import run_in_thread
from prowess.model.mcp import McpServer, Transport
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.reports.approval_request import describe_request
from prowess.runtime import Skills
from prowess.text.permission_rules import MCP_PREFIX
from prowess.version import VERSION

Kind = Literal["read", "edit", "search", "execute", "fetch", "think", "other"]

_KINDS: dict[str, Kind] = {
    "Read": "read",
    "Write": "edit",
    "Edit": "edit",
    "Glob": "search",
    "Grep": "search",
    "Bash": "execute",
    "WebFetch": "fetch",
    "Task": "think",
}
_STOP_REASONS: dict[str, schema.StopReason] = {
    "done": "end_turn",
    "refused": "end_turn",
    "budget": "max_turn_requests",
    "interrupted": "cancelled",
}
_OPTIONS = (
    schema.PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
    schema.PermissionOption(option_id="always", name="Always allow this", kind="allow_always"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
# A title is one line of the editor.
_MOST_TITLE = 200

OpenSession = Callable[..., Session]
"""Opens a session of some skills, with an approver and, if it goes on with another, that one."""


class AcpAgent:
    """What an editor talks to. It has many sessions, each in a folder of its own.

    `open_skills` opens the skills of a folder, `open_session` a session with them.
    """

    def __init__(self, open_skills: Callable[[str], Skills], open_session: OpenSession) -> None:
        self._open_skills = open_skills
        self._open_session = open_session
        self._sessions: dict[str, _EditorSession] = {}
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        """Remember the editor."""
        self._client = conn

    async def initialize(self, protocol_version: int, **more: Any) -> schema.InitializeResponse:
        """Agree on the protocol, and say what this agent can do."""
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
            ),
            agent_info=schema.Implementation(name="prowess", title="Prowess", version=VERSION),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> schema.NewSessionResponse:
        """Begin a session in a folder."""
        opened = await self._open(cwd, mcp_servers)
        return schema.NewSessionResponse(session_id=opened.session.id)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> schema.LoadSessionResponse:
        """Go on with a session that was kept; the editor is shown what happened in it."""
        opened = await self._open(cwd, mcp_servers, resume=session_id)
        for update in list_past_updates(opened.session.messages):
            await self._client.session_update(opened.session.id, update)
        return schema.LoadSessionResponse()

    async def prompt(
        self, session_id: str, prompt: Sequence[Any], **more: Any
    ) -> schema.PromptResponse:
        """Run a turn with what the user typed; the answer comes in updates."""
        return await self._get(session_id).run(render_prompt(prompt))

    async def cancel(self, session_id: str, **more: Any) -> None:
        """Interrupt the turn that is running."""
        self._get(session_id).session.interrupt()

    async def close_session(self, session_id: str, **more: Any) -> schema.CloseSessionResponse:
        """End a session."""
        opened = self._sessions.pop(session_id, None)
        if opened is not None:
            await run_in_thread(lambda is_cancelled: opened.session.close())
        return schema.CloseSessionResponse()

    async def authenticate(self, method_id: str, **more: Any) -> schema.AuthenticateResponse:
        """Nothing to do: providers take their keys from the environment."""
        return schema.AuthenticateResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """There are no methods beside the protocol's."""
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore what the protocol does not have."""

    def close(self) -> None:
        """End every session."""
        for opened in self._sessions.values():
            opened.session.close()
        self._sessions.clear()

    async def _open(
        self, cwd: str, mcp_servers: Sequence[Any] | None, *, resume: str | None = None
    ) -> _EditorSession:
        opened = _EditorSession(self._client)

        def open_session(is_cancelled: object) -> Session:
            skills = self._open_skills(cwd)
            saved = None if resume is None else load_session(skills.facts, resume)
            return self._open_session(
                skills,
                approver=opened,
                resume=saved,
                servers=[read_server(one) for one in mcp_servers or ()],
            )

        try:
            opened.session = await run_in_thread(open_session)
        except ProwessError as error:
            raise _as_request_error(error) from error
        self._sessions[opened.session.id] = opened
        await opened.announce_commands()
        return opened

    def _get(self, session_id: str) -> _EditorSession:
        if session_id not in self._sessions:
            raise acp.RequestError.invalid_params({"message": f"no session {session_id}"})
        return self._sessions[session_id]


def _as_request_error(error: ProwessError) -> acp.RequestError:
    hint = f" {error.hint}" if error.hint else ""
    return acp.RequestError(-32602, f"{error}{hint}")


class _EditorSession:
    """One session: its events as updates, and its questions as requests to the editor."""

    session: Session

    def __init__(self, client: Any) -> None:
        self._client = client
        # The calls that run now, by their ids: a question is about one that was just shown.
        self._calls: dict[str, ToolStarted] = {}
        self._numbers = itertools.count(1)

    async def announce_commands(self) -> None:
        """Tell the editor which commands can be typed."""
        skills = self.session.skills
        found = [
            schema.AvailableCommand(
                name=spell(command, skills.profile.commands).removeprefix("/"),
                description=command.description,
                input=_make_input(command.argument_hint),
            )
            for command in skills.commands().typable
        ]
        await self._client.session_update(self.session.id, helpers.update_available_commands(found))

    async def run(self, text: str) -> schema.PromptResponse:
        """Run one turn."""
        ended: TurnEnded | None = None
        try:
            async with aclosing(self.session.send(text)) as events:
                async for event in events:
                    if isinstance(event, TurnEnded):
                        ended = event
                    for update in self._translate(event):
                        await self._client.session_update(self.session.id, update)
        except ProwessError as error:
            raise _as_request_error(error) from error
        assert ended is not None
        if ended.status == "failed":
            raise acp.RequestError(-32603, ended.reason or "The turn failed.")
        return schema.PromptResponse(stop_reason=_STOP_REASONS[ended.status])

    def _translate(self, event: Event) -> Iterator[Any]:
        """The updates that show an event."""
        match event:
            # What a sub-agent says is part of the result of its call.
            case TextDelta(agent="", text=text):
                yield helpers.update_agent_message_text(text)
            case ThinkingDelta(agent="", text=text):
                yield helpers.update_agent_thought_text(text)
            case ToolStarted():
                self._calls[event.call] = event
                yield start_call(event)
            case ToolFinished():
                self._calls.pop(event.call, None)
                yield finish_call(event)
            case SkillLoaded(name=name, by="user"):
                yield helpers.update_agent_thought_text(f"Skill {name}\n")
            case Warned(message=message):
                yield helpers.update_agent_thought_text(f"{message}\n")
            case TurnEnded(status="refused" | "budget", answer="", reason=reason) if reason:
                yield helpers.update_agent_message_text(f"{reason}.")

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask the user in the editor. A question that is cancelled is a refusal."""
        title = str(request.metadata.get("title") or f"Use {', '.join(request.patterns)}")
        call = self._find_call(request) or f"question-{next(self._numbers)}"
        shown = "\n".join(describe_request(request))
        content: list[Any] = [
            *list_diffs(str(request.metadata.get("diff", ""))),
            helpers.tool_content(helpers.text_block(shown)),
        ]
        options = [one for one in _OPTIONS if one.option_id != "always" or request.always]
        answer = await self._client.request_permission(
            self.session.id,
            schema.ToolCallUpdate(tool_call_id=call, title=title[:_MOST_TITLE], content=content),
            options,
        )
        chosen = getattr(answer.outcome, "option_id", "reject")
        choices = {"once": ApprovalChoice.ONCE, "always": ApprovalChoice.ALWAYS}
        return ApprovalAnswer(choices.get(chosen, ApprovalChoice.REJECT))

    def _find_call(self, request: ApprovalRequest) -> str | None:
        """The id of the running call that a question is about: by its title, or by its skill."""
        title = request.metadata.get("title")
        skills = (request.metadata.get("skill", ""), *request.patterns)
        for call in reversed(self._calls.values()):
            if call.title == title or (title is None and call.input.get("name") in skills):
                return call.call
        return None


def _make_input(hint: str | None) -> schema.AvailableCommandInput | None:
    if not hint:
        return None
    return schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint))


def start_call(event: ToolStarted) -> Any:
    """A call as the editor shows it when it begins, with the change that it would make."""
    path = event.input.get("file_path") or event.input.get("path")
    locations = [schema.ToolCallLocation(path=path)] if isinstance(path, str) else None
    return helpers.start_tool_call(
        event.call,
        event.title[:_MOST_TITLE],
        kind=_find_kind(event.tool),
        status="in_progress",
        content=list(list_diffs(event.diff)) or None,
        locations=locations,
        raw_input=dict(event.input),
    )


def finish_call(event: ToolFinished) -> Any:
    """The end of a call, with what the model receives."""
    return helpers.update_tool_call(
        event.call,
        status="completed" if event.outcome == "done" else "failed",
        # The change is what a person wants to see of a write, not the sentence about it.
        content=None
        if _find_kind(event.tool) == "edit" and event.outcome == "done"
        else [helpers.tool_content(helpers.text_block(event.output))],
    )


def _find_kind(tool: str) -> Kind:
    return "other" if tool.startswith(MCP_PREFIX) else _KINDS.get(tool, "other")


def list_diffs(diff: str) -> Iterator[Any]:
    """A change as editors want it: for each part, the old and the new text."""
    path, old, new, is_new = "", list[str](), list[str](), False
    for line in (*diff.splitlines(), "@@"):
        if line.startswith("+++ ") and not new and not old:
            path = line[4:].removeprefix("b/")
        elif line.startswith("@@"):
            if old or new:
                before = None if is_new else "\n".join(old)
                yield helpers.tool_diff_content(path, "\n".join(new), before)
            old, new, is_new = [], [], line.startswith("@@ -0,0")
        elif path:
            text = line[1:]
            if not line.startswith("+"):
                old.append(text)
            if not line.startswith("-"):
                new.append(text)


def render_prompt(blocks: Iterable[Any]) -> str:
    """What the user typed, with the files that the editor attached to it."""
    texts = []
    for block in blocks:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "resource_link":
            texts.append(f"[{block.name}]({block.uri})")
        elif block.type == "resource" and hasattr(block.resource, "text"):
            texts.append(f"\n[{block.resource.uri}]\n{block.resource.text}\n")
        else:
            texts.append(f"[{block.type} left out]")
    return "".join(texts)


def read_server(given: Any) -> McpServer:
    """An MCP server as the editor configures it. It is the user's own."""
    if isinstance(given, schema.McpServerStdio):
        env = {one.name: one.value for one in given.env}
        return McpServer(name=given.name, command=given.command, args=tuple(given.args), env=env)
    headers = {one.name: one.value for one in given.headers}
    transport: Transport = "sse" if given.type == "sse" else "http"
    return McpServer(name=given.name, transport=transport, url=given.url, headers=headers)


def list_past_updates(messages: Iterable[Any]) -> Iterator[Any]:
    """What happened in a session before, as updates."""
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    yield helpers.update_user_message_text(get_text(part.content))
        elif isinstance(message, ModelResponse):
            yield from _list_answer(message)


def _list_answer(message: ModelResponse) -> Iterator[Any]:
    for part in message.parts:
        if isinstance(part, TextPart) and part.content:
            yield helpers.update_agent_message_text(part.content)
        elif isinstance(part, ThinkingPart) and part.content:
            yield helpers.update_agent_thought_text(part.content)
        elif isinstance(part, ToolCallPart):
            given = msgspec.json.encode(part.args).decode() if part.args else ""
            yield helpers.start_tool_call(
                part.tool_call_id,
                f"{part.tool_name} {given}".strip()[:_MOST_TITLE],
                kind=_find_kind(part.tool_name),
                status="completed",
            )


def serve(agent: AcpAgent) -> None:
    """Talk to an editor on stdin and stdout until it goes away."""
    try:
        asyncio.run(_serve(agent))
    finally:
        agent.close()


async def _serve(agent: AcpAgent) -> None:
    reader, writer = await acp.stdio_streams(limit=MOST_BYTES)
    await acp.run_agent(agent, MessageLines(reader, writer))  # type: ignore[arg-type]
