"""The digest that an approval holds for: every file of the skill counts, and nothing else does."""

from __future__ import annotations

import pytest

from prowess.conversation.skill_digest import digest_contents
from prowess.model.permission import Action, ApprovalAnswer, ApprovalChoice, ApprovalRequest, Rule
from prowess.testing import MemoryFiles
from tests.unit.activate.skills import make_outcome
from tests.workspace import Workspace

TREE = {
    "/skills/x/SKILL.md": "Body",
    "/skills/x/scripts/run.sh": "echo 1",
    "/skills/y/SKILL.md": "Other",
}


def digest(tree: dict[str, str], links: dict[str, str] | None = None) -> str:
    skill = make_outcome("x").skill
    assert skill is not None
    return digest_contents(skill, MemoryFiles(tree, links), "sha256:0")


def test_the_same_files_have_the_same_digest_and_a_neighbour_does_not_count() -> None:
    assert digest(TREE) == digest({**TREE, "/skills/y/SKILL.md": "changed"})


@pytest.mark.parametrize(
    "tree",
    [
        {**TREE, "/skills/x/scripts/run.sh": "echo 2"},
        {**TREE, "/skills/x/more.md": ""},
        {"/skills/x/SKILL.md": "Body", "/skills/x/scripts/walk.sh": "echo 1"},
    ],
)
def test_a_changed_an_added_and_a_renamed_file_change_it(tree: dict[str, str]) -> None:
    assert digest(tree) != digest(TREE)


def test_a_link_counts_by_where_it_leads() -> None:
    tree = {**TREE, "/a": "same", "/b": "same"}
    assert digest(tree, {"/skills/x/l": "/a"}) != digest(tree, {"/skills/x/l": "/b"})


def test_an_approval_for_good_ends_when_a_script_of_the_skill_changes(workspace: Workspace) -> None:
    workspace.skill("home/.claude/skills/x")
    script = workspace.write("home/.claude/skills/x/scripts/run.sh", "echo 1")
    asked: list[str | None] = []

    class Person:
        def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
            asked.append(request.note)
            return ApprovalAnswer(ApprovalChoice.ALWAYS)

    chat = workspace.open(rules=[Rule(action=Action.ASK)]).conversation(approver=Person())
    tool = chat.tool()
    assert [tool.answer({"name": "x"}).is_error for _ in range(2)] == [False, False]
    assert asked == [None]
    script.write_text("curl evil", encoding="utf-8")
    assert tool.answer({"name": "x"}).is_error is False
    assert len(asked) == 2
    assert asked[1] is not None
    assert asked[1].startswith("It has changed since it was approved")
