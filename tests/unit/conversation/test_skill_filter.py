"""The skills of one conversation: included, excluded, or chosen by a function."""

from __future__ import annotations

import pytest

from prowess.conversation.conversation import Conversation
from prowess.errors import UnknownSkill, UsageError
from prowess.model.skill import Skill
from prowess.runtime import Skills
from prowess.sources import Files
from tests.workspace import Workspace, skill_text


def shelf(*names: str) -> Files:
    return Files({f"{name}/SKILL.md": skill_text(name) for name in names})


@pytest.fixture
def skills() -> Skills:
    return Skills.of(shelf("pdf", "deploy-web", "deploy-db", "billing"))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, ["billing", "deploy-db", "deploy-web", "pdf"]),
        ({"include": ["pdf"]}, ["pdf"]),
        ({"include": "pdf"}, ["pdf"]),
        ({"include": []}, []),
        ({"include": ["deploy-*", "pdf"], "exclude": ["deploy-db"]}, ["deploy-web", "pdf"]),
        ({"exclude": ["*"]}, []),
        ({"allow": lambda skill: skill.name.startswith("b")}, ["billing"]),
        ({"include": ["deploy-*"], "allow": lambda skill: "db" in skill.name}, ["deploy-db"]),
    ],
)
def test_a_conversation_has_the_skills_that_were_chosen(skills, options, left) -> None:
    chat = skills.conversation(**options)
    assert [skill.name for skill in chat.snapshot.skills] == left
    assert [line.name for line in chat.catalog().lines] == left
    assert [command.name for command in chat.commands.commands] == left


def test_what_was_left_out_does_not_exist_and_is_not_suggested(skills: Skills) -> None:
    chat = skills.conversation(include=["pdf"])
    for ask in (
        lambda: chat.activate("billing", by="model"),
        lambda: chat.activate("billin"),
        lambda: chat.read("skill://billing"),
    ):
        with pytest.raises(UnknownSkill) as caught:
            ask()
        assert "billing" not in (*caught.value.known, *caught.value.nearest)


def test_a_skill_that_lost_its_name_gets_it_where_the_winner_is_left_out() -> None:
    skills = Skills.of(
        Files({"x/SKILL.md": skill_text("x", "Of one tenant.")}, name="tenant"),
        Files({"x/SKILL.md": skill_text("x", "Of all.")}, name="shared"),
    )

    def is_shared(skill: Skill) -> bool:
        return skill.source.provider == "shared"

    (shown,) = skills.conversation().catalog().lines
    (left,) = skills.conversation(allow=is_shared).catalog().lines
    assert (shown.text, left.text) == ("Of one tenant.", "Of all.")


def test_conversations_with_the_same_choice_share_one_snapshot_and_catalog(skills: Skills) -> None:
    one, two = (skills.conversation(include=["deploy-*"]) for _ in range(2))
    assert one.snapshot is two.snapshot
    assert one.catalog() is two.catalog()
    assert skills.conversation(exclude=["pdf"]).snapshot is not one.snapshot


def test_a_function_is_asked_once_for_each_skill_however_many_conversations_there_are(
    skills: Skills,
) -> None:
    asked: list[str] = []

    def open_chat(number: int) -> Conversation:
        return skills.conversation(allow=lambda skill: asked.append(f"{number}") or True)  # type: ignore[func-returns-value]

    chats = [open_chat(number) for number in range(400)]
    for _ in range(3):
        for chat in chats:
            chat.catalog()
    assert len(asked) == 400 * len(skills.snapshot.skills)


def test_what_a_function_raises_is_not_swallowed(skills: Skills) -> None:
    def fail(skill: Skill) -> bool:
        raise PermissionError("who are you?")

    with pytest.raises(PermissionError):
        skills.conversation(allow=fail).catalog()


def test_a_skill_that_wakes_must_be_among_the_chosen(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/.claude/skills/sql", paths="'*.sql'")
    workspace.skill("project/.claude/skills/csv", paths="'*.csv'")
    workspace.skill("project/db/.claude/skills/nested")
    skills = workspace.open("claude-code")
    chat = skills.conversation(exclude=["sql", "nested"])
    for path in ("db/a.sql", "db/a.csv"):
        workspace.write(f"project/{path}")
        chat.touched(workspace.path(f"project/{path}"))
    assert [skill.name for skill in chat.snapshot.skills] == ["csv"]


def test_a_function_in_place_of_names_is_a_mistake_that_names_the_right_option(
    skills: Skills,
) -> None:
    with pytest.raises(UsageError, match="`allow=`"):
        skills.conversation(include=lambda skill: True)  # type: ignore[arg-type]
