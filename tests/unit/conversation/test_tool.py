"""The tool of a conversation: how it is described, the order of its steps, permission, and what it
repeats.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from prowess.conversation.conversation import Conversation
from prowess.errors import UnknownSkill, UsageError
from prowess.errors.activation import NotPermitted, Unavailable
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from prowess.state.approvals import approvals_path
from tests.unit.conversation.ports import ALWAYS, ONCE, REJECT, Person, Recorder, plain
from tests.workspace import Workspace, skill_text

ROOT = "home/.prowess/skills"
ASK = '[permissions.skill]\n"*" = "ask"\n'


def load(conversation: Conversation, name: str = "pdf") -> str:
    """Load a skill anew, as a model does."""
    conversation.forget()
    return conversation.activate(name, by="model").text


def test_names_are_an_enumeration_where_all_are_listed_and_any_text_where_not(
    workspace: Workspace,
) -> None:
    for number in range(40):
        workspace.skill(f"{ROOT}/skill-{number:02}", description="d" * 200)
    skills = workspace.open()
    names = [f"skill-{number:02}" for number in range(40)]
    assert skills.tool(characters=100_000).parameters["properties"]["name"]["enum"] == names
    assert "enum" not in skills.tool(characters=200).parameters["properties"]["name"]


def test_a_model_may_write_the_name_as_a_user_types_it(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    assert workspace.open().tool()(name=" /pdf").name == "pdf"


def test_arguments_reach_the_body(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", body="Read $ARGUMENTS.\n")
    tool = workspace.open().tool()
    assert "\nRead a b.\n" in tool(name="pdf", arguments=" a b ").text
    with pytest.raises(UsageError):
        tool(name="pdf", arguments=["a"])


def test_a_skill_is_looked_up_then_permitted_and_only_then_are_its_files_listed(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.write("home/.config/prowess/prowess.toml", ASK)
    listings: list[bool] = []

    def look() -> bool:
        listings.append(True)
        return False

    person = Person(REJECT, ONCE)
    conversation = workspace.open().conversation(approver=person)
    with pytest.raises(UnknownSkill):
        conversation.activate("pfd", by="model", is_cancelled=look)
    assert person.asked == []
    with pytest.raises(NotPermitted):
        conversation.activate("pdf", by="model", is_cancelled=look)
    assert listings == []
    conversation.activate("pdf", by="model", is_cancelled=look)
    assert listings == [True]


def test_an_unknown_name_tells_only_what_may_be_told(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.skill(f"{ROOT}/pdf-keys")
    workspace.skill(f"{ROOT}/pdf-user", disable_model_invocation="true")
    workspace.write(
        "home/.config/prowess/prowess.toml", '[permissions.skill]\n"pdf-keys" = "deny"\n'
    )
    skills = workspace.open()
    with pytest.raises(UnknownSkill) as caught:
        skills.activate("pdf-key", by="model")
    assert (caught.value.known, caught.value.nearest) == (("pdf",), ("pdf",))
    with pytest.raises(UnknownSkill) as caught:
        skills.activate("pdf-key")
    assert caught.value.known == ("pdf", "pdf-user")


def test_a_denied_skill_is_refused_with_the_rule_that_denies_it(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.write("home/.config/prowess/prowess.toml", '[permissions.skill]\npdf = "deny"\n')
    skills = workspace.open()
    answer = skills.tool().answer({"name": "pdf"})
    assert (answer.is_error, answer.activation) == (True, None)
    assert answer.text.startswith("Not permitted to use the skill “pdf”: the rule ")
    with pytest.raises(Unavailable):
        skills.activate("pdf")


def test_what_is_left_to_the_user_cannot_be_loaded_by_the_model(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", disable_model_invocation="true")
    workspace.skill(f"{ROOT}/doc", hide="true")
    skills = workspace.open()
    with pytest.raises(Unavailable) as caught:
        skills.activate("pdf", by="model")
    assert caught.value.reason == "`disable-model-invocation` reserves it for the user"
    assert skills.activate("pdf").name == "pdf"
    assert skills.activate("doc", by="model").name == "doc"


@pytest.mark.parametrize("state", ["disabled", "ineligible", "invalid"])
def test_a_skill_that_is_there_and_cannot_be_loaded_says_why(
    workspace: Workspace, state: str
) -> None:
    header = {"disabled": "enabled: false", "ineligible": "os: [darwin]", "invalid": "name: [x"}[
        state
    ]
    workspace.write(
        f"{ROOT}/pdf/SKILL.md", f"---\nname: pdf\ndescription: d\n{header}\n---\nBody\n"
    )
    skills = workspace.open()
    if state == "invalid":
        workspace.write(f"{ROOT}/pdf/SKILL.md", "---\nname: pdf\n")
        skills.reload()
    for by in ("user", "model"):
        with pytest.raises(Unavailable) as caught:
            skills.activate("pdf", by=by)
        assert (caught.value.state, bool(caught.value.reason), caught.value.exit_code) == (
            state,
            True,
            5,
        )


def test_once_is_asked_every_time_and_always_only_until_the_skill_changes(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/pdf", body="One\n")
    workspace.write("home/.config/prowess/prowess.toml", ASK)
    person = Person(ONCE, ONCE, ALWAYS)
    conversation = workspace.open().conversation(approver=person)
    for _ in range(4):
        load(conversation)
    assert len(person.asked) == 3
    file.write_text(skill_text("pdf", body="Two\n"))
    assert "Two" in load(conversation)
    assert len(person.asked) == 4
    assert (person.asked[3].note or "").startswith("It has changed since it was approved")
    workspace.write(f"{ROOT}/pdf/run.sh", "echo")
    load(conversation)
    assert len(person.asked) == 5


def test_a_rejection_carries_what_the_person_said(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.write("home/.config/prowess/prowess.toml", ASK)
    conversation = workspace.open().conversation(
        approver=Person(ApprovalAnswer(ApprovalChoice.REJECT, "use doc instead"))
    )
    answer = conversation.tool().answer({"name": "pdf"})
    assert (answer.is_error, answer.text) == (
        True,
        "Not permitted to use the skill “pdf”: it was rejected. Feedback: use doc instead",
    )
    assert conversation.ledger.entries == ()


def test_approvals_are_kept_on_disk_where_the_user_wants_it(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    person = Person(ALWAYS)
    workspace.write("home/.config/prowess/prowess.toml", f'approvals = "memory"\n{ASK}')
    for _ in range(2):
        load(workspace.open().conversation(approver=person))
    assert len(person.asked) == 2
    workspace.write("home/.config/prowess/prowess.toml", f'approvals = "disk"\n{ASK}')
    for _ in range(2):
        load(workspace.open().conversation(approver=person))
    assert len(person.asked) == 3
    with open(approvals_path(workspace.facts()), encoding="utf-8") as file:
        (kept,) = json.load(file)["approvals"]
    assert (kept["permission"], kept["pattern"], kept["location"]) == (
        "skill",
        "pdf",
        workspace.path(f"{ROOT}/pdf/SKILL.md"),
    )
    assert os.stat(approvals_path(workspace.facts())).st_mode & 0o077 == 0


def test_without_an_approver_only_what_the_header_wants_is_withheld(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", allowed_tools="Bash(git *)", model="opus")
    skills = workspace.open()
    made = skills.activate("pdf", by="model")
    assert (made.requests.allowed_tools, made.requests.model) == ((), "opus")
    assert [found.code for found in made.diagnostics] == ["request-withheld"]
    assert skills.activate("pdf").requests.allowed_tools == ("Bash(git *)",)
    person = Person(ALWAYS)
    granted = skills.conversation(approver=person).activate("pdf", by="model")
    assert (granted.requests.allowed_tools, granted.diagnostics) == (("Bash(git *)",), ())
    assert [plain(request.metadata) for request in person.asked] == [
        {
            "skill": "pdf",
            "location": workspace.path(f"{ROOT}/pdf/SKILL.md"),
            "allowed-tools": ["Bash(git *)"],
        }
    ]


def test_a_second_call_gives_one_line_unless_arguments_or_the_place_differ(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/pdf", body="Read $1.\n")
    skills = workspace.open()
    tool = skills.tool()
    assert [
        tool(name="pdf", arguments=given).repeated for given in ("a b", "a b", "a c", "a b")
    ] == [
        False,
        True,
        False,
        False,
    ]
    # The very same file as a project's own: other files lie beside it.
    workspace.skill("project/.prowess/skills/pdf", body="Read $1.\n")
    skills.reload()
    made = tool(name="pdf", arguments="a b")
    assert (made.repeated, made.folder) == (False, workspace.path("project/.prowess/skills/pdf"))


def test_a_skill_whose_commands_ran_is_given_again(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`date`\n")
    conversation = workspace.open().conversation(runner=Recorder())
    assert [conversation.activate("log", by="model").repeated for _ in range(2)] == [False, False]


def test_what_a_user_asks_for_is_always_given_whole(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    skills = workspace.open()
    assert [skills.activate("pdf").repeated for _ in range(2)] == [False, False]
    assert skills.activate("pdf", by="model").repeated


def test_two_conversations_know_nothing_of_each_other(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    skills = workspace.open()
    one, two = skills.conversation(), skills.conversation()
    one.activate("pdf", by="model")
    assert not two.activate("pdf", by="model").repeated
    assert one.activate("pdf", by="model").repeated


@pytest.mark.parametrize("host", ["prowess", "claude-code", "opencode", "openclaw", "omp", "codex"])
def test_every_host_has_a_tool_that_can_be_described_and_called(
    workspace: Workspace, host: str
) -> None:
    workspace.skill("project/.agents/skills/pdf", body="Read.\n")
    workspace.skill("project/.claude/skills/pdf", body="Read.\n")
    workspace.git()
    tool = workspace.open(host).tool()
    schema: dict[str, Any] = json.loads(json.dumps(tool.parameters))
    answer = tool.answer({schema["required"][0]: "pdf"})
    assert (answer.is_error, "Read." in answer.text) == (False, True)


def test_an_approval_that_cannot_be_written_down_holds_for_now_and_says_so(
    workspace: Workspace,
) -> None:
    workspace.write("home/.config/prowess/prowess.toml", f'approvals = "disk"\n{ASK}')
    workspace.skill("home/.claude/skills/pdf")
    workspace.write("home/.local/state/prowess", "a file where the folder would be")
    person = Person(ALWAYS)
    chat = workspace.open().conversation(approver=person)
    loaded = chat.activate("pdf", by="model")
    assert [finding.code for finding in loaded.diagnostics] == ["approval-not-kept"]
    assert ".local/state/prowess" in loaded.diagnostics[0].message
    assert chat.activate("pdf", "again", by="model").diagnostics == ()
    assert len(person.asked) == 1


def test_what_a_conversation_tells_the_model_counts_as_offered(workspace: Workspace) -> None:
    workspace.skill("home/.claude/skills/pdf")
    workspace.skill("home/.claude/skills/secret", disable_model_invocation="true")
    skills = workspace.open(usage=True)
    skills.catalog()
    assert skills.usage().load_counts() == {}
    chat = skills.conversation()
    chat.catalog()
    chat.tool()
    counts = skills.usage().load_counts()
    assert [(name, counted.offered) for (name, _), counted in counts.items()] == [("pdf", 1)]
