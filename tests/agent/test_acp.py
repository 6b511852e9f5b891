"""`prowess acp` in a second process, with the client side of the official package."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema

from tests.agent.studio import Studio, call, say

pytestmark = pytest.mark.slow

SERVER = str(Path(__file__).resolve().parent.parent / "mcp" / "raw_server.py")


class Editor:
    """The client: it remembers updates and questions, and gives one answer to all of them."""

    def __init__(self, answer: str = "once") -> None:
        self.updates: list[Any] = []
        self.questions: list[Any] = []
        self.answer = answer
        self.on_question: Callable[[], Awaitable[None]] | None = None

    def on_connect(self, conn: Any) -> None:
        """Nothing to remember."""

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **more: Any
    ) -> schema.RequestPermissionResponse:
        self.questions.append((tool_call, [one.option_id for one in options]))
        if self.on_question is not None:
            await self.on_question()
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    def said(self) -> str:
        return "".join(
            one.content.text for one in self.updates if one.session_update == "agent_message_chunk"
        )

    def pick(self, kind: str) -> list[Any]:
        return [one for one in self.updates if one.session_update == kind]


def talk(
    studio: Studio,
    editor: Editor,
    work: Callable[[Any], Awaitable[None]],
    *answers: Any,
    options: tuple[str, ...] = (),
) -> None:
    """Start `prowess acp` and talk to it."""
    model = studio.script(*answers)

    async def run() -> None:
        env = {**os.environ, **studio.facts.env, "XDG_STATE_HOME": str(studio.workspace.home)}
        command = ("-m", "prowess", "acp", "--model", model, *options)
        async with acp.spawn_agent_process(
            editor,  # type: ignore[arg-type]
            sys.executable,
            *command,
            env=env,
            cwd=studio.project,
        ) as (connection, process):
            found = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
            assert found.protocol_version == acp.PROTOCOL_VERSION
            assert found.agent_capabilities is not None
            assert found.agent_capabilities.load_session
            await work(connection)
        assert process.returncode is not None

    asyncio.run(asyncio.wait_for(run(), 120))


async def prompt(connection: Any, session: str, text: str) -> str:
    answer = await connection.prompt(session_id=session, prompt=[acp.text_block(text)])
    return str(answer.stop_reason)


def test_a_conversation_with_a_change_a_question_and_a_command(studio: Studio) -> None:
    studio.skill("tide-tables", "Heights are metres.\n", argument_hint='"[harbour]"')
    editor = Editor()

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(studio.project), mcp_servers=[])).session_id
        assert await prompt(connection, session, "Write it.") == "end_turn"
        assert await prompt(connection, session, "/tide-tables Brest") == "end_turn"

    studio.write("notes.md", "a\nold\nz\n")
    talk(
        studio,
        editor,
        work,
        {"text": "I write.", **call("Write", file_path="notes.md", content="a\nnew\nz\n")},
        say("Written."),
        {"text": "Loaded.", "expect": ["Heights are metres."]},
    )
    assert studio.read("notes.md") == "a\nnew\nz\n"
    assert editor.said() == "I write.Written.Loaded."
    (commands,) = editor.pick("available_commands_update")
    found = {one.name: one for one in commands.available_commands}
    assert found["tide-tables"].input.root.hint == "[harbour]"
    (started,) = editor.pick("tool_call")
    assert (started.kind, started.status) == ("edit", "in_progress")
    (diff,) = started.content
    assert (diff.type, diff.path) == ("diff", "notes.md")
    assert (diff.old_text, diff.new_text) == ("a\nold\nz", "a\nnew\nz")
    (finished,) = editor.pick("tool_call_update")
    assert (finished.tool_call_id, finished.status) == (started.tool_call_id, "completed")
    ((question, options),) = editor.questions
    assert question.tool_call_id == started.tool_call_id
    assert options == ["once", "reject"]


def test_what_is_rejected_is_not_done(studio: Studio) -> None:
    editor = Editor("reject")

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(studio.project), mcp_servers=[])).session_id
        await prompt(connection, session, "Write it.")

    talk(studio, editor, work, call("Bash", command="touch made"), say("No."))
    assert not (studio.project / "made").exists()
    (finished,) = editor.pick("tool_call_update")
    assert finished.status == "failed"
    ((question, options),) = editor.questions
    assert (question.title, options) == ("Bash touch made", ["once", "always", "reject"])


def test_a_question_about_a_skill_shows_what_it_would_be_allowed(studio: Studio) -> None:
    hooks = '{PreToolUse: [{hooks: [{type: command, command: "touch ran"}]}]}'
    studio.skill("evil", allowed_tools="Bash(rm *) Write", hooks=hooks)
    studio.trust()
    editor = Editor("reject")

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(studio.project), mcp_servers=[])).session_id
        await prompt(connection, session, "Load it.")

    talk(studio, editor, work, call("skill", name="evil"), say("No."))
    ((question, _),) = editor.questions
    (started,) = editor.pick("tool_call")
    assert question.tool_call_id == started.tool_call_id
    (shown,) = question.content
    lines = shown.content.text.splitlines()
    assert {"    Bash(rm *)", "    Write", "    PreToolUse: touch ran"} <= set(lines)


def test_a_turn_can_be_cancelled_while_a_question_is_open(studio: Studio) -> None:
    editor = Editor()
    stopped: list[str] = []

    async def work(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(studio.project), mcp_servers=[])).session_id

        async def cancel() -> None:
            await connection.cancel(session_id=session)

        editor.on_question = cancel
        stopped.append(await prompt(connection, session, "Do it."))
        # The session goes on.
        editor.on_question = None
        stopped.append(await prompt(connection, session, "Again."))

    talk(studio, editor, work, call("Bash", command="touch made"), say("Done."), say("More."))
    assert stopped[0] == "cancelled"
    assert stopped[1] == "end_turn"
    assert not (studio.project / "made").exists()


def test_a_session_is_loaded_with_what_happened_in_it(studio: Studio) -> None:
    first = Editor()
    sessions: list[str] = []

    async def begin(connection: Any) -> None:
        session = (await connection.new_session(cwd=str(studio.project), mcp_servers=[])).session_id
        sessions.append(session)
        await prompt(connection, session, "Look around.")

    talk(studio, first, begin, call("Glob", pattern="*"), say("Nothing here."))
    second = Editor()

    async def go_on(connection: Any) -> None:
        await connection.load_session(
            cwd=str(studio.project), session_id=sessions[0], mcp_servers=[]
        )
        await prompt(connection, sessions[0], "And now?")
        with pytest.raises(acp.RequestError):
            await connection.load_session(
                cwd=str(studio.project), session_id="no-such-session", mcp_servers=[]
            )

    talk(studio, second, go_on, {"text": "Still nothing.", "expect": ["And now?"]})
    asked = [one.content.text for one in second.pick("user_message_chunk")]
    assert asked == ["Look around."]
    assert second.said() == "Nothing here.Still nothing."
    (past,) = second.pick("tool_call")
    assert (past.kind, past.status) == ("search", "completed")


def test_servers_of_the_editor_are_used_and_errors_are_answers(studio: Studio) -> None:
    editor = Editor()
    server = schema.McpServerStdio(name="raw", command=sys.executable, args=[SERVER, "ok"], env=[])

    async def work(connection: Any) -> None:
        opened = await connection.new_session(cwd=str(studio.project), mcp_servers=[server])
        await prompt(connection, opened.session_id, "Call it.")
        with pytest.raises(acp.RequestError):
            await prompt(connection, "no-such-session", "x")
        with pytest.raises(acp.RequestError):
            await connection.new_session(cwd="/no/such/folder", mcp_servers=[])

    talk(
        studio,
        editor,
        work,
        call("mcp__raw__fine", a=1),
        say("Done."),
        options=("--allow", "mcp__raw"),
    )
    (finished,) = editor.pick("tool_call_update")
    assert finished.content[0].content.text == "fine {'a': 1}"
    assert editor.questions == []


def exchange(studio: Studio, *lines: bytes) -> tuple[list[dict[str, Any]], str]:
    """What `prowess acp` answers to lines, and what it writes to stderr."""
    env = {**os.environ, **studio.facts.env, "XDG_STATE_HOME": str(studio.workspace.home)}
    done = subprocess.run(
        [sys.executable, "-m", "prowess", "acp", "--model", studio.script(say("Hello."))],
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        env=env,
        cwd=studio.project,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_lines_that_are_no_requests_are_answered_and_nothing_else_is_printed(
    studio: Studio,
) -> None:
    start = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": 1}}
    answers, errors = exchange(
        studio,
        b"hello",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"",
        b"[1]",
        b"3",
        b'{"jsonrpc": "2.0", "id": 5}',
        b'{"jsonrpc": "2.0", "id": "x", "method": 5}',
        b'{"jsonrpc": "2.0", "id": {}, "result": 1}',
        b'{"jsonrpc": "2.0", "id": 9, "method": "no/such"}',
        json.dumps(start).encode(),
    )
    codes = [(one["id"], one["error"]["code"]) for one in answers if "error" in one]
    assert codes == [
        (None, -32700),
        (None, -32700),
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (None, -32600),
        (5, -32600),
        ("x", -32600),
        (None, -32600),
        (9, -32601),
    ]
    assert [one["id"] for one in answers if "result" in one] == [7]
    assert errors == ""
