"""What adapters offer beside the tool that loads: files, words to find skills by, tenants."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from prowess import Files, Skills
from prowess.adapters.conversations import Conversations
from prowess.adapters.skill_offer import SkillOffer
from prowess.adapters.skill_tools import SkillCallContext
from prowess.errors.activation import ScriptRefused
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from tests.adapters.shelf import Answered
from tests.adapters.test_every_adapter import EXTRAS
from tests.unit.conversation.ports import ONCE, Person

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(os.environ.get("PROWESS_FRAMEWORKS")), reason="tried with the libraries of `make test`"
    ),
]


@pytest.fixture
def errors(name: str) -> bool:
    """Whether a library marks answers that tell of an error."""
    return name != "openai_agents"


def test_skills_without_room_in_the_list_are_found_by_words(play, workspace):
    for number in range(60):
        workspace.skill(
            f"project/.agents/skills/skill-{number:02d}", description="Does things. " * 9
        )
    workspace.skill("project/.agents/skills/zz-migrations", description="Writes SQL migrations.")
    # The smallest list has room for names only, and not for all of them.
    played = play(
        workspace.open(), [("find_skills", {"query": "migrate a database"})], characters=300
    )
    assert "more, not listed here" in played.instructions
    assert "with `find_skills`" in played.instructions
    assert played.answers == [Answered("- zz-migrations: Writes SQL migrations.")]


def test_a_complete_list_needs_no_tool_that_finds(play, shelf):
    assert "find_skills" not in play(shelf.open(), []).tools


def test_tools_can_be_left_out(play, shelf):
    played = play(shelf.open(), [], read_files=False, run_scripts=False)
    assert played.tools == ["skill"]


def test_files_are_read_with_the_permission_of_their_skill(play, shelf, errors):
    calls = [
        ("read_skill_file", {"url": "skill://tides/ports.md"}),
        ("read_skill_file", {"url": "skill://crew-list/SKILL.md"}),
        ("read_skill_file", {"url": "skill://tides/../anchor/SKILL.md"}),
        ("read_skill_file", {}),
    ]
    first, denied, outside, nothing = play(shelf.open(), calls).answers
    assert first == Answered("# Ports\n")
    assert denied.is_error is outside.is_error is nothing.is_error is errors
    # Nobody is told about a skill that is denied.
    assert denied.text.startswith("There is no skill named “crew-list” here.")
    assert nothing.text == "The tool read_skill_file needs `url`, as a string."


def test_a_tenant_has_skills_of_its_own(play, shelf):
    skills = shelf.open()
    opened = []

    def open_conversation(run, **given):
        opened.append(given)
        return skills.conversation(include=["tides"], **given)

    played = play(skills, [{"name": "天气"}], open_conversation=open_conversation)
    assert "天气" not in played.instructions
    assert played.answers[0].text.startswith("There is no skill named “天气” here.")
    assert opened


def test_an_agent_is_built_in_an_event_loop_without_reading_files(adapter, shelf, name):
    skills = shelf.open()

    async def build():
        make = {
            "anthropic": "MessageSkills",
            "langchain": "SkillMiddleware",
            "pydantic_ai": "SkillToolset",
            "openai_agents": "skill_tools",
        }[name]
        return getattr(adapter, make)(skills)

    read = skills.project.files
    # Whatever touched a file now would fail.
    skills.project.view.files = None
    built = asyncio.run(build())
    skills.project.view.files = read
    assert built is not None


def test_a_library_that_fails_to_import_keeps_its_own_error(name, tmp_path):
    _, library = EXTRAS.get(name, (name, name))
    folder = tmp_path / library
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('it is too old')\n")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport prowess.adapters.{name}\n"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "ImportError: it is too old" in answer.stderr
    assert "is installed but cannot be imported" in answer.stderr


PNG = b"\x89PNG\r\n\x1a\n"
ENCODED = base64.b64encode(PNG).decode()
SHOWN = {
    "anthropic": {"type": "base64", "media_type": "image/png", "data": ENCODED},
    "langchain": {"type": "image", "base64": ENCODED, "mime_type": "image/png"},
    "openai_agents": f"data:image/png;base64,{ENCODED}",
    "pydantic_ai": PNG,
}


def test_images_are_passed_on_in_the_librarys_own_types(play, shelf, name):
    shelf.workspace.write("project/.agents/skills/tides/map.png", PNG)
    history = play(shelf.open(), [("read_skill_file", {"url": "skill://tides/map.png"})]).history
    assert str(SHOWN[name]) in str(history)


def test_conversations_that_were_used_least_recently_are_dropped(shelf):
    conversations = Conversations(shelf.open(), most=2)
    ann, bob = conversations.get("ann"), conversations.get("bob")
    assert conversations.get("ann") is ann
    conversations.get("carl")
    assert conversations.get("ann") is ann
    assert conversations.get("bob") is not bob
    assert conversations.get(None) is not conversations.get(None)


def test_a_conversation_is_the_only_one_where_it_was_given(shelf):
    conversation = shelf.talk()
    conversations = Conversations(conversation)
    assert conversations.get("ann") is conversations.get(None) is conversation


class AsyncPerson(Person):
    """A person who takes a while."""

    async def ask(self, request):  # type: ignore[override]
        await asyncio.sleep(0)
        return super().ask(request)


@pytest.mark.parametrize("kind", [Person, AsyncPerson])
def test_the_approver_of_a_run_is_asked(play, shelf, errors, kind):
    person = kind(ApprovalAnswer(ApprovalChoice.REJECT, "Not here."), ONCE)
    runs = []

    def find_approver(run):
        runs.append(run)
        return person

    calls = [{"name": "anchor"}, {"name": "anchor"}]
    refused, loaded = play(shelf.open(), calls, approver=find_approver).answers
    assert refused.is_error is errors
    assert refused.text.endswith("it was rejected. Feedback: Not here.")
    assert loaded == Answered(shelf.loaded("anchor", "Drop it."))
    assert len(person.asked) == len(runs) == 2


def test_an_approver_that_fails_refuses(play, shelf):
    class Broken:
        def ask(self, request):
            raise OSError("the window was closed")

    (answer,) = play(shelf.open(), [{"name": "anchor"}], approver=Broken()).answers
    assert "the approver failed (OSError: the window was closed)" in answer.text


def test_waiting_for_people_holds_no_threads(shelf):
    from prowess.adapters.anthropic import MessageSkills

    people = 60
    call = {"type": "tool_use", "id": "1", "name": "skill", "input": {"name": "anchor"}}

    async def play():
        answered, waiting = asyncio.Event(), []

        class Slow:
            async def ask(self, request):
                waiting.append(request)
                await answered.wait()
                return ONCE

        offered = MessageSkills(shelf.open(), approver=Slow())
        tasks = [asyncio.create_task(offered.answer_async([call], [])) for _ in range(people)]
        while len(waiting) < people:
            await asyncio.sleep(0.01)
        for _ in range(2400):
            # The last ones that asked may need a moment to let go of their threads.
            ours = [one for one in threading.enumerate() if one.name == "prowess"]
            if not ours:
                break
            await asyncio.sleep(0.05)
        # The threads of the event loop's own pool are free for others.
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 120) == "free"
        answered.set()
        results: list[Any] = await asyncio.gather(*tasks)
        return len(ours), {result["content"][0]["text"] for (result,) in results}

    threads, texts = asyncio.run(play())
    assert threads == 0
    assert texts == {shelf.loaded("anchor", "Drop it.")}


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("20-22", "line 20\nline 21\nline 22\n\n[2 more lines; read on with :23]"),
        ("22-", "line 22\nline 23\nline 24"),
        ("22", "line 22\nline 23\nline 24"),
    ],
)
def test_only_the_lines_that_were_asked_for_are_read(lines, read):
    text = "\n".join(f"line {number}" for number in range(1, 25))
    header = "---\nname: a\ndescription: Tides.\n---\n"
    skills = Skills.of(Files({"a/SKILL.md": header, "a/f.md": text, "a/x.sh": "echo"}))
    context = SkillCallContext(conversation=skills.conversation())
    url = f"skill://a/f.md:{lines}"
    assert SkillOffer(skills).call("read_skill_file", {"url": url}, context).text == read


def test_a_script_of_a_source_without_trust_says_how_to_trust_it():
    header = "---\nname: a\ndescription: Tides.\n---\n"
    skills = Skills.of(Files({"a/SKILL.md": header, "a/x.sh": "echo"}))
    with pytest.raises(ScriptRefused, match="its source is not trusted") as caught:
        skills.conversation().run_script("a", "x.sh", by="user")
    assert "`trust=True`" in str(caught.value.hint)
