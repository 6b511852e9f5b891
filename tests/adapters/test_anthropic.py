"""What is special about Anthropic's messages: blocks in, blocks out, and tools of one's own beside."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message

from prowess.adapters.anthropic import MessageSkills
from prowess.conversation.conversation import Conversation
from tests.adapters.play_anthropic import call, say
from tests.adapters.shelf import BLOCKS, LISTED, OWN, UNKNOWN, tag_flag

pytestmark = pytest.mark.slow


def read_schema(conversation: Conversation) -> Any:
    return MessageSkills(conversation).tools()[0]["input_schema"]


def test_calls_of_other_tools_are_left_alone(shelf):
    response = Message.model_validate(
        say(
            call(0, {"path": "a"}, name="read"),
            call(1, {"name": "tide"}),
            {"type": "text", "text": "Let me see."},
            call(2, {"name": "天气"}),
        )
    )
    body = [{"type": "text", "text": shelf.loaded("天气", "看云 & 风。")}]
    assert MessageSkills(shelf.open()).answer(response.content, []) == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": UNKNOWN, "is_error": True},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": body},
    ]


def test_blocks_that_were_saved_as_dictionaries_are_answered_too(shelf):
    (result,) = MessageSkills(shelf.open()).answer(
        [{"type": "text", "text": "Aye."}, call(7, {"name": "tide"})], []
    )
    assert result["tool_use_id"] == "toolu_7"


def test_blocks_of_a_skill_are_passed_on_as_they_are(shelf):
    conversation = shelf.talk_of(*BLOCKS)
    (result,) = MessageSkills(conversation).answer([call(0, {"name": "flag"})], [])
    assert result["content"] == [{"type": "text", "text": tag_flag(conversation)}, *BLOCKS]


def test_own_instructions_and_the_list_are_a_block_each(shelf):
    offered = MessageSkills(shelf.open())
    listed = {"type": "text", "text": LISTED}
    assert offered.instructions(OWN) == [{"type": "text", "text": OWN}, listed]
    assert offered.instructions() == [listed]


def test_the_tool_stays_the_same_when_a_skill_wakes(shelf):
    conversation = shelf.talk()
    before = read_schema(conversation)
    assert "enum" not in before["properties"]["name"]
    conversation.touched(str(shelf.workspace.project / "charts" / "north.svg"))
    assert read_schema(conversation) == before


def test_a_host_with_other_words_has_its_tool_answered(workspace):
    workspace.skill("project/.claude/skills/tides", description="Reads tide tables.")
    conversation = workspace.open("claude-code").conversation()
    offered = MessageSkills(conversation)
    assert offered.tools()[0]["name"] == "Skill"
    assert list(read_schema(conversation)["properties"]) == ["skill", "args", "again"]
    (system,) = offered.instructions()
    assert "with the tool `Skill` before" in system["text"]
    (result,) = offered.answer([call(0, {"skill": "tides"}, name="Skill")], [])
    assert "is_error" not in result


def test_a_call_without_input_is_answered(shelf):
    block = {"type": "tool_use", "id": "toolu_0", "name": "skill"}
    assert MessageSkills(shelf.open()).answer([block], []) == [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_0",
            "content": "The tool skill needs `name`: the name of a skill, as a string.",
            "is_error": True,
        }
    ]
