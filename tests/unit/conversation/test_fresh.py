"""A file that changed since the scan: its header counts as it is now, together with its body."""

from __future__ import annotations

from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.messages import Message
from prowess.activate.slash.parser import Notice
from tests.workspace import Workspace, skill_text

ROOT = "home/.agents/skills"


def test_arguments_are_named_by_the_header_as_it_is_now(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/a", body="x=$x y=$y\n", arguments="[x]")
    chat = workspace.open().conversation()
    assert "x=1 y=$y" in chat.activate("a", "1 2").text
    file.write_text(skill_text("a", body="x=$x y=$y\n", arguments="[y, x]"))
    assert "x=2 y=1" in chat.activate("a", "1 2").text
    message = chat.run("/a 3 4")
    assert isinstance(message, Message)
    assert "x=4 y=3" in message.text


def test_who_may_start_a_skill_is_what_the_header_says_now(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/a")
    chat = workspace.open().conversation()
    assert isinstance(chat.run("/a"), Message)
    file.write_text(skill_text("a", user_invocable="false", disable_model_invocation="true"))
    assert isinstance(chat.run("/a"), Notice)
    answer = chat.tool().answer({"name": "a"})
    assert (answer.is_error, "reserves it for the user" in answer.text) == (True, True)


def test_a_command_goes_where_the_header_sends_it_now(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/a")
    skills = workspace.open()
    skills.register_tool("say", lambda call, run: call["command"])
    chat = skills.conversation()
    assert isinstance(chat.run("/a hello"), Message)
    file.write_text(skill_text("a", command_dispatch="tool", command_tool="say"))
    reply = chat.run("/a hello")
    assert isinstance(reply, ToolReply)
    assert reply.text == "hello"


def test_a_file_that_did_not_change_is_not_looked_for_again(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/a")
    skills = workspace.open()
    before = skills.snapshot
    skills.activate("a")
    skills.run("/a")
    assert skills.snapshot is before
