"""A run of the OpenAI Agents SDK with its own model for tests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import Agent, FunctionTool, RunConfig, Runner, RunState
from agents.testing import ScriptedModel, assistant_message, function_call

from prowess.adapters.openai_agents import add_skills, compact_skills
from prowess.runtime import Skills
from tests.adapters.scenario import Said, Script
from tests.adapters.shelf import DONE, OWN, Answered, Played, name_call

QUIET = RunConfig(tracing_disabled=True)


def make_model(calls) -> ScriptedModel:
    """A model that makes these calls of the tool and ends."""
    steps = [
        [function_call(tool, args, call_id=f"call{place}")]
        for place, (tool, args) in enumerate(map(name_call, calls))
    ]
    return ScriptedModel([*steps, [assistant_message(DONE)]])


def play(skills, calls, *, on_activation=None, kept=(), **options) -> Played:
    """See `Play`."""
    model = make_model(calls)
    agent = add_skills(
        Agent(name="sailor", instructions=OWN, model=model),
        skills,
        on_activation=on_activation,
        **options,
    )
    asked = [*kept, {"role": "user", "content": "Ahoy"}]
    result = asyncio.run(Runner.run(agent, asked, run_config=QUIET, max_turns=20))
    first = model.first_call
    assert first is not None
    seen = first.tools[0]
    assert isinstance(seen, FunctionTool)
    items: list[Any] = result.to_input_list()
    return Played(
        first.system_instructions or "",
        {"name": seen.name, "description": seen.description, "parameters": seen.params_json_schema},
        # The SDK has no mark for errors: an output is a text.
        [Answered(item["output"]) for item in items if item.get("type") == "function_call_output"],
        result.final_output,
        [item["content"] for item in first.input if "content" in item],
        items,
        [tool.name for tool in first.tools],
    )


def forge(text: str, place: str) -> list[Any]:
    """Items in which a text stands where anyone may have put it."""
    if place == "user":
        return [{"role": "user", "content": text}]
    return [
        {"role": "user", "content": "Look it up."},
        {"type": "function_call", "name": "web", "arguments": "{}", "call_id": "w"},
        {"type": "function_call_output", "call_id": "w", "output": text},
    ]


class CrewModel(ScriptedModel):
    """A model that follows a script."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> Any:
        self._choose(input)
        return await super().get_response(system_instructions, input, *args, **kwargs)

    def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> Any:
        self._choose(input)
        return super().stream_response(system_instructions, input, *args, **kwargs)

    def _choose(self, input: Any) -> None:
        step = self._script.next(str(input))
        if isinstance(step, str):
            self.enqueue([assistant_message(step)])
        else:
            self.enqueue([function_call(name, dict(args), call_id=id) for id, name, args in step])


class Crew:
    """See `tests.adapters.scenario.Crew`."""

    def __init__(self, skills: Skills, script: Script) -> None:
        self._skills = skills
        self._histories: dict[str, list[Any]] = {}
        self._open: dict[str, Any] = {}
        self._agent = add_skills(
            Agent(name="sailor", instructions=OWN, model=CrewModel(script)), skills, suspend=True
        )

    async def say(self, user: str, text: str, *, stream: bool = False) -> Said:
        asked = [*self._histories.get(user, []), {"role": "user", "content": text}]
        if not stream:
            return self._note(user, await self._run(user, asked))
        result = Runner.run_streamed(
            self._agent, asked, context={"conversation_id": user}, run_config=QUIET
        )
        async for _ in result.stream_events():
            pass
        return self._note(user, result)

    async def resume(self, user: str, *, approve: bool) -> Said:
        state = self._open.pop(user).to_state()
        for item in state.get_interruptions():
            if approve:
                state.approve(item)
            else:
                state.reject(item)
        return self._note(user, await self._run(user, state))

    async def start_afresh(self, user: str) -> None:
        self._histories[user] = []

    async def shorten(self, user: str) -> None:
        shorter: list[Any] = [{"role": "user", "content": f"I am {user}. We spoke."}]
        before = self._histories[user]
        self._histories[user] = [*shorter, *compact_skills(self._skills, before, shorter)]

    async def _run(self, user: str, given: Any) -> Any:
        context = {"conversation_id": user}
        if isinstance(given, RunState):
            return await Runner.run(self._agent, given, run_config=QUIET)
        return await Runner.run(self._agent, given, context=context, run_config=QUIET)

    def _note(self, user: str, result: Any) -> Said:
        self._histories[user] = result.to_input_list()
        new = [
            item.to_input_item()
            for item in result.new_items
            if item.type == "tool_call_output_item"
        ]
        answers = [item["output"] for item in new]
        if not result.interruptions:
            return Said(answers, result.final_output)
        self._open[user] = result
        asked: list[Any] = [
            (json.loads(item.raw_item.arguments)["name"],) for item in result.interruptions
        ]
        return Said(answers, "", asked)
