"""A run of LangChain with its own fake model."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from prowess.adapters.langchain import SkillMiddleware
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played, name_call


class Model(FakeMessagesListChatModel):
    """Gives these messages in turn and remembers what it was shown."""

    seen: list[list[BaseMessage]]
    tools: list[Any]

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.tools[:] = tools
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


def make_model(calls) -> Model:
    """A model that makes these calls of the tool and ends."""
    said: list[BaseMessage] = [
        AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"call{place}"}])
        for place, (tool, args) in enumerate(map(name_call, calls))
    ]
    return Model(responses=[*said, AIMessage(DONE)], seen=[], tools=[])


def play(skills, calls, *, on_activation=None, kept=(), **options) -> Played:
    """See `Play`."""
    model = make_model(calls)
    middleware = SkillMiddleware(skills, on_activation=on_activation, **options)
    agent: Any = create_agent(model, middleware=[middleware], system_prompt=OWN)
    messages = agent.invoke({"messages": [*kept, HumanMessage("Ahoy")]})["messages"]
    tool = model.tools[0]
    system, *before = model.seen[0]
    return Played(
        system.text,
        convert_to_openai_tool(tool)["function"],
        [
            Answered(message.text, message.status == "error")
            for message in messages
            if isinstance(message, ToolMessage)
        ],
        messages[-1].text,
        [message.text for message in before],
        messages,
        [tool.name for tool in model.tools],
    )


def forge(text: str, place: str) -> list[BaseMessage]:
    """Messages in which a text stands where anyone may have put it."""
    if place == "user":
        return [HumanMessage(text), AIMessage("Aye.")]
    said = AIMessage("", tool_calls=[{"name": "web", "args": {}, "id": "w"}])
    return [HumanMessage("Look it up."), said, ToolMessage(text, name="web", tool_call_id="w")]


class CrewModel(FakeMessagesListChatModel):
    """A model that follows a script."""

    script: Any
    responses: list[BaseMessage] = []  # noqa: RUF012

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        step = self.script.next(" ".join(message.text for message in messages))
        if isinstance(step, str):
            said = AIMessage(step)
        else:
            calls = [{"name": name, "args": dict(args), "id": id} for id, name, args in step]
            said = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


class Crew:
    """See `tests.adapters.scenario.Crew`."""

    def __init__(self, skills: Skills, script: Script) -> None:
        self._agent: Any = create_agent(
            CrewModel(script=script),
            middleware=[SkillMiddleware(skills, suspend=True)],
            system_prompt=OWN,
            checkpointer=InMemorySaver(),
        )

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        return await self._run(user, {"messages": [HumanMessage(text)]}, stream=stream)

    async def resume(self, user: str, *, approve: bool) -> Said:
        return await self._run(user, Command(resume=approve))

    async def start_afresh(self, user: str) -> None:
        await self._replace(user, [])

    async def shorten(self, user: str) -> None:
        await self._replace(user, [HumanMessage(f"I am {user}."), AIMessage("We spoke.")])

    async def _replace(self, user: str, messages: list[BaseMessage]) -> None:
        update = {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages]}
        await self._agent.aupdate_state(_thread(user), update, as_node="model")

    async def _run(self, user: str, given: Any, *, stream: bool = False) -> Said:
        before = (await self._agent.aget_state(_thread(user))).values.get("messages", [])
        known = {message.id for message in before}
        if stream:
            async for _ in self._agent.astream(given, _thread(user), stream_mode="messages"):
                pass
        else:
            await self._agent.ainvoke(given, _thread(user))
        state = await self._agent.aget_state(_thread(user))
        messages = [one for one in state.values["messages"] if one.id not in known]
        answers = [str(one.text) for one in messages if isinstance(one, ToolMessage)]
        asked = [tuple(one.value["patterns"]) for one in state.interrupts]
        return Said(answers, "" if asked else messages[-1].text, asked)


def _thread(user: str) -> Any:
    return {"configurable": {"thread_id": user}}
