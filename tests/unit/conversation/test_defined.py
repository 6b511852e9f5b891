"""Skills that are defined in code, as a conversation sees them."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.activate.code_skills import DefinedSkill
from prowess.activate.slash.messages import Message
from prowess.errors import InvalidName
from prowess.errors.activation import NotPermitted
from tests.unit.conversation.ports import ALWAYS, REJECT, Person
from tests.workspace import Workspace


def define(**fields: Any) -> DefinedSkill:
    declared: dict[str, Any] = {
        "name": "batch",
        "description": "Many changes",
        "get_prompt": lambda a, c: f"Do {a}",
    }
    return DefinedSkill(**declared | fields)


def test_a_definition_is_in_the_catalog_the_tool_and_the_commands(workspace: Workspace) -> None:
    skills = workspace.open()
    skills.define(define())
    assert "batch" in skills.catalog().text
    tool = skills.tool()
    assert tool.parameters["properties"]["name"]["enum"] == ["batch"]
    assert tool(name="batch", arguments="x").text == (
        '<skill_content name="batch">\n# Skill: batch\n\nDo x\n</skill_content>'
    )
    answer = skills.run("/batch x")
    assert isinstance(answer, Message)
    assert answer.text == "Do x"


def test_a_name_can_be_taken_once(workspace: Workspace) -> None:
    skills = workspace.open()
    skills.define(define())
    with pytest.raises(InvalidName):
        skills.define(define())
    with pytest.raises(InvalidName):
        skills.define(define(name=" "))
    assert [skill.name for skill in skills] == ["batch"]


def test_a_prompt_that_says_the_same_is_not_given_twice_to_a_model(workspace: Workspace) -> None:
    skills = workspace.open()
    skills.define(define())
    tool = skills.tool()
    assert [tool(name="batch", arguments=given).repeated for given in ("a", "a", "b")] == [
        False,
        True,
        False,
    ]


def test_the_prompt_function_is_not_called_before_somebody_permits_it(workspace: Workspace) -> None:
    called: list[str] = []

    def prompt(arguments: str, context: object) -> str:
        called.append(arguments)
        return f"{len(called)} {arguments}"

    workspace.write("home/.config/prowess/prowess.toml", '[permissions.skill]\n"*" = "ask"\n')
    skills = workspace.open()
    skills.define(define(get_prompt=prompt))
    person = Person(REJECT, ALWAYS)
    conversation = skills.conversation(approver=person)
    with pytest.raises(NotPermitted):
        conversation.activate("batch", "x", by="model")
    assert called == []
    # An approval holds although the prompt is another every time.
    assert [
        conversation.activate("batch", "x", by="model").text.count("x\n") for _ in range(2)
    ] == [1, 1]
    assert (called, len(person.asked)) == (["x", "x"], 2)


def test_an_approval_on_disk_does_not_hold_for_another_definition_of_the_name(
    workspace: Workspace,
) -> None:
    workspace.write(
        "home/.config/prowess/prowess.toml",
        'approvals = "disk"\n[permissions.skill]\n"*" = "ask"\n',
    )
    person = Person(ALWAYS)
    for description in ("Many changes", "Many changes", "Sends everything away"):
        skills = workspace.open()
        skills.define(define(description=description))
        skills.conversation(approver=person).activate("batch", by="model")
    assert len(person.asked) == 2


def test_a_definition_can_be_read_by_its_address(workspace: Workspace) -> None:
    skills = workspace.open()
    skills.define(define(files={"docs/a.md": "# A"}), define(name="bare"))
    with skills:
        assert skills.read("skill://batch/docs/a.md").content == "# A"
        assert skills.read("skill://batch").content.endswith("\n\nDo ")
        assert skills.read("skill://bare").content == "Do "


@pytest.mark.parametrize(
    "prompt", [3, None, [{"text": "x"}], [{"type": "text"}], {"type": "text", "text": "x"}]
)
def test_a_prompt_that_is_neither_text_nor_blocks_is_an_error(
    workspace: Workspace, prompt: Any
) -> None:
    skills = workspace.open()
    skills.define(define(get_prompt=lambda a, c: prompt))
    answer = skills.tool().answer({"name": "batch"})
    assert answer.is_error
    assert "it must return text or a list of content blocks" in answer.text
