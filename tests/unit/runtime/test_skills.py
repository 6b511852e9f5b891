"""Skills: lazy, kept, reloaded, closed; names, folders, documents and events."""

from __future__ import annotations

import os
import shutil
import threading
from typing import Any

import pytest

from prowess.errors import MachineError, NotAFolder, UnknownSkill
from prowess.ports import Event
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace

SKILL = "---\nname: one\ndescription: d\n---\nBody\n"


def test_nothing_is_read_until_it_is_asked_for() -> None:
    files = MemoryFiles({"/p/.claude/skills/one/SKILL.md": SKILL})
    skills = Skills("/p", facts=make_facts(), files=files)
    assert (files.listed, files.read) == ([], [])
    assert [skill.name for skill in skills] == ["one"]
    assert files.read == ["/p/.claude/skills/one/SKILL.md"]


def test_opening_a_folder_twice_gives_the_same_skills_until_they_are_closed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace.home))
    first = Skills.open(workspace.project)
    assert Skills.open(workspace.project) is first
    assert Skills.open(workspace.project, host="omp") is not first
    assert Skills.open(workspace.home) is not first
    first.close()
    second = Skills.open(workspace.project)
    assert second is not first
    second.close()
    Skills.open(workspace.project, host="omp").close()
    Skills.open(workspace.home).close()


def test_a_reload_gives_a_new_snapshot_and_leaves_the_old_one_as_it_was(
    workspace: Workspace,
) -> None:
    workspace.skill("project/.claude/skills/one")
    skills = workspace.open()
    before = skills.snapshot
    workspace.skill("project/.claude/skills/two")
    assert skills.snapshot is before
    after = skills.reload()
    assert [skill.name for skill in before.skills] == ["one"]
    assert [skill.name for skill in after.skills] == ["one", "two"]
    assert skills.snapshot is after


def test_content_and_digest_are_those_of_the_file_as_it_is_now(workspace: Workspace) -> None:
    path = workspace.skill("project/.claude/skills/one")
    skill = workspace.open().get("one")
    assert skill.content == "Body\n"
    first = skill.digest
    assert first.startswith("sha256:")
    assert len(first) == len("sha256:") + 64
    path.write_text("---\nname: one\ndescription: d\n---\nOther\n")
    assert skill.content == "Other\n"
    assert skill.digest != first


def test_a_file_that_is_gone_is_trouble_with_the_machine(workspace: Workspace) -> None:
    path = workspace.skill("project/.claude/skills/one")
    skill = workspace.open().get("one")
    os.unlink(path)
    with pytest.raises(MachineError) as caught:
        _ = skill.content
    assert str(caught.value) == f"Could not read {path}: No such file or directory."


def test_an_unknown_name_knows_the_nearest_ones(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/release-notes")
    with pytest.raises(UnknownSkill) as caught:
        workspace.open().get("relase-notes")
    assert caught.value.nearest == ("release-notes",)
    assert caught.value.hint == "Did you mean “release-notes”?"


def test_a_working_folder_that_is_not_there_is_said_so(workspace: Workspace) -> None:
    with pytest.raises(NotAFolder) as caught:
        _ = Skills(workspace.path("nowhere"), facts=workspace.facts(), cache=False).snapshot
    assert (
        str(caught.value) == f"{workspace.path('nowhere')} is not a folder; choose one that exists."
    )


def test_a_real_name_is_stronger_than_a_label(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/aaa", name="deploy")
    workspace.skill("project/.claude/skills/deploy", name="")
    skills = workspace.open("claude-code")
    assert skills.get("deploy").folder == workspace.path("project/.claude/skills/deploy")
    assert skills.get("aaa").label is None


def test_a_label_finds_a_skill_where_no_name_does(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/aaa", name="fancy")
    assert workspace.open("claude-code").get("fancy").name == "aaa"


def test_a_disabled_skill_that_lost_its_name_is_not_listed_beside_the_winner(
    workspace: Workspace,
) -> None:
    workspace.skill("project/skills/x")
    workspace.skill("home/.openclaw/skills/x")
    workspace.write(
        "home/.openclaw/openclaw.json", '{"skills": {"entries": {"x": {"enabled": false}}}}'
    )
    snapshot = workspace.scan("openclaw")
    assert [workspace.relative(o.candidate.location) for o in snapshot.shown] == [
        "project/skills/x/SKILL.md"
    ]
    found = snapshot.find("x")
    assert found is not None
    assert workspace.relative(found.candidate.location) == "project/skills/x/SKILL.md"


def test_a_listener_may_ask_for_the_snapshot(workspace: Workspace) -> None:
    workspace.write("project/.claude/skills/bad/SKILL.md", "---\nname: x\n")
    seen: list[Any] = []
    skills = workspace.open(
        on_event=lambda event: seen.append((event.kind, len(skills.snapshot.outcomes)))
    )
    asking = threading.Thread(target=lambda: skills.snapshot, daemon=True)
    asking.start()
    asking.join(5)
    assert not asking.is_alive()
    assert seen == [("parse-error", 1)]


def test_events_tell_parse_errors_invalid_skills_and_duplicates(workspace: Workspace) -> None:
    workspace.skill("project/.opencode/skills/a", name="same")
    workspace.skill("project/.opencode/skills/b", name="same")
    workspace.write("project/.opencode/skills/c/SKILL.md", "---\nname: [x\n---\n")
    workspace.write("project/.opencode/skills/d/SKILL.md", "---\ndescription: d\n---\n")
    events: list[Event] = []
    workspace.scan("opencode", on_event=events.append)
    assert [(event.kind, workspace.relative(event.file)) for event in events] == [
        ("parse-error", "project/.opencode/skills/c/SKILL.md"),
        ("invalid", "project/.opencode/skills/d/SKILL.md"),
        ("duplicate", "project/.opencode/skills/a/SKILL.md"),
    ]


def test_folders_gives_every_skill_folder_also_of_losers(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/a", name="same")
    workspace.skill("project/.agents/skills/b", name="same")
    assert workspace.open().folders() == (
        workspace.path("project/.agents/skills/b"),
        workspace.path("project/.claude/skills/a"),
    )


def test_one_folder_is_read_through_the_very_same_scan(workspace: Workspace) -> None:
    workspace.skill("anywhere/one")
    workspace.skill("anywhere/two", description=None)
    found = Skills.from_folder(
        workspace.path("anywhere"),
        source="mine:team",
        host="omp",
        facts=workspace.facts(),
        cache=False,
    )
    assert workspace.ends(found.snapshot) == {
        "anywhere/one/SKILL.md": "ready",
        "anywhere/two/SKILL.md": "invalid",
    }
    (skill,) = found.snapshot.skills
    assert (skill.source.provider, skill.source.level, skill.source.label) == (
        "mine",
        "team",
        "mine:team",
    )


def test_settings_follow_the_repository_that_a_folder_is_in_now(workspace: Workspace) -> None:
    outer = workspace.write("project/prowess.toml", 'ignore = ["one"]\n')
    (workspace.project / "deep").mkdir()
    skills = workspace.open(cwd="project/deep")
    workspace.git("project/deep")
    assert skills.find_places().repository == str(workspace.project / "deep")
    assert str(outer) not in skills.settings().files
    shutil.rmtree(workspace.project / "deep" / ".git")
    workspace.git("project")
    assert skills.find_places().repository == str(workspace.project)
    assert skills.settings().files == (str(outer),)
    inner = workspace.write("project/deep/prowess.toml", 'ignore = ["two"]\n')
    assert skills.settings().files == (str(outer), str(inner))
