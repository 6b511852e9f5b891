"""opencode as its seed describes it, end to end: the tool that a model calls, its answer,
permission, and files.
"""

from __future__ import annotations

from typing import Any

import pytest

from prowess.errors import UnknownSkill
from prowess.errors.activation import Cancelled, NotPermitted
from prowess.model.permission import ApprovalRequest
from tests.unit.conversation.ports import ALWAYS, ONCE, REJECT, Person, plain
from tests.workspace import Workspace

HOST = "opencode@documented"
ROOT = "home/.config/opencode/skills"


def ask_for(workspace: Workspace, *names: str, action: str = "ask") -> None:
    rules = ", ".join(f'"{name}": "{action}"' for name in names)
    workspace.write(
        "home/.config/opencode/opencode.json", f'{{"permission": {{"skill": {{{rules}}}}}}}'
    )


@pytest.mark.seed("O-34", "O-35", "O-37")
def test_the_tool_is_called_skill_and_is_described_with_the_skills_there_are_now(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/pdf", description="Reads PDF files")
    workspace.skill(f"{ROOT}/doc", description="Writes documents")
    skills = workspace.open(HOST)
    tool = skills.tool()
    assert tool.name == "skill"
    assert tool.description == (
        "Loads one of these skills into the conversation.\n"
        "## Available Skills\n- **doc**: Writes documents\n- **pdf**: Reads PDF files"
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "description": "The name of a skill from the list of available skills (for example 'doc', 'pdf').",
                "enum": ["doc", "pdf"],
            }
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    workspace.skill(f"{ROOT}/xls", description="Calculates")
    skills.reload()
    assert skills.tool().description == f"{tool.description}\n- **xls**: Calculates"


@pytest.mark.seed("O-35")
def test_the_description_lists_what_that_agent_may_use(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", description="Reads PDF files")
    workspace.skill(f"{ROOT}/secret", description="Hidden")
    ask_for(workspace, "secret", action="deny")
    tool = workspace.open(HOST).tool()
    assert tool.description.endswith("\n- **pdf**: Reads PDF files")
    assert tool.parameters["properties"]["name"]["enum"] == ["pdf"]


@pytest.mark.seed("O-36")
def test_without_a_skill_the_description_says_only_that(workspace: Workspace) -> None:
    tool = workspace.open(HOST).tool()
    assert tool.description == "No skills are available."
    assert "enum" not in tool.parameters["properties"]["name"]


@pytest.mark.seed("O-47", "O-48", "O-49", "O-50", "O-51", "O-52", "O-44", "O-45")
def test_a_loaded_skill_is_the_wrapped_body_its_folder_and_its_files(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", body="\n\n  # Read\n\nUse `scripts/read.py` on $1.\n\n\n")
    workspace.write(f"{ROOT}/pdf/scripts/read.py")
    workspace.write(f"{ROOT}/pdf/.env.sample")
    workspace.write("elsewhere/deep/x.md")
    workspace.link(f"{ROOT}/pdf/link", workspace.path("elsewhere"))
    folder = workspace.path(f"{ROOT}/pdf")
    assert workspace.open(HOST).tool()(name="pdf").text == (
        '<skill_content name="pdf">\n'
        "# Skill: pdf\n"
        "\n"
        "# Read\n\nUse `scripts/read.py` on $1.\n"
        "\n"
        f"Base folder of this skill: file://{folder}\n"
        "Relative paths in this skill (such as scripts/ or reference/) start at that folder.\n"
        "The files below are a sample of the folder's contents.\n"
        "\n"
        "<skill_files>\n"
        f"<file>{folder}/.env.sample</file>\n"
        f"<file>{folder}/scripts/read.py</file>\n"
        "</skill_files>\n"
        "</skill_content>"
    )


@pytest.mark.seed("O-53", "O-54")
def test_the_result_has_a_title_and_metadata(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    made = workspace.open(HOST).tool()(name="pdf")
    folder = workspace.path(f"{ROOT}/pdf")
    assert (made.title, made.metadata) == ("Loaded skill: pdf", {"name": "pdf", "dir": folder})


@pytest.mark.seed("O-42", "O-43")
def test_at_most_ten_files_are_listed_and_never_the_skill_itself(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    for number in range(13):
        workspace.write(f"{ROOT}/pdf/f{number:02}.md")
    made = workspace.open(HOST).tool()(name="pdf")
    folder = workspace.path(f"{ROOT}/pdf")
    assert made.files == tuple(f"{folder}/f{number:02}.md" for number in range(10))
    assert made.more_files == 3
    assert made.text.count("<file>") == 10
    assert "3 more are not listed" in made.text


@pytest.mark.seed("O-46")
def test_a_call_that_is_called_off_stops_at_the_files(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    conversation = workspace.open(HOST).conversation()
    with pytest.raises(Cancelled):
        conversation.activate("pdf", by="model", is_cancelled=lambda: True)
    assert conversation.ledger.entries == ()


@pytest.mark.seed("O-38", "O-39")
def test_an_unknown_name_is_answered_before_anybody_is_asked_and_names_no_denied_skill(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.skill(f"{ROOT}/doc")
    workspace.skill(f"{ROOT}/pdf-secret")
    workspace.write(
        "home/.config/opencode/opencode.json",
        '{"permission": {"skill": {"*": "ask", "pdf-secret": "deny"}}}',
    )
    person = Person(ONCE)
    tool = workspace.open(HOST).conversation(approver=person).tool()
    with pytest.raises(UnknownSkill) as caught:
        tool(name="pdf-secre")
    assert (caught.value.name, caught.value.known) == ("pdf-secre", ("doc", "pdf"))
    answer = tool.answer({"name": "pdf-secre"})
    assert answer.is_error
    assert answer.text == "There is no skill named “pdf-secre” here. Available skills: doc, pdf."
    assert tool.answer({"name": "pfd"}).text == (
        "There is no skill named “pfd” here. Did you mean “pdf”? Available skills: doc, pdf."
    )
    assert person.asked == []


@pytest.mark.seed("O-40", "O-41")
def test_permission_is_asked_for_with_the_name_and_always_is_remembered(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    ask_for(workspace, "*")
    person = Person(ONCE, ALWAYS, REJECT)
    conversation = workspace.open(HOST).conversation(approver=person)
    for _ in range(3):
        conversation.activate("pdf", by="model")
        conversation.forget()
    key = person.asked[0].key
    asked = ApprovalRequest(
        permission="skill", patterns=("pdf",), always=("pdf",), metadata={}, key=key
    )
    assert [plain(request) for request in person.asked] == [plain(asked)] * 2


@pytest.mark.seed("O-38", "O-41")
def test_nothing_is_read_or_listed_for_a_skill_that_is_rejected(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/pdf")
    ask_for(workspace, "pdf", action="deny")
    skills = workspace.open(HOST)
    assert skills.snapshot.outcomes
    file.unlink()
    with pytest.raises(NotPermitted):
        skills.conversation().activate("pdf", by="model")


def test_a_skill_that_is_in_the_conversation_is_given_as_one_line_until_it_changes(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/pdf", body="One\n")
    tool = workspace.open(HOST).tool()
    first, second = tool(name="pdf"), tool(name="pdf")
    assert (first.repeated, second.repeated) == (False, True)
    assert (
        second.text == "The skill “pdf” is already loaded and has not changed; keep following it."
    )
    file.write_text(file.read_text().replace("One", "Two"))
    third = tool(name="pdf")
    assert (third.repeated, "Two" in third.text) == (False, True)


@pytest.mark.parametrize("parameters", [{}, {"name": ""}, {"name": 3}, {"skill": "pdf"}])
def test_a_call_without_a_name_is_answered_with_a_sentence(
    workspace: Workspace, parameters: dict[str, Any]
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    answer = workspace.open(HOST).tool().answer(parameters)
    assert (answer.is_error, answer.text) == (
        True,
        "The tool skill needs `name`: the name of a skill, as a string.",
    )
