"""What is special about adapters whose libraries have an environment of their own."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import agent_framework
import pytest
import strands
from google.adk.agents import Agent as AdkAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from prowess.adapters.agent_framework import SkillProvider
from prowess.adapters.google_adk import SkillToolset
from prowess.adapters.policy import SkillPolicy
from prowess.adapters.strands import SkillPlugin
from tests.adapters import play_agent_framework, play_google_adk, play_strands
from tests.adapters.shelf import BLOCKS, DONE, PICTURE, Shelf

pytestmark = pytest.mark.slow

PNG = base64.b64decode(PICTURE["source"]["data"])  # type: ignore[index]
LOAD = {"name": "flag"}


def strict(shelf: Shelf) -> Any:
    """Skills of which one forbids a tool and asks for a model."""
    shelf.workspace.write(
        "project/.agents/skills/quiet/SKILL.md",
        "---\nname: quiet\ndescription: d\ndisallowed-tools: horn\nmodel: big\n---\nHush.\n",
    )
    return shelf.open()


# Media


def test_adk_gets_images_and_files_as_parts(shelf: Shelf) -> None:
    history = play_google_adk.play(shelf.talk_of(*BLOCKS), [LOAD]).history
    (answer,) = [
        part.function_response
        for content in history
        for part in content.parts or ()
        if part.function_response
    ]
    data = [part.inline_data.data for part in answer.parts if part.inline_data]
    links = [part.file_data.file_uri for part in answer.parts if part.file_data]
    assert data == [PNG, PNG]
    assert links == ["https://example.org/flag.png", "https://example.org/flags.pdf"]
    assert "Red." in str(answer.response["media"])


def test_strands_gets_images_and_files_as_blocks(shelf: Shelf) -> None:
    history = play_strands.play(shelf.talk_of(*BLOCKS), [LOAD]).history
    (answer,) = [
        block["toolResult"]["content"]
        for message in history
        for block in message["content"]
        if "toolResult" in block
    ]
    kinds = [next(iter(block)) for block in answer]
    assert kinds == ["text", "image", "text", "document", "text", "text", "text"]
    assert answer[1]["image"] == {"format": "png", "source": {"bytes": PNG}}


def test_agent_framework_gets_images_and_files_as_contents(shelf: Shelf) -> None:
    history = play_agent_framework.play(shelf.talk_of(*BLOCKS), [LOAD]).history
    (answer,) = [
        content
        for message in history
        for content in message.contents
        if content.type == "function_result"
    ]
    kinds = [item.type for item in answer.items]
    assert kinds == ["text", "data", "uri", "data", "uri", "text", "text"]


# Who is who


def test_adk_tells_people_apart_whose_sessions_have_the_same_id(shelf: Shelf) -> None:
    toolset = SkillToolset(shelf.open())
    opened: list[Any] = []

    class Watch(SkillToolset):
        def conversation(self, context: Any) -> Any:
            found = toolset.conversation(context)
            opened.append(found)
            return found

    model = play_google_adk.Model(lambda request: [types.Part(text=DONE)])
    agent = AdkAgent(name="sailor", model=model, tools=[Watch(shelf.open())])

    async def run() -> None:
        sessions = InMemorySessionService()
        runner = Runner(agent=agent, app_name="a", session_service=sessions)
        for user in ("ann", "bob", "ann"):
            place = {"app_name": "a", "user_id": user, "session_id": "1"}
            if await sessions.get_session(**place) is None:
                await sessions.create_session(**place)
            said = types.Content(role="user", parts=[types.Part(text="Ahoy")])
            async for _ in runner.run_async(user_id=user, session_id="1", new_message=said):
                pass

    asyncio.run(run())
    assert len({id(one) for one in opened}) == 2


def test_a_strands_conversation_has_the_name_that_the_call_gives(shelf: Shelf) -> None:
    plugin = SkillPlugin(shelf.open())
    one, other = (
        strands.Agent(
            model=play_strands.TestModel(lambda *request: DONE),
            plugins=[plugin],
            callback_handler=None,
        )
        for _ in range(2)
    )
    assert plugin.conversation(one, {"session_id": "a"}) is plugin.conversation(
        other, {"session_id": "a"}
    )
    assert plugin.conversation(one, {}) is not plugin.conversation(other, {})
    assert plugin.conversation(one, {}) is plugin.conversation(one, {})


# What a skill asks for


def test_strands_takes_tools_away_and_changes_the_model_for_the_turn(shelf: Shelf) -> None:
    seen: list[tuple[str, bool]] = []

    def make_model(name: str) -> Any:
        def answer(messages: Any, specs: Any, prompt: Any) -> Any:
            seen.append((name, any(spec["name"] == "horn" for spec in specs)))
            return [("1", "skill", {"name": "quiet"})] if len(seen) == 1 else DONE

        return play_strands.TestModel(answer)

    @strands.tool
    def horn() -> str:
        """Sound the horn."""
        return "!"

    policy = SkillPolicy(models={"big": make_model("big")})
    agent = strands.Agent(
        model=make_model("small"),
        tools=[horn],
        plugins=[SkillPlugin(strict(shelf), policy=policy)],
        callback_handler=None,
    )
    asyncio.run(agent.invoke_async("Ahoy"))
    asyncio.run(agent.invoke_async("Again"))
    assert seen == [("small", True), ("big", False), ("small", True)]


def test_agent_framework_takes_tools_away_and_changes_the_model_for_the_turn(shelf: Shelf) -> None:
    seen: list[tuple[Any, bool]] = []
    blown: list[str] = []

    def answer(messages: Any, options: Any) -> list[Any]:
        tools = [tool.name for tool in options["tools"]]
        seen.append((options.get("model"), "horn" in tools))
        call = agent_framework.Content.from_function_call
        if len(seen) == 1:
            return [call("1", "skill", arguments={"name": "quiet"})]
        # The model may call what it no longer sees.
        return [call("2", "horn", arguments={})] if len(seen) == 2 else [DONE_CONTENT]

    def horn() -> str:
        """Sound the horn."""
        blown.append("!")
        return "!"

    policy = SkillPolicy(models={"big": "big-1"})
    agent = agent_framework.Agent(
        play_agent_framework.Client(answer),
        tools=[horn],
        context_providers=[SkillProvider(strict(shelf), policy=policy)],
    )
    session = agent_framework.AgentSession()
    asyncio.run(agent.run("Ahoy", session=session))
    asyncio.run(agent.run("Again", session=session))
    assert seen == [(None, True), ("big-1", False), ("big-1", False), (None, True)]
    assert blown == []


DONE_CONTENT = agent_framework.Content.from_text(DONE)


def test_adk_changes_the_model_for_the_turn_and_says_what_it_cannot_do(shelf: Shelf) -> None:
    models: list[Any] = []
    told: list[Any] = []

    def answer(request: Any) -> list[types.Part]:
        models.append(request.model)
        if len(models) > 1:
            return [types.Part(text=DONE)]
        return [types.Part.from_function_call(name="skill", args={"name": "quiet"})]

    toolset = SkillToolset(
        strict(shelf),
        policy=SkillPolicy(models={"big": "gemini-big"}),
        on_activation=lambda activation, run: told.extend(activation.diagnostics),
    )
    agent = AdkAgent(name="sailor", model=play_google_adk.Model(answer), tools=[toolset])

    async def run() -> None:
        sessions = InMemorySessionService()
        await sessions.create_session(app_name="a", user_id="ann", session_id="1")
        runner = Runner(agent=agent, app_name="a", session_service=sessions)
        for text in ("Ahoy", "Again"):
            said = types.Content(role="user", parts=[types.Part(text=text)])
            async for _ in runner.run_async(user_id="ann", session_id="1", new_message=said):
                pass

    asyncio.run(run())
    assert models == ["test", "gemini-big", "test"]
    assert [(one.code, one.field) for one in told] == [("request-not-granted", "disallowed-tools")]
