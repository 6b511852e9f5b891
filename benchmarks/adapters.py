"""What skills cost an agent: Prowess's adapter for pydantic-ai beside pydantic-ai-skills.

    python benchmarks/adapters.py [--requests 200] [--many 5000]

Measures, in one run and with the same model that only answers, what a request costs beyond that of
an agent without skills (12 skills), and with many skills how long it takes from nothing to the
first request, and how many characters of instructions and tools that request has.

pydantic-ai-skills pins an older pydantic-ai, so it needs an environment of its own:

    python -m venv /tmp/both && /tmp/both/bin/pip install . pydantic-ai-skills
    /tmp/both/bin/pip install --no-deps "pydantic-ai-slim==2.66.0" "pydantic-graph==2.66.0"
    /tmp/both/bin/python benchmarks/adapters.py

Without it, only Prowess is measured. Times are CPU seconds, the best of several runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from prowess.adapters.pydantic_ai import SkillToolset
from prowess.runtime import Skills

FEW = 12
ALLOWED_OVERHEAD, ALLOWED_START, ALLOWED_PROMPT = 1.0, 0.1, 0.05
WORDS = ("reports", "invoices", "tests", "images", "tables", "releases", "queries", "drafts")
Build = Callable[[Path, FunctionModel], Agent[Any, Any]]


class Cost(NamedTuple):
    """What one library costs: seconds a request, seconds to start, characters of the prompt."""

    request: float
    start: float
    prompt: int


def write_skills(folder: Path, count: int) -> None:
    """Skills of an ordinary shape: two sentences, a body, a file."""
    for n in range(count):
        word = WORDS[n % len(WORDS)]
        skill = folder / f"skill-{n:05d}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(
            f"---\nname: skill-{n:05d}\ndescription: Works on {word} number {n} and what belongs"
            f" to them. Use when someone asks about {word}.\n---\n# {word}\n\n"
            + "Read the notes, then do the work.\n"
            * 40
        )
        (skill / "notes.md").write_text("Notes.\n")


def build_plain(folder: Path, model: FunctionModel) -> Agent[Any, Any]:
    """An agent without skills."""
    return Agent(model, instructions="Help.")


def build_prowess(folder: Path, model: FunctionModel) -> Agent[Any, Any]:
    """Prowess, without a cache from an earlier run."""
    skills = Skills.from_folder(folder, cache=False)
    return Agent(model, instructions="Help.", toolsets=[SkillToolset(skills)])


def build_other(folder: Path, model: FunctionModel) -> Agent[Any, Any]:
    """pydantic-ai-skills."""
    from pydantic_ai_skills import SkillsCapability

    return Agent(model, instructions="Help.", capabilities=[SkillsCapability(folder)])


def make_model(seen: list[int]) -> FunctionModel:
    """A model that answers at once, and notes how many characters it was given."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not seen:
            tools = [
                (tool.name, tool.description, tool.parameters_json_schema)
                for tool in info.function_tools
            ]
            seen.append(len(info.instructions or "") + len(json.dumps(tools)))
        return ModelResponse(parts=[TextPart("Done.")])

    return FunctionModel(answer)


def measure_start(build: Build, folder: Path) -> tuple[float, int]:
    """CPU seconds from nothing to the first answer, and the characters of its request."""
    seen: list[int] = []
    started = time.process_time()
    asyncio.run(build(folder, make_model(seen)).run("Hello"))
    return time.process_time() - started, seen[0]


def measure_request(build: Build, folder: Path, requests: int) -> float:
    """CPU seconds of a request, once everything is warm; the best of five rounds."""

    async def run() -> float:
        agent = build(folder, make_model([]))
        for _ in range(5):
            await agent.run("Hello")
        spent = []
        for _ in range(5):
            started = time.process_time()
            for _ in range(requests // 5):
                await agent.run("Hello")
            spent.append((time.process_time() - started) / (requests // 5))
        return min(spent)

    return asyncio.run(run())


def measure(build: Build, few: Path, many: Path, requests: int) -> Cost:
    """What one library costs."""
    measure_start(build, few)
    start, prompt = measure_start(build, many)
    return Cost(measure_request(build, few, requests), start, prompt)


def compare(name: str, ours: float, theirs: float, allowed: float) -> None:
    """Print a ratio, and whether it is within what is allowed."""
    ratio = ours / theirs
    print(f"{name:<34} {ratio:8.3f}   allowed {allowed:<5} {'ok' if ratio <= allowed else 'MORE'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--many", type=int, default=5000)
    asked = parser.parse_args()
    builds: dict[str, Build] = {"prowess": build_prowess}
    if find_spec("pydantic_ai_skills") is not None:
        builds["pydantic-ai-skills"] = build_other
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder, "few"), Path(folder, "many")
        write_skills(few, FEW)
        write_skills(many, asked.many)
        floor = measure_request(build_plain, few, asked.requests)
        print(f"a request without skills: {floor * 1000:.2f} ms")
        costs: dict[str, Cost] = {}
        for name, build in builds.items():
            cost = costs[name] = measure(build, few, many, asked.requests)
            print(
                f"{name:<20} {FEW} skills: {(cost.request - floor) * 1000:6.2f} ms more a request;"
                f" {asked.many:,} skills: {cost.start:7.2f} s to start, {cost.prompt:,} characters"
            )
    if len(costs) > 1:
        ours, theirs = costs["prowess"], costs["pydantic-ai-skills"]
        print("\nprowess / pydantic-ai-skills")
        overhead = (ours.request - floor, theirs.request - floor)
        compare("overhead of a request", *overhead, ALLOWED_OVERHEAD)
        compare("start with many skills", ours.start, theirs.start, ALLOWED_START)
        compare("prompt with many skills", ours.prompt, theirs.prompt, ALLOWED_PROMPT)


if __name__ == "__main__":
    main()
