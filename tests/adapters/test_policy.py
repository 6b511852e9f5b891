"""What a skill asks of its agent is applied where the policy grants it and the library can."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as langchain_tool
from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, RunContext
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile

from prowess.adapters.langchain import SkillMiddleware
from prowess.adapters.openai_agents import add_skills
from prowess.adapters.policy import FIELDS, GrantedRequests, SkillPolicy, merge_granted
from prowess.adapters.pydantic_ai import SkillCapability
from prowess.gate.permissions import parse_given
from prowess.model.activation import Activation, SkillRequests
from tests.adapters.play_langchain import make_model
from tests.adapters.play_openai_agents import QUIET
from tests.adapters.shelf import DONE, REPEATED
from tests.unit.conversation.ports import trust
from tests.workspace import Workspace

pytestmark = pytest.mark.slow

ASKED = SkillRequests(
    model="opus",
    effort="high",
    fork=True,
    allowed_tools=("look",),
    disallowed_tools=("shout",),
    hooks={"Stop": []},
)
EVERYTHING = SkillPolicy(models={"opus": "big"}, effort=True, allowed_tools=True, fork=True)
ROOT = "project/.agents/skills"
UNASKED = "The sub-agent needs approval for look, which it cannot ask for."


@pytest.fixture
def skills(workspace: Workspace):
    """Trusted skills that ask for something."""
    workspace.git()
    workspace.skill(f"{ROOT}/strict", disallowed_tools="shout")
    workspace.skill(f"{ROOT}/free", allowed_tools="look")
    workspace.skill(f"{ROOT}/deep", context="fork", body="Dive.\n")
    workspace.skill(f"{ROOT}/big", model="opus", effort="high")
    opened = workspace.open(rules=parse_given({"skill": {"free": "allow"}}))
    trust(opened)
    return opened


def test_the_default_only_restricts_and_says_what_is_not_granted():
    activation = Activation(name="big", text="", requests=ASKED)
    granted, found = SkillPolicy().grant(activation, FIELDS)
    assert granted == GrantedRequests(disallowed_tools=("shout",))
    assert {one.code for one in found} == {"request-not-granted"}
    assert [one.field for one in found] == ["model", "effort", "allowed-tools", "context", "hooks"]


def test_everything_that_a_library_applies_is_granted():
    activation = Activation(name="big", text="", requests=ASKED)
    granted, found = EVERYTHING.grant(activation, FIELDS)
    assert granted == GrantedRequests(
        model="opus",
        effort="high",
        fork=True,
        allowed_tools=("look",),
        disallowed_tools=("shout",),
    )
    assert [one.field for one in found] == ["hooks"]
    nothing, refused = EVERYTHING.grant(activation, ())
    assert nothing == GrantedRequests()
    assert len(refused) == len(FIELDS) + 1


def test_tools_of_a_skill_that_is_not_trusted_need_approval():
    activation = Activation(name="big", text="", requests=ASKED, trusted=False)
    assert EVERYTHING.grant(activation, FIELDS)[0].allowed_tools == ()


def test_what_one_skill_forbids_another_cannot_allow():
    merged = merge_granted(
        (
            GrantedRequests(disallowed_tools=("Look",)),
            GrantedRequests(allowed_tools=("look",), effort="low"),
        )
    )
    assert (merged.allows("look"), merged.forbids("look"), merged.effort) == (False, True, "low")
    assert not GrantedRequests(allowed_tools=("Bash(git *)",)).allows("Bash")


def script(*steps):
    """A model that makes these calls, one a request, and what it was given each time."""
    seen, left = [], list(steps)

    def answer(messages, info):
        names = [tool.name for tool in info.function_tools]
        seen.append((names, info.model_request_parameters.thinking, messages))
        if not left:
            return ModelResponse(parts=[TextPart(DONE)])
        name, args = left.pop(0)
        return ModelResponse(parts=[ToolCallPart(name, args)])

    return FunctionModel(answer, profile=ModelProfile(supports_thinking=True)), seen


def load(name):
    return ("skill", {"name": name})


def test_pydantic_ai_takes_a_tool_away_until_the_next_message(skills):
    model, seen = script(load("strict"))
    agent = Agent(model, capabilities=[SkillCapability(skills)])

    @agent.tool_plain
    def shout() -> str:
        return "Ahoy!"

    first = asyncio.run(agent.run("Ahoy"))
    asyncio.run(agent.run("And now?", message_history=first.all_messages()))
    assert ["shout" in names for names, _, _ in seen] == [True, False, True]


def test_pydantic_ai_changes_model_and_effort(skills):
    small, small_seen = script(load("big"))
    big, big_seen = script()
    policy = SkillPolicy(models={"opus": big}, effort=True)
    agent = Agent(small, capabilities=[SkillCapability(skills, policy=policy)])
    result = asyncio.run(agent.run("Ahoy"))
    assert (len(small_seen), len(big_seen)) == (1, 1)
    assert big_seen[0][1] == "high"
    asyncio.run(agent.run("And now?", message_history=result.all_messages()))
    assert (len(small_seen), len(big_seen)) == (2, 1)


@pytest.mark.parametrize("is_granted", [True, False])
def test_pydantic_ai_approves_the_tools_of_a_skill(skills, is_granted):
    model, _ = script(load("free"), ("look", {}))
    policy = SkillPolicy(allowed_tools=is_granted)
    agent = Agent(model, capabilities=[SkillCapability(skills, policy=policy)])

    @agent.tool
    def look(ctx: RunContext[None]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "a ship"

    if is_granted:
        assert asyncio.run(agent.run("Ahoy")).output == DONE
    else:
        with pytest.raises(Exception, match="DeferredToolRequests"):
            asyncio.run(agent.run("Ahoy"))


def test_pydantic_ai_lets_a_sub_agent_follow_a_fork(skills):
    def answer(messages, info):
        prompt = str(messages[0].parts[0].content)
        if "Dive." in prompt:
            return ModelResponse(parts=[TextPart("Pearls.")])
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart(*load("deep"))])
        return ModelResponse(parts=[TextPart(messages[-1].parts[0].content)])

    policy = SkillPolicy(fork=True)
    agent = Agent(FunctionModel(answer), capabilities=[SkillCapability(skills, policy=policy)])
    assert asyncio.run(agent.run("Ahoy")).output == "Pearls."


def test_pydantic_ai_says_that_a_sub_agent_cannot_ask_for_an_approval(skills):
    def answer(messages, info):
        prompt = str(messages[0].parts[0].content)
        if "Dive." in prompt:
            return ModelResponse(parts=[ToolCallPart("look", {}), ToolCallPart("look", {})])
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart(*load("deep"))])
        (part,) = messages[-1].parts
        return ModelResponse(parts=[TextPart(f"{part.outcome}: {part.content}")])

    agent = Agent(
        FunctionModel(answer),
        capabilities=[SkillCapability(skills, policy=SkillPolicy(fork=True))],
        output_type=[str, DeferredToolRequests],
    )

    @agent.tool_plain(requires_approval=True)
    def look() -> str:
        return "a ship"

    assert asyncio.run(agent.run("Ahoy")).output == f"failed: {UNASKED}"


def test_openai_agents_say_that_a_sub_agent_cannot_ask_for_an_approval(skills):
    @function_tool(needs_approval=True)
    def look() -> str:
        """Look."""
        return "a ship"

    model = ScriptedModel(
        [
            [function_call("skill", {"name": "deep"}, call_id="1")],
            [function_call("look", {}, call_id="2")],
            [assistant_message(DONE)],
        ]
    )
    agent = add_skills(
        OpenAIAgent(name="sailor", tools=[look], model=model),
        skills,
        policy=SkillPolicy(fork=True),
    )
    result = asyncio.run(Runner.run(agent, "Ahoy", run_config=QUIET))
    items: list[Any] = result.to_input_list()
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    assert (outputs, result.final_output) == ([UNASKED], DONE)


def test_pydantic_ai_gives_skills_back_that_another_capability_drops(skills):
    def shorten(messages):
        if len(messages) < 5:
            return messages
        return [ModelRequest(parts=[UserPromptPart("We spoke.")]), *messages[-2:]]

    model, seen = script(load("strict"), load("big"), load("strict"), load("strict"))
    agent = Agent(model, capabilities=[ProcessHistory(shorten), SkillCapability(skills)])
    messages = asyncio.run(agent.run("Ahoy")).all_messages()
    returns = [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert returns[-1].content == REPEATED.replace("tides", "strict")
    # The model sees the skill in each request after it was loaded.
    texts = [ModelMessagesTypeAdapter.dump_json(given).decode() for _, _, given in seen[1:]]
    assert [text.count("</skill_content>") for text in texts] == [1, 2, 2, 2]


def test_langchain_takes_a_tool_away_and_changes_the_model(skills):
    @langchain_tool
    def shout() -> str:
        """Shout."""
        return "Ahoy!"

    small, big = make_model([{"name": "strict"}, {"name": "big"}]), make_model([])
    policy = SkillPolicy(models={"opus": big})
    agent = create_agent(small, tools=[shout], middleware=[SkillMiddleware(skills, policy=policy)])
    agent.invoke({"messages": [HumanMessage("Ahoy")]})
    assert (len(small.seen), len(big.seen)) == (2, 1)
    assert "shout" not in [tool.name for tool in small.tools]


def test_openai_agents_take_a_tool_away_and_follow_a_fork(skills):
    @function_tool
    def shout() -> str:
        """Shout."""
        return "Ahoy!"

    model = ScriptedModel(
        [
            [function_call("skill", {"name": "strict"}, call_id="1")],
            [function_call("skill", {"name": "deep"}, call_id="2")],
            [assistant_message("Pearls.")],
            [assistant_message(DONE)],
        ]
    )
    agent = add_skills(
        OpenAIAgent(name="sailor", tools=[shout], model=model),
        skills,
        policy=SkillPolicy(fork=True),
    )
    result = asyncio.run(Runner.run(agent, "Ahoy", run_config=QUIET))
    tools = [[tool.name for tool in call.tools] for call in model.calls]
    assert ["shout" in names for names in tools] == [True, False, True, False]
    items: list[Any] = result.to_input_list()
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    assert outputs[-1] == "Pearls."


@pytest.mark.parametrize("is_granted", [True, False])
def test_openai_agents_need_no_approval_for_the_tools_of_a_skill(skills, is_granted):
    @function_tool(needs_approval=True)
    def look() -> str:
        """Look."""
        return "a ship"

    model = ScriptedModel(
        [
            [function_call("skill", {"name": "free"}, call_id="1")],
            [function_call("look", {}, call_id="2")],
            [assistant_message(DONE)],
        ]
    )
    agent = add_skills(
        OpenAIAgent(name="sailor", tools=[look], model=model),
        skills,
        policy=SkillPolicy(allowed_tools=is_granted),
    )
    result = asyncio.run(Runner.run(agent, "Ahoy", run_config=QUIET))
    assert bool(result.interruptions) is not is_granted
