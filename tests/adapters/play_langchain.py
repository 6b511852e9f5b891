"""A run of LangChain with its own fake model."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from prowess.adapters.langchain import SkillMiddleware
from tests.adapters.shelf import DONE, OWN, Answered, Played


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
        AIMessage("", tool_calls=[{"name": "skill", "args": dict(call), "id": f"call{place}"}])
        for place, call in enumerate(calls)
    ]
    return Model(responses=[*said, AIMessage(DONE)], seen=[], tools=[])


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    model = make_model(calls)
    middleware = SkillMiddleware(skills, on_activation=on_activation)
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
    )


def forge(text: str, place: str) -> list[BaseMessage]:
    """Messages in which a text stands where anyone may have put it."""
    if place == "user":
        return [HumanMessage(text), AIMessage("Aye.")]
    said = AIMessage("", tool_calls=[{"name": "web", "args": {}, "id": "w"}])
    return [HumanMessage("Look it up."), said, ToolMessage(text, name="web", tool_call_id="w")]
