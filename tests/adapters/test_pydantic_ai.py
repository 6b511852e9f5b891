"""What is special about pydantic-ai: retries, pictures, changes of the list, histories."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import (
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from prowess.adapters.pydantic_ai import SkillToolset, compact_skills
from tests.adapters.shelf import BLOCKS, DONE, REPEATED, UNKNOWN, tag_flag
from tests.unit.conversation.ports import ONCE, Person

pytestmark = pytest.mark.slow


def make_model(*calls):
    """A model that makes these calls and ends; each is the name of a tool and its parameters."""
    left = [ModelResponse(parts=[ToolCallPart(tool, parameters)]) for tool, parameters in calls]
    return FunctionModel(
        lambda messages, info: left.pop(0) if left else ModelResponse(parts=[TextPart(DONE)])
    )


def run(agent, **options):
    return asyncio.run(agent.run("Ahoy", **options))


def list_returns(messages):
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def test_a_wrong_name_is_to_be_corrected_and_a_refusal_is_final(shelf):
    agent = Agent(
        make_model(("skill", {"name": "tide"}), ("skill", {"name": "crew-list"})),
        toolsets=[SkillToolset(shelf.talk())],
    )
    retried, failed = list_returns(run(agent).all_messages())
    assert (retried.outcome, retried.content) == ("retried", UNKNOWN)
    assert failed.outcome == "failed"


def test_a_model_that_keeps_to_wrong_names_is_stopped(shelf):
    model = make_model(*[("skill", {"name": "tide"})] * 3)
    agent = Agent(model, toolsets=[SkillToolset(shelf.talk(), max_retries=1)])
    with pytest.raises(UnexpectedModelBehavior, match="skill"):
        run(agent)


def test_the_model_that_tries_every_tool_loads_a_skill(shelf):
    conversation = shelf.talk(approver=Person(ONCE))
    run(Agent(TestModel(), toolsets=[SkillToolset(conversation)]))
    assert [entry.by for entry in conversation.ledger.entries] == ["model"]


def test_a_tenant_is_sent_no_name_of_another_tenants_skills(shelf):
    skills = shelf.open()
    sent = []

    def answer(messages, info):
        schemas = [tool.parameters_json_schema for tool in info.function_tools]
        sent.append(f"{info.instructions} {schemas}")
        return ModelResponse(parts=[TextPart(DONE)])

    toolset = SkillToolset(
        skills,
        open_conversation=lambda ctx, **given: skills.conversation(include=ctx.deps, **given),
    )
    agent = Agent(FunctionModel(answer), deps_type=list, toolsets=[toolset])
    for tenant in (["tides"], ["anchor"], ["tides"]):
        run(agent, deps=tenant)
    assert ["tides" in text for text in sent] == [True, False, True]
    assert ["anchor" in text for text in sent] == [False, True, False]


def test_parameters_that_are_no_object_are_to_be_corrected(shelf):
    agent = Agent(
        make_model(("skill", '["tides"]'), ("skill", "{")), toolsets=[SkillToolset(shelf.talk())]
    )
    assert [part.outcome for part in list_returns(run(agent).all_messages())] == [
        "retried",
        "retried",
    ]


def test_pictures_and_files_of_a_skill_come_along(shelf):
    conversation = shelf.talk_of(*BLOCKS)
    agent = Agent(make_model(("skill", {"name": "flag"})), toolsets=[SkillToolset(conversation)])
    (part,) = list_returns(run(agent).all_messages())
    assert part.content == [
        tag_flag(conversation),
        BinaryContent(b"hi", media_type="image/png"),
        ImageUrl("https://example.org/flag.png"),
        BinaryContent(b"hi", media_type="application/pdf"),
        DocumentUrl("https://example.org/flags.pdf"),
        "Red.",
        '{"type": "旗", "colour": "red"}',
    ]


def test_a_skill_that_wakes_within_a_run_is_told_without_a_change_of_what_was_told(shelf):
    conversation = shelf.talk()
    told = []

    def answer(messages, info):
        told.append((info.instructions, info.function_tools, messages[-1].parts[-1].content))
        return ModelResponse(parts=[ToolCallPart("look", {}) if len(told) == 1 else TextPart(DONE)])

    agent = Agent(FunctionModel(answer), toolsets=[SkillToolset(conversation)])

    @agent.tool_plain
    def look() -> str:
        conversation.touched(str(shelf.workspace.project / "charts" / "north.svg"))
        return "a chart"

    run(agent)
    (first, tools, _), (second, same_tools, appended) = told
    assert (first, tools) == (second, same_tools)
    assert "- charts: " not in first
    assert "- charts: Draws charts." in appended


def test_skills_are_loaded_outside_of_the_event_loop(shelf):
    threads = []
    toolset = SkillToolset(
        shelf.talk(),
        on_activation=lambda activation, run: threads.append(threading.current_thread()),
    )
    run(Agent(make_model(("skill", {"name": "tides"})), toolsets=[toolset]))
    assert threads
    assert threading.main_thread() not in threads


def test_calls_in_one_response_are_carried_out_one_after_the_other(shelf):
    calls = [ToolCallPart("skill", {"name": "tides"}) for _ in range(5)]
    left = [ModelResponse(parts=calls)]
    model = FunctionModel(
        lambda messages, info: left.pop() if left else ModelResponse(parts=[TextPart(DONE)])
    )
    answers = [
        part.content
        for part in list_returns(
            run(Agent(model, toolsets=[SkillToolset(shelf.talk())])).all_messages()
        )
    ]
    assert sorted(answers) == sorted(
        [shelf.loaded("tides", "Read the table of .", "ports.md"), *[REPEATED] * 4]
    )


def test_a_history_with_skills_is_saved_and_read_again(shelf):
    conversation = shelf.talk()
    agent = Agent(make_model(("skill", {"name": "天气"})), toolsets=[SkillToolset(conversation)])
    messages = [*run(agent).all_messages(), *compact_skills(conversation)]
    assert (
        ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
        == messages
    )


def test_a_format_asks_for_the_words_of_a_host(shelf):
    told = []

    def answer(messages, info):
        told.append(info.instructions)
        return ModelResponse(parts=[TextPart(DONE)])

    conversation = shelf.talk()
    run(
        Agent(
            FunctionModel(answer),
            toolsets=[SkillToolset(conversation, format="opencode-xml", context_tokens=200_000)],
        )
    )
    assert conversation.catalog(format="opencode-xml", context_tokens=200_000).prompt in told[0]
