"""An answer is used for the question that a person saw, and for no other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prowess import Action, ApprovalAnswer, ApprovalChoice, Files, Folder, Rule, Skills
from prowess.adapters.skill_offer import SkillOffer
from prowess.adapters.skill_tools import SkillCallContext
from prowess.errors.activation import NotPermitted

SKILL = "---\nname: a\ndescription: Tides.\n---\n{}\n"
FILES = {"a/SKILL.md": SKILL.format("Body."), "a/f.md": "FILE", "a/x.sh": "echo hi $1"}
ASK = [Rule(action=Action.ASK, pattern="a")]
BOTH = [
    ("skill", {"name": "a"}),
    ("run_skill_script", {"skill": "a", "script": "x.sh", "arguments": ["secret"]}),
]
READ = ("read_skill_file", {"url": "skill://a/f.md"})


class Suspended(Exception):
    pass


class Yes:
    def ask(self, request):
        return ApprovalAnswer(ApprovalChoice.ONCE)


class Replay:
    """A library that repeats calls, and gives answers in the order of the questions."""

    def __init__(self, skills):
        self.conversation = skills.conversation()
        self.offer = SkillOffer(skills)
        self.asked = {}

    def call(self, call_id, name, parameters, answers=()):
        left = list(answers)

        def suspend(request):
            if left:
                return ApprovalAnswer(ApprovalChoice(left.pop(0)))
            self.asked.setdefault(call_id, []).append(request.permission)
            raise Suspended

        context = SkillCallContext(
            conversation=self.conversation,
            loaded=frozenset(),
            response="r",
            call_id=call_id,
            suspend=suspend,
        )
        return self.offer.call(name, parameters, context)


def test_an_answer_about_a_skill_does_not_run_its_script():
    replay = Replay(Skills.of(Files(FILES, trust=True), rules=ASK))
    for call_id, call in zip("12", BOTH, strict=True):
        with pytest.raises(Suspended):
            replay.call(call_id, *call)
    assert replay.call("1", *BOTH[0], ["once"]).activation is not None
    # The first call loaded the skill meanwhile; the second still asks about it first.
    with pytest.raises(Suspended):
        replay.call("2", *BOTH[1], ["once"])
    assert replay.asked == {"1": ["skill"], "2": ["skill", "bash"]}
    assert replay.call("2", *BOTH[1], ["once", "once"]).text == "hi secret"


def test_an_answer_is_not_used_for_content_that_changed_meanwhile(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL.format("Original."))
    replay = Replay(Skills.of(Folder(tmp_path), rules=ASK))
    with pytest.raises(Suspended):
        replay.call("1", *BOTH[0])
    (folder / "SKILL.md").write_text(SKILL.format("Changed meanwhile."))
    output = replay.call("1", *BOTH[0], ["once"])
    assert isinstance(output.error, NotPermitted)
    assert "It has changed since it was approved." in output.text


def test_after_a_failed_callback_the_files_of_a_skill_need_permission():
    skills = Skills.of(Files(FILES, trust=True), rules=ASK)
    conversation = skills.conversation()

    def fail(activation, run):
        raise RuntimeError("no database")

    no_version: frozenset[str] = frozenset()
    for loaded in (no_version, None):
        context = SkillCallContext(conversation=conversation, loaded=loaded)
        with pytest.raises(RuntimeError):
            SkillOffer(skills, approver=Yes(), on_activation=fail).call(*BOTH[0], context)
        for call in (READ, BOTH[1]):
            output = SkillOffer(skills).call(*call, context)
            assert isinstance(output.error, NotPermitted)


def test_a_skill_that_changed_after_it_was_approved_once_needs_permission_again(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL.format("Original."))
    (folder / "f.md").write_text("FILE")
    skills = Skills.of(Folder(tmp_path), rules=ASK)
    conversation = skills.conversation()
    loaded = conversation.activate("a", "now", by="model", answers=_Always())
    versions = frozenset({loaded.version})
    for given in (versions, None):
        assert conversation.read("skill://a/f.md", loaded=given).content == "FILE"
    (folder / "SKILL.md").write_text(SKILL.format("Changed."))
    for given in (versions, None):
        with pytest.raises(NotPermitted):
            conversation.read("skill://a/f.md", loaded=given)


def test_what_the_user_loaded_is_readable_whatever_the_messages_say():
    skills = Skills.of(Files(FILES, trust=True), rules=ASK)
    conversation = skills.conversation()
    conversation.run("/a")
    context = SkillCallContext(conversation=conversation, loaded=frozenset())
    assert SkillOffer(skills).call(*READ, context).text == "FILE"


@pytest.mark.slow
def test_langchain_asks_the_same_questions_at_every_replay():
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from prowess.adapters.langchain import SkillMiddleware

    skills = Skills.of(Files(FILES, trust=True), rules=ASK)
    calls = [
        {"name": name, "args": parameters, "id": str(place)}
        for place, (name, parameters) in enumerate(BOTH)
    ]

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            return self

    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("Done.")]))
    agent = create_agent(
        model, middleware=[SkillMiddleware(skills, suspend=True)], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    result = asyncio.run(agent.ainvoke({"messages": [HumanMessage("Ahoy")]}, config))
    asked = []
    while questions := result.get("__interrupt__"):
        asked += [question.value["permission"] for question in questions]
        answers: Command[Any] = Command(resume={question.id: True for question in questions})
        result = asyncio.run(agent.ainvoke(answers, config))
    assert asked == ["skill", "skill", "bash"]
    assert result["messages"][3].content == "hi secret"


@pytest.mark.slow
def test_openai_agents_uses_no_approval_for_what_changed_meanwhile(tmp_path):
    from agents import Agent, Runner
    from agents.testing import ScriptedModel, assistant_message, function_call

    from prowess.adapters.openai_agents import add_skills

    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL.format("Original."))
    arguments = {"name": "a", "arguments": None, "again": None}
    script = [[function_call("skill", arguments, call_id="1")], [assistant_message("Done.")]]
    agent = add_skills(
        Agent(name="x", model=ScriptedModel(script)),
        Skills.of(Folder(tmp_path), rules=ASK),
        suspend=True,
    )

    async def run():
        state = (await Runner.run(agent, "Ahoy")).to_state()
        (folder / "SKILL.md").write_text(SKILL.format("Changed meanwhile."))
        for question in state.get_interruptions():
            state.approve(question)
        return await Runner.run(agent, state)

    result = asyncio.run(run())
    (output,) = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    assert "It has changed since it was approved." in output


class _Always(dict[str, ApprovalAnswer]):
    """Says yes once to every question."""

    def get(self, key, default=None):
        return ApprovalAnswer(ApprovalChoice.ONCE)
