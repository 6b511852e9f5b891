"""What is special about LangChain: middleware in both worlds, tools on their own, pictures."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from prowess.adapters.langchain import (
    SkillMiddleware,
    skill_instructions,
    skill_tools,
)
from tests.adapters.play_langchain import make_model
from tests.adapters.shelf import BLOCKS, DONE, FLAG, LISTED, OWN, REPEATED, UNKNOWN

pytestmark = pytest.mark.slow


def call(name):
    return {"type": "tool_call", "name": "skill", "args": {"name": name}, "id": "call0"}


def test_an_agent_can_be_awaited_and_skills_are_loaded_in_another_thread(shelf):
    threads = []
    middleware = SkillMiddleware(
        shelf.talk(),
        on_activation=lambda activation, run: threads.append(threading.current_thread()),
    )
    model = make_model([{"name": "天气"}])
    agent = create_agent(model, middleware=[middleware])
    messages = asyncio.run(agent.ainvoke({"messages": [HumanMessage("Ahoy")]}))["messages"]
    assert [message.text for message in messages[2:]] == [shelf.loaded("天气", "看云 & 风。"), DONE]
    assert model.seen[0][0] == SystemMessage(LISTED)
    assert threads
    assert threading.main_thread() not in threads


def test_a_system_message_of_blocks_keeps_them(shelf):
    own = {"type": "text", "text": OWN, "cache_control": {"type": "ephemeral"}}
    model = make_model([])
    agent = create_agent(
        model, middleware=[SkillMiddleware(shelf.talk())], system_prompt=SystemMessage([own])
    )
    agent.invoke({"messages": [HumanMessage("Ahoy")]})
    assert model.seen[0][0].content == [own, {"type": "text", "text": LISTED}]


def test_the_list_is_that_of_each_request(shelf):
    conversation = shelf.talk()
    middleware = SkillMiddleware(
        conversation,
        on_activation=lambda activation, run: conversation.touched(
            str(shelf.workspace.project / "charts" / "a")
        ),
    )
    model = make_model([{"name": "tides"}])
    create_agent(model, middleware=[middleware]).invoke({"messages": [HumanMessage("Ahoy")]})
    assert ["- charts: " in seen[0].text for seen in model.seen] == [False, True]


def test_skills_come_back_when_a_summary_takes_the_place_of_messages(shelf):
    summaries = SummarizationMiddleware(
        make_model([]), trigger=("messages", 4), keep=("messages", 1)
    )
    model = make_model([{"name": "天气"}, {"name": "crew-list"}, {"name": "天气"}])
    agent = create_agent(model, middleware=[summaries, SkillMiddleware(shelf.open())])
    agent.invoke({"messages": [HumanMessage("Ahoy")]})
    body = shelf.loaded("天气", "看云 & 风。")
    seen = [[body in message.text for message in messages] for messages in model.seen]
    assert [marks.count(True) for marks in seen] == [0, 1, 1, 1]
    assert isinstance(model.seen[2][-1], HumanMessage)
    assert REPEATED.replace("tides", "天气") in [message.text for message in model.seen[3]]


def test_the_tool_works_on_its_own(shelf):
    tool = skill_tools(shelf.talk())[0]
    assert tool.invoke(call("天气")) == ToolMessage(
        shelf.wrapped("天气", "看云 & 风。"), name="skill", tool_call_id="call0"
    )
    assert tool.invoke(call("tide")) == ToolMessage(
        UNKNOWN, name="skill", tool_call_id="call0", status="error"
    )


def test_the_text_of_a_system_message_can_be_had_on_its_own(shelf):
    assert skill_instructions(shelf.talk(), OWN) == f"{OWN}\n\n{LISTED}"
    assert skill_instructions(shelf.talk()) == LISTED


def test_pictures_and_files_of_a_skill_come_along(shelf):
    answer = skill_tools(shelf.talk_of(*BLOCKS))[0].invoke(call("flag"))
    assert answer.content == [
        {"type": "text", "text": FLAG},
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image", "url": "https://example.org/flag.png"},
        {"type": "file", "base64": "aGk=", "mime_type": "application/pdf"},
        {"type": "file", "url": "https://example.org/flags.pdf"},
        {"type": "text", "text": "Red."},
        {"type": "text", "text": '{"type": "旗", "colour": "red"}'},
    ]
    assert [block["type"] for block in answer.content_blocks] == [
        "text",
        "image",
        "image",
        "file",
        "file",
        "text",
        "text",
    ]


def test_what_woke_is_in_the_state_of_the_graph(shelf):
    """Another process that goes on with a thread knows what is awake in it, and no other thread."""
    saver = InMemorySaver()
    skills = shelf.open()
    chart = str(shelf.workspace.project / "charts" / "north.svg")

    def make_agent(model):
        middleware = SkillMiddleware(skills)

        @tool
        def look(runtime: ToolRuntime) -> str:
            """Look at the chart."""
            middleware.conversation(runtime).touched(chart)
            return "a chart"

        return create_agent(model, tools=[look], middleware=[middleware], checkpointer=saver)

    def say(agent, thread):
        config = {"configurable": {"thread_id": thread}}
        agent.invoke({"messages": [HumanMessage("Ahoy")]}, config)

    say(make_agent(make_model([("look", {})])), "ann")
    model = make_model([])
    other = make_agent(model)
    say(other, "ann")
    say(other, "bob")
    assert ["- charts: " in seen[0].text for seen in model.seen] == [True, False]


def test_what_woke_elsewhere_is_awake_where_the_thread_is_already_open(shelf):
    """Two processes with one checkpointer take turns with a thread."""
    saver = InMemorySaver()
    skills = shelf.open()
    config = {"configurable": {"thread_id": "ann"}}
    chart = str(shelf.workspace.project / "charts" / "north.svg")

    def make_agent(model):
        middleware = SkillMiddleware(skills)

        @tool
        def look(runtime: ToolRuntime) -> str:
            """Look at the chart."""
            middleware.conversation(runtime).touched(chart)
            return "a chart"

        return create_agent(model, tools=[look], middleware=[middleware], checkpointer=saver)

    def say(agent):
        agent.invoke({"messages": [HumanMessage("Ahoy")]}, config)

    model = make_model([])
    one, two = make_agent(model), make_agent(make_model([("look", {})]))
    say(one)
    say(two)
    say(one)
    assert ["- charts: " in seen[0].text for seen in model.seen] == [False, True]
    third = make_model([])
    say(make_agent(third))
    assert "- charts: " in third.seen[0][0].text


def test_an_answer_that_cannot_be_read_is_asked_for_again(shelf):
    config: Any = {"configurable": {"thread_id": "ann"}}
    agent = create_agent(
        make_model([{"name": "anchor"}]),
        middleware=[SkillMiddleware(shelf.open(), suspend=True)],
        checkpointer=InMemorySaver(),
    )
    first = agent.invoke({"messages": [HumanMessage("Ahoy")]}, config)
    again = agent.invoke(Command(resume="yes"), config)
    twice = agent.invoke(Command(resume={"reply": "perhaps"}), config)
    asked = [result["__interrupt__"][0].value for result in (first, again, twice)]
    assert [question.pop("problem", None) for question in asked] == [
        None,
        "An approval is answered with true, false, once, always or reject, not 'yes'.",
        "An approval is answered with true, false, once, always or reject, not 'perhaps'.",
    ]
    assert asked[0] == asked[1] == asked[2]
    messages = agent.invoke(Command(resume=True), config)["messages"]
    assert messages[2].text == shelf.loaded("anchor", "Drop it.")


@pytest.mark.parametrize("added", [{"self": 1}, {"runtime": {"x": 1}}, {"config": {}}, {"x": 1}])
def test_what_a_model_adds_to_the_parameters_is_ignored(shelf, added):
    wanted = {"name": "天气", **added}
    agent = create_agent(make_model([wanted]), middleware=[SkillMiddleware(shelf.open())])
    for messages in (
        agent.invoke({"messages": [HumanMessage("Ahoy")]})["messages"],
        asyncio.run(agent.ainvoke({"messages": [HumanMessage("Ahoy")]}))["messages"],
    ):
        assert "看云 & 风。" in messages[2].text
    alone = skill_tools(shelf.talk())[0]
    assert alone.invoke(dict(wanted)) == shelf.wrapped("天气", "看云 & 风。")
    assert asyncio.run(alone.ainvoke(dict(wanted))).startswith("The skill “天气” is already")
