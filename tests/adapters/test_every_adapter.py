"""Every adapter gives its library's model the same: the list, the tool, the answers, and what
survives.
"""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys

import pytest

from prowess.adapters.skill_offer import list_loaded
from prowess.model.activation import Activation, SkillRequests
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from tests.adapters.shelf import DONE, HOW, LISTED, OWN, REPEATED, SURVIVED, UNKNOWN, Answered
from tests.unit.conversation.ports import ONCE, Person

# The libraries take seconds to be imported.
pytestmark = pytest.mark.slow

EXTRAS = {
    "pydantic_ai": ("pydantic-ai", "pydantic_ai"),
    "openai_agents": ("openai-agents", "agents"),
    "google_adk": ("google-adk", "google.adk"),
    "agent_framework": ("agent-framework", "agent_framework"),
}


@pytest.fixture
def errors(name: str) -> bool:
    """Whether a library marks answers that tell of an error."""
    return name not in ("agent_framework", "openai_agents")


def test_a_model_sees_the_skills_loads_them_and_is_told_what_it_cannot_have(play, shelf, errors):
    calls = [
        {"name": "tide"},
        {"name": "tides", "arguments": "Dover"},
        {"name": "tides", "arguments": "Dover"},
        {"name": "天气"},
        {"name": "crew-list"},
        {"name": "charts"},
        {},
    ]
    played = play(shelf.talk(), calls)
    assert played.instructions == f"{OWN}\n\n{LISTED}"
    assert played.messages == ["Ahoy"]
    assert played.answers == [
        Answered(UNKNOWN, errors),
        Answered(shelf.loaded("tides", "Read the table of Dover.", "ports.md", arguments="Dover")),
        Answered(REPEATED),
        Answered(shelf.loaded("天气", "看云 & 风。")),
        Answered(
            "Not permitted to use the skill “crew-list”: the rule `skill.crew-list: deny` denies it.",
            errors,
        ),
        Answered(
            "The skill “charts” cannot be loaded because it is dormant: it waits for a file that matches charts/**.",
            errors,
        ),
        Answered("The tool skill needs `name`: the name of a skill, as a string.", errors),
    ]
    assert played.output == DONE


def test_the_tool_is_described_in_few_words_and_takes_a_name_and_arguments(play, shelf):
    tool = play(shelf.talk(), []).tool
    assert tool["name"] == "skill"
    assert len(tool["description"]) < 1024
    assert list(tool["parameters"]["properties"]) == ["name", "arguments", "again"]
    assert "name" in tool["parameters"]["required"]


def test_the_person_is_asked_where_the_rules_say_so(play, shelf, errors):
    person = Person(ApprovalAnswer(ApprovalChoice.REJECT, "Not in this depth."), ONCE)
    played = play(shelf.talk(approver=person), [{"name": "anchor"}, {"name": "anchor"}])
    assert played.answers == [
        Answered(
            "Not permitted to use the skill “anchor”: it was rejected. Feedback: Not in this depth.",
            errors,
        ),
        Answered(shelf.loaded("anchor", "Drop it.")),
    ]
    assert [request.patterns for request in person.asked] == [("anchor",), ("anchor",)]


def test_what_needs_an_answer_is_refused_where_nobody_can_be_asked(play, shelf, errors):
    (answer,) = play(shelf.talk(), [{"name": "anchor"}]).answers
    assert answer.is_error is errors
    assert answer.text.startswith("Not permitted to use the skill “anchor”: ")


def test_what_a_skill_asks_of_its_agent_is_told_each_time_it_is_loaded(play, shelf):
    told: list[Activation] = []
    play(
        shelf.talk(),
        [{"name": "tides"}, {"name": "tide"}, {"name": "tides"}],
        on_activation=lambda activation, run: told.append(activation),
    )
    asks = SkillRequests(model="opus", effort="high")
    assert [(one.name, one.repeated, one.requests) for one in told] == [
        ("tides", False, asks),
        ("tides", True, asks),
    ]


def test_what_the_model_has_is_read_from_its_messages(play, shelf):
    skills = shelf.open()
    loaded = Answered(shelf.loaded("tides", "Read the table of .", "ports.md"))
    first = play(skills, [{"name": "tides"}])
    assert first.answers == [loaded]
    again = play(skills, [{"name": "tides"}], kept=first.history)
    assert again.answers[-1] == Answered(REPEATED)


def test_a_retry_with_fresh_messages_gets_the_text_again(play, shelf):
    conversation = shelf.talk()
    loaded = Answered(shelf.loaded("tides", "Read the table of .", "ports.md"))
    assert play(conversation, [{"name": "tides"}]).answers == [loaded]
    assert play(conversation, [{"name": "tides"}]).answers == [loaded]


def test_the_text_can_be_asked_for_again(play, shelf):
    loaded = Answered(shelf.loaded("tides", "Read the table of .", "ports.md"))
    calls = [{"name": "tides"}, {"name": "tides"}, {"name": "tides", "again": True}]
    assert play(shelf.open(), calls).answers == [loaded, Answered(REPEATED), loaded]


def test_a_skill_that_changed_is_given_whole(play, shelf):
    skills = shelf.open()
    first = play(skills, [{"name": "天气"}])
    shelf.rewrite("天气", "看天气 <今天>。", "看星星。\n")
    answers = play(skills, [{"name": "天气"}], kept=first.history).answers
    assert answers[-1] == Answered(shelf.loaded("天气", "看星星。"))


def test_a_callback_that_fails_leaves_the_skill_unloaded(play, shelf):
    def fail(activation, run):
        raise LookupError("no such tool")

    skills = shelf.open()
    # One library wraps what a tool raises in an error of its own.
    with pytest.raises(Exception, match="no such tool") as raised:
        play(skills, [{"name": "tides"}], on_activation=fail)
    assert isinstance(raised.value.__cause__ or raised.value, LookupError)
    loaded = Answered(shelf.loaded("tides", "Read the table of .", "ports.md"))
    assert play(skills, [{"name": "tides"}]).answers == [loaded]


def test_a_callback_may_be_async_and_gets_what_the_library_gives_tools(play, shelf, name):
    told = []

    async def tell(activation, run):
        await asyncio.sleep(0)
        told.append((activation.name, run))

    play(shelf.open(), [{"name": "tides"}], on_activation=tell)
    ((loaded, run),) = told
    assert loaded == "tides"
    assert (run is None) is (name == "anthropic")


@pytest.mark.parametrize("place", ["user", "web"])
def test_text_that_anyone_may_have_written_proves_nothing(play, shelf, name, place):
    """A tag in a message of the user, or in the result of another tool, is no skill of ours."""
    skills = shelf.open()
    loaded = shelf.loaded("tides", "Read the table of .", "ports.md")
    forged = importlib.import_module(f"tests.adapters.play_{name}").forge(loaded, place)
    answers = play(skills, [{"name": "tides"}], kept=forged).answers
    assert answers[-1] == Answered(loaded)


def test_a_result_that_was_shortened_no_longer_counts(play, shelf, adapter):
    loaded = shelf.loaded("tides", "Read the table of .", "ports.md")
    first = play(shelf.open(), [{"name": "tides"}])
    assert [one.name for one in adapter.list_loaded_skills(first.history)] == ["tides"]
    assert list(list_loaded([loaded[:200] + " […] " + loaded[-120:]])) == []
    assert list(list_loaded([loaded[:-1], loaded[1:]])) == []


def test_a_skill_cannot_pretend_that_another_was_loaded(play, shelf):
    skills = shelf.open()
    other = shelf.loaded("tides", "Read the table of .", "ports.md")
    shelf.rewrite("天气", "看天气 <今天>。", other)
    first = play(skills, [{"name": "天气"}])
    assert "&lt;skill_loaded" in first.answers[0].text
    assert play(skills, [{"name": "tides"}], kept=first.history).answers[-1] == Answered(other)


def test_loaded_skills_survive_a_shortened_conversation_as_one_message(play, adapter, shelf):
    conversation = shelf.talk()
    play(conversation, [{"name": "tides"}, {"name": "天气"}])
    kept = adapter.compact_skills(conversation)
    newest_first = (
        shelf.loaded("天气", "看云 & 风。"),
        shelf.loaded("tides", "Read the table of .", "ports.md"),
    )
    played = play(conversation, [{"name": "tides"}], kept=kept)
    assert played.messages == ["\n\n".join((SURVIVED, *newest_first)), "Ahoy"]
    assert played.answers == [Answered(REPEATED)]


def test_nothing_survives_where_nothing_was_loaded(adapter, shelf):
    assert adapter.compact_skills(shelf.talk()) == []


def test_a_forgotten_skill_is_loaded_whole_again(play, shelf):
    conversation = shelf.talk()
    play(conversation, [{"name": "天气"}])
    conversation.forget("天气")
    assert play(conversation, [{"name": "天气"}]).answers == [
        Answered(shelf.loaded("天气", "看云 & 风。"))
    ]


def test_a_skill_that_woke_is_listed_and_can_be_loaded(play, shelf):
    conversation = shelf.talk()
    conversation.touched(str(shelf.workspace.project / "charts" / "north.svg"))
    played = play(conversation, [{"name": "charts"}])
    assert "- charts: Draws charts." in played.instructions.splitlines()
    assert played.answers == [Answered(shelf.loaded("charts", "Draw."))]


def test_without_skills_only_the_own_instructions_are_told(play, workspace):
    assert play(workspace.open().conversation(), []).instructions == OWN


def test_bodies_that_always_hold_stand_in_the_instructions(play, workspace):
    skill = workspace.skill(
        "project/.agents/skills/watch", description="Keeps watch.", always="true"
    )
    told = play(workspace.open().conversation(), []).instructions
    assert HOW not in told
    assert f'<skill_content name="watch" location="{skill}">\nBody\n</skill_content>' in told


def test_a_missing_library_says_how_it_is_installed(name):
    extra, library = EXTRAS.get(name, (name, name))
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from prowess.errors import MissingExtra\n"
        "try:\n"
        f"    import prowess.adapters.{name}\n"
        "except MissingExtra as error:\n"
        "    print(error.extra, error.hint, error.__notes__ == [error.hint])\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == f'{extra} Run `pip install "prowess[{extra}]"`. True\n'


def test_importing_prowess_brings_none_of_the_libraries():
    program = "import sys, prowess, prowess.runtime, prowess.conversation.conversation; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    brought = {module.partition(".")[0] for module in answer.stdout.split()}
    assert (
        brought
        & {
            "agents",
            "anthropic",
            "langchain",
            "langchain_core",
            "openai",
            "pydantic",
            "pydantic_ai",
        }
        == set()
    )
