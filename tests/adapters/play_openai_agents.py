"""A run of the OpenAI Agents SDK with its own model for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, FunctionTool, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call

from prowess.adapters.openai_agents import add_skills
from tests.adapters.shelf import DONE, OWN, Answered, Played

QUIET = RunConfig(tracing_disabled=True)


def make_model(calls) -> ScriptedModel:
    """A model that makes these calls of the tool and ends."""
    steps = [
        [function_call("skill", dict(call), call_id=f"call{place}")]
        for place, call in enumerate(calls)
    ]
    return ScriptedModel([*steps, [assistant_message(DONE)]])


def play(skills, calls, *, on_activation=None, kept=()) -> Played:
    """See `Play`."""
    model = make_model(calls)
    agent = add_skills(
        Agent(name="sailor", instructions=OWN, model=model), skills, on_activation=on_activation
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
