"""Images of skills that run in a sub-agent, and of files that the user attaches."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from pydantic_ai.messages import BinaryContent, ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.profiles import ModelProfile

from prowess.activate.code_skills import DefinedSkill
from prowess.agent import Session
from prowess.agent.events import Event, Warned
from tests.agent.studio import Studio, pick

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
IMAGE = BinaryContent(PIXEL, media_type="image/png")
BLOCK = {
    "type": "image",
    "source": {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PIXEL).decode(),
    },
}
BLIND = ModelProfile(supports_image_input=False)


class Sighted:
    """A model that answers at once, calls a skill first if it is told to, and what it was sent."""

    def __init__(self, *, loads: str = "", profile: ModelProfile | None = None) -> None:
        self.prompts: list[Any] = []
        self._loads = loads
        self.model = FunctionModel(stream_function=self._stream, profile=profile)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> Any:
        part: Any = messages[-1].parts[-1]
        self.prompts.append(part.content)
        if self._loads:
            arguments = f'{{"name": "{self._loads}"}}'
            self._loads = ""
            yield {0: DeltaToolCall(name="skill", json_args=arguments)}
        else:
            yield "Done."


def define_flag(session: Session) -> None:
    session.skills.define(
        DefinedSkill(
            name="flag",
            description="Shows a flag.",
            context="fork",
            get_prompt=lambda arguments, context: [{"type": "text", "text": "Hoist it."}, BLOCK],
        )
    )


async def play(session: Session, text: str, *files: str) -> list[Event]:
    return [event async for event in session.send(text, files=files)]


def run(session: Session, text: str, *files: str) -> list[Event]:

    async def whole() -> list[Event]:
        async with session:
            return await play(session, text, *files)

    return asyncio.run(whole())


def test_images_of_a_typed_skill_reach_the_sub_agent(studio: Studio) -> None:
    seen = Sighted()
    session = studio.open(model=seen.model)
    define_flag(session)
    events = run(session, "/flag")
    ((text, image),) = seen.prompts
    assert ("Hoist it." in text, image) == (True, IMAGE)
    assert pick(events, Warned) == []


def test_images_of_a_skill_that_the_model_loads_reach_the_sub_agent(studio: Studio) -> None:
    seen = Sighted(loads="flag")
    session = studio.open(model=seen.model)
    define_flag(session)
    events = run(session, "Show the flag.")
    _, (text, image), _ = seen.prompts
    assert ("Hoist it." in text, image) == (True, IMAGE)
    assert pick(events, Warned) == []


def test_a_sub_agent_that_takes_no_images_is_named_in_the_warning(studio: Studio) -> None:
    seen = Sighted(profile=BLIND)
    session = studio.open(model=seen.model)
    define_flag(session)
    (warned,) = pick(run(session, "/flag"), Warned)
    assert isinstance(seen.prompts[0], str)
    assert (warned.agent, warned.code, warned.message) == (
        "flag",
        "blocks-left-out",
        "1 attachment of the skill was not sent to the model.",
    )


def test_an_image_that_the_user_attaches_reaches_the_model(studio: Studio) -> None:
    (studio.project / "dot.png").write_bytes(PIXEL)
    studio.write("a.txt", "A\n")
    seen = Sighted()
    events = run(studio.open(model=seen.model), "What is this?", "dot.png", "a.txt")
    (prompt,) = seen.prompts
    text, *images = prompt
    assert text.startswith('What is this?\n\n<attached_file path="a.txt">')
    assert images == ["The image dot.png:", IMAGE]
    assert pick(events, Warned) == []


def test_an_image_for_a_model_that_takes_none_is_not_left_out_silently(studio: Studio) -> None:
    (studio.project / "dot.png").write_bytes(PIXEL)
    seen = Sighted(profile=BLIND)
    (warned,) = pick(run(studio.open(model=seen.model), "What is this?", "dot.png"), Warned)
    assert seen.prompts == ["What is this?"]
    assert (warned.code, warned.message) == (
        "file-not-attached",
        "dot.png was not attached: the model does not take images.",
    )


def test_files_attached_to_a_skill_that_runs_apart_reach_the_sub_agent(studio: Studio) -> None:
    (studio.project / "dot.png").write_bytes(PIXEL)
    studio.write("a.txt", "A\n")
    studio.skill("look", context="fork", body="Look at it.\n")
    seen = Sighted()
    run(studio.open(model=seen.model), "/look", "dot.png", "a.txt")
    (prompt,) = seen.prompts
    text, *images = prompt
    assert "Look at it." in text
    assert '<attached_file path="a.txt">' in text
    assert images == ["The image dot.png:", IMAGE]


def test_an_image_that_a_rule_denies_is_not_attached(studio: Studio) -> None:
    (studio.project / "dot.png").write_bytes(PIXEL)
    settings = '[permissions]\nread = "deny"\n'
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    seen = Sighted()
    (warned,) = pick(run(studio.open(model=seen.model), "What is this?", "dot.png"), Warned)
    assert seen.prompts == ["What is this?"]
    assert warned.code == "file-not-attached"
