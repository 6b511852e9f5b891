"""Files that a conversation touches: what wakes, what is found below, and what stays awake."""

from __future__ import annotations

import os

import pytest

from prowess.conversation.conversation import Conversation
from prowess.model.outcome import State
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"


def names(conversation: Conversation) -> list[str]:
    return [skill.name for skill in conversation.snapshot.skills]


def test_paths_and_globs_wake_by_patterns_of_gitignore(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/py", paths="['*.py', '!skip.py']")
    workspace.skill(f"{ROOT}/src", globs="src/**/*.{ts,tsx}")
    workspace.skill(f"{ROOT}/always")
    conversation = workspace.open().conversation()
    assert names(conversation) == ["always"]
    assert conversation.touched("skip.py") == ()
    assert conversation.touched("deep/x.rs") == ()
    assert [skill.name for skill in conversation.touched("deep/x.py")] == ["py"]
    assert [skill.name for skill in conversation.touched("src/a/b.tsx")] == ["src"]
    assert names(conversation) == ["always", "py", "src"]


def test_a_path_may_be_relative_absolute_or_a_path_object(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/py", paths="'a/*.py'")
    for path in (
        "a/x.py",
        workspace.path("project/a/x.py"),
        workspace.project / "a" / "x.py",
        "./b/../a/x.py",
    ):
        assert [skill.name for skill in workspace.open().touched(path)] == ["py"]
    assert workspace.open().touched(workspace.path("a/x.py")) == ()
    assert workspace.open().touched("../project/b/x.py") == ()


def test_what_woke_stays_awake_after_a_reload_and_only_in_its_conversation(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    skills = workspace.open()
    one, two = skills.conversation(), skills.conversation()
    one.touched("x.py")
    skills.reload()
    assert (names(one), names(two)) == (["py"], [])
    assert skills.snapshot.skills == ()
    assert "py" in one.catalog().text
    assert "py" not in two.catalog().text
    assert one.tool().answer({"name": "py"}).is_error is False
    assert two.tool().answer({"name": "py"}).is_error is True


def test_another_obstacle_still_stands_when_a_skill_wakes(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/py", paths="'*.py'", hide="true")
    conversation = workspace.open().conversation()
    assert conversation.touched("x.py") == ()
    assert [outcome.state for outcome in conversation.snapshot.outcomes] == [State.HIDDEN]


def test_folders_below_are_found_on_the_way_up_and_looked_into_once(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/.prowess/skills/top")
    workspace.skill("project/a/.agents/skills/near", paths="'*.py'")
    workspace.skill("project/a/b/.claude/skills/nearer")
    skills = workspace.open()
    conversation = skills.conversation()
    assert names(conversation) == ["top"]
    assert [skill.name for skill in conversation.touched("a/b/c/x.md")] == ["nearer"]
    workspace.skill("project/a/b/.prowess/skills/late")
    assert conversation.touched("a/b/c/y.md") == ()
    assert [skill.name for skill in conversation.touched("a/b/x.py")] == ["near"]
    skills.reload()
    assert names(conversation) == ["near", "nearer", "top"]
    assert conversation.activate("nearer", by="model").folder == workspace.path(
        "project/a/b/.claude/skills/nearer"
    )


def test_a_skill_found_below_is_of_the_project_and_not_trusted(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/a/.claude/skills/near", body="!`id`\n")
    conversation = workspace.open().conversation()
    conversation.touched("a/x.py")
    assert "[not run: its project is not trusted]" in conversation.activate("near").text


def test_ignored_folders_are_passed_over(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("project/.gitignore", "node_modules/\n")
    workspace.write("project/a/.gitignore", "build\n")
    workspace.skill("project/node_modules/p/.claude/skills/evil")
    workspace.skill("project/a/build/.claude/skills/made")
    conversation = workspace.open().conversation()
    assert conversation.touched("node_modules/p/x.js") == ()
    assert conversation.touched("a/build/x.js") == ()
    assert names(conversation) == []


def test_a_link_below_that_leads_out_of_the_project_brings_nothing(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("outside/skills/evil")
    workspace.link("project/a/.claude", workspace.path("outside"))
    assert workspace.open().conversation().touched("a/x.py") == ()


def test_a_saved_conversation_goes_on_with_what_was_awake_and_found(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    workspace.skill("project/a/.claude/skills/near")
    skills = workspace.open()
    first = skills.conversation(session="c-1")
    first.touched("a/x.py")
    first.activate("near", "x", by="model")
    saved = first.save()
    second = workspace.open().conversation(session="c-1", saved=saved)
    assert names(second) == names(first) == ["near", "py"]
    assert second.activate("near", "x", by="model").repeated
    assert second.save() == saved
    open_already = skills.conversation(session="c-1")
    assert names(open_already) == []
    open_already.wake_saved(saved)
    assert names(open_already) == ["near", "py"]
    assert open_already.ledger.entries == ()
    open_already.wake_saved("{")
    assert open_already.save() == first.save(with_ledger=False)
    # What git ignores by now is judged anew.
    workspace.write("project/.gitignore", "a/\n")
    assert names(workspace.open().conversation(saved=saved)) == ["py"]


@pytest.mark.parametrize(
    "saved",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 9, "entries": []}',
        '{"version": 1, "entries": [], "awake": 3, "folders": {}}',
    ],
)
def test_whatever_was_saved_can_be_given_back(workspace: Workspace, saved: str) -> None:
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    conversation = workspace.open().conversation(saved=saved)
    assert (names(conversation), conversation.ledger.entries) == ([], ())
    assert bool(conversation.diagnostics) is not saved.startswith('{"version": 1')


def test_a_saved_folder_outside_the_working_folder_is_not_looked_into(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("elsewhere/.claude/skills/evil")
    workspace.skill("project/.claude/skills/top")
    places = [workspace.path("elsewhere"), "/", "..", "relative", workspace.path("project")]
    saved = (
        '{"version": 1, "entries": [], "awake": ["/x"], "folders": '
        + repr(places).replace("'", '"')
        + "}"
    )
    assert names(workspace.open().conversation(saved=saved)) == ["top"]


@pytest.mark.parametrize("path", ["", ".", "/", "..", "a\0b", "\udcff", "a" * 5_000, "~", "a//b"])
def test_any_path_can_be_touched(workspace: Workspace, path: str) -> None:
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    assert workspace.open().conversation().touched(path) == ()


def test_touching_reads_no_skill_again_and_walks_nothing_twice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    skills = workspace.open()
    skills.touched("a/b.md")
    looked: list[str] = []
    real = os.stat

    def stat(path: str, **options: object) -> os.stat_result:
        looked.append(str(path))
        return real(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", stat)
    skills.touched("a/c.md")
    assert looked == []


@pytest.mark.parametrize(
    ("host", "found"),
    [("prowess", []), ("claude-code", ["evil"]), ("claude-code@documented", ["evil"])],
)
def test_what_lies_among_installed_modules_is_found_only_where_the_host_looks_there(
    workspace: Workspace, host: str, found: list[str]
) -> None:
    workspace.git()
    workspace.skill("project/node_modules/p/.claude/skills/evil")
    workspace.skill("project/.git/p/.claude/skills/worse")
    conversation = workspace.open(host).conversation()
    assert [skill.name for skill in conversation.touched("node_modules/p/x.js")] == found
    assert conversation.touched(".git/p/x.js") == ()
