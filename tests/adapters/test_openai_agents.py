"""What is special about the OpenAI Agents SDK: strict schemas, pictures, and what goes over the
wire.
"""

from __future__ import annotations

import asyncio
import json
import threading
from types import SimpleNamespace
from uuid import UUID

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SQLiteSession
from agents.run import ModelInputData
from agents.testing import ScriptedModel, assistant_message, function_call
from openai import AsyncOpenAI

from prowess.adapters.openai_agents import add_skills, keep_skills, skill_tools
from tests.adapters.loopback import serve
from tests.adapters.play_openai_agents import QUIET, make_model
from tests.adapters.shelf import BLOCKS, DONE, LISTED, OWN, REPEATED, tag_flag

pytestmark = pytest.mark.slow


def run(skills, model, **options):
    agent = add_skills(Agent(name="sailor", instructions=OWN, model=model), skills, **options)
    return asyncio.run(Runner.run(agent, "Ahoy", run_config=QUIET))


def list_outputs(result):
    return [
        item["output"]
        for item in result.to_input_list()
        if item.get("type") == "function_call_output"
    ]


def test_the_schema_is_strict_and_what_may_be_left_out_may_be_null(shelf):
    tool = skill_tools(shelf.open())[0]
    assert tool.strict_json_schema
    schema = tool.params_json_schema
    assert {name: one["type"] for name, one in schema["properties"].items()} == {
        "name": "string",
        "arguments": ["string", "null"],
        "again": ["boolean", "null"],
    }
    required = ["name", "arguments", "again"]
    assert (schema["required"], schema["additionalProperties"]) == (required, False)


def test_arguments_that_are_null_are_none(shelf):
    result = run(shelf.talk(), make_model([{"name": "tides", "arguments": None}]))
    assert list_outputs(result) == [shelf.loaded("tides", "Read the table of .", "ports.md")]


@pytest.mark.parametrize("arguments", ["{", '["tides"]'])
def test_arguments_that_are_no_object_are_told_to_the_model(shelf, arguments):
    model = ScriptedModel(
        [[function_call("skill", arguments, call_id="c")], [assistant_message(DONE)]]
    )
    assert list_outputs(run(shelf.talk(), model)) == [
        f"The tool skill takes a JSON object, not this: {arguments}"
    ]


def test_calls_in_one_response_are_carried_out_one_after_the_other_in_other_threads(shelf):
    threads = []
    calls = [
        function_call("skill", {"name": "tides", "arguments": ""}, call_id=f"c{place}")
        for place in range(3)
    ]
    result = run(
        shelf.talk(),
        ScriptedModel([calls, [assistant_message(DONE)]]),
        on_activation=lambda activation, run: threads.append(threading.current_thread()),
    )
    loaded = shelf.loaded("tides", "Read the table of .", "ports.md")
    assert sorted(list_outputs(result)) == sorted([loaded, REPEATED, REPEATED])
    assert len(threads) == 3
    assert threading.main_thread() not in threads


def test_pictures_and_files_of_a_skill_come_along(shelf):
    conversation = shelf.talk_of(*BLOCKS)
    result = run(conversation, make_model([{"name": "flag", "arguments": None}]))
    assert list_outputs(result) == [
        [
            {"type": "input_text", "text": tag_flag(conversation)},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            {"type": "input_image", "image_url": "https://example.org/flag.png"},
            {
                "type": "input_file",
                "file_data": "data:application/pdf;base64,aGk=",
                "filename": "document.pdf",
            },
            {"type": "input_file", "file_url": "https://example.org/flags.pdf"},
            {"type": "input_text", "text": "Red."},
            {"type": "input_text", "text": '{"type": "旗", "colour": "red"}'},
        ]
    ]


def say(**message):
    """A chat completion."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {
        "index": 0,
        "finish_reason": reason,
        "message": {"role": "assistant", "content": None, **message},
    }
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt",
        "choices": [choice],
    }


def test_the_real_client_sends_the_list_the_tool_and_the_body(shelf):
    function = {"name": "skill", "arguments": json.dumps({"name": "天气", "arguments": None})}
    calls = say(tool_calls=[{"id": "c1", "type": "function", "function": function}])
    with serve([calls, say(content=DONE)]) as provider:

        async def sail():
            async with AsyncOpenAI(base_url=provider.url, api_key="none", max_retries=0) as client:
                model = OpenAIChatCompletionsModel("gpt", client)
                agent = add_skills(
                    Agent(name="sailor", instructions=OWN, model=model), shelf.open()
                )
                return await Runner.run(agent, "Ahoy", run_config=QUIET)

        assert asyncio.run(sail()).final_output == DONE
    (path, first), (_, second) = provider.asked
    assert path == "/chat/completions"
    assert first["messages"][0] == {"role": "system", "content": f"{OWN}\n\n{LISTED}"}
    tool = first["tools"][0]
    assert (tool["function"]["name"], tool["function"]["strict"]) == ("skill", True)
    assert second["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": shelf.loaded("天气", "看云 & 风。"),
    }


def test_a_filter_that_shortens_keeps_the_skills(shelf):
    def shorten(data):
        return ModelInputData(data.model_data.input[-1:], data.model_data.instructions)

    skills = shelf.open()
    calls = [{"name": "天气"}, {"name": "crew-list"}, {"name": "天气"}]
    model = make_model(calls)
    agent = add_skills(Agent(name="sailor", model=model), skills)
    config = RunConfig(tracing_disabled=True, call_model_input_filter=keep_skills(skills, shorten))
    outputs = list_outputs(asyncio.run(Runner.run(agent, "Ahoy", run_config=config)))
    assert outputs[-1] == REPEATED.replace("tides", "天气")
    loaded = shelf.loaded("天气", "看云 & 风。")
    seen = [sum(loaded in str(item.get("content")) for item in call.input) for call in model.calls]
    assert seen == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("context", "session"),
    [
        ({"session_id": UUID(int=7)}, str(UUID(int=7))),
        ({"thread_id": 0}, "0"),
        (SimpleNamespace(conversation_id=None, session_id=12), "12"),
    ],
)
def test_an_id_need_not_be_a_string(shelf, context, session):
    skills, opened = shelf.open(), []

    def open_conversation(run, **given):
        opened.append(given["session"])
        return skills.conversation(**given)

    agent = add_skills(
        Agent(name="sailor", model=make_model([{"name": "tides"}])),
        skills,
        open_conversation=open_conversation,
    )
    asyncio.run(Runner.run(agent, "Ahoy", context=context, run_config=QUIET))
    assert opened == [session]


@pytest.mark.parametrize("context", [None, {}, {"session_id": ""}, {"session_id": None}])
def test_without_an_id_nothing_is_shared(shelf, context):
    skills, opened = shelf.open(), []

    def open_conversation(run, **given):
        opened.append(given["session"])
        return skills.conversation(**given)

    agent = add_skills(
        Agent(name="sailor", model=make_model([])), skills, open_conversation=open_conversation
    )
    for _ in range(2):
        asyncio.run(Runner.run(agent, "Ahoy", context=context, run_config=QUIET))
        agent.model = make_model([])
    assert len(opened) > 1
    assert set(opened) == {None}


def test_the_history_of_a_session_says_what_the_model_has(shelf):
    """Two people with sessions share an agent; each is told about their own messages."""
    model = ScriptedModel(
        [
            step
            for place in range(3)
            for step in (
                [function_call("skill", {"name": "天气"}, call_id=f"c{place}")],
                [assistant_message(DONE)],
            )
        ]
    )
    agent = add_skills(Agent(name="sailor", model=model), shelf.open())
    ann, bob = SQLiteSession("ann"), SQLiteSession("bob")

    def say(session):
        context = {"session_id": session.session_id}
        run = Runner.run(agent, "Ahoy", session=session, context=context, run_config=QUIET)
        return [item.output for item in asyncio.run(run).new_items if hasattr(item, "output")]

    loaded = shelf.loaded("天气", "看云 & 风。")
    assert say(ann) == [loaded]
    assert say(bob) == [loaded]
    assert say(ann) == [REPEATED.replace("tides", "天气")]
