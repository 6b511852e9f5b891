"""The catalog of a conversation: the same text in every request, however often skills are used."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path

import pytest

from prowess.model.catalog import Catalog
from prowess.state.usage import UsageFile, usage_path
from tests.workspace import Workspace

NAMES = [f"skill-{number}" for number in range(8)]


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    for name in NAMES:
        workspace.skill(f"home/.claude/skills/{name}", description=f"Does {name}. " + "More. " * 20)
    return workspace


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
@pytest.mark.parametrize("usage", [False, True])
def test_it_stays_the_same_while_skills_are_used(
    workspace: Workspace, host: str, usage: bool
) -> None:
    chat = workspace.open(host, usage=usage).conversation()
    catalogs = set()
    for name in NAMES[:6]:
        chat.activate(name, by="model")
        catalogs.add(chat.catalog(characters=600).prompt)
    assert len(catalogs) == 1


def test_the_next_conversation_shows_more_of_what_was_used(workspace: Workspace) -> None:
    skills = workspace.open("claude-code", usage=True)
    first = skills.conversation()
    before = first.catalog(characters=600)
    first.activate("skill-7")
    after = skills.conversation().catalog(characters=600)
    assert (_shown(before, "skill-7"), _shown(after, "skill-7")) == ("name-only", "whole")
    assert first.catalog(characters=600) is before


def _shown(catalog: Catalog, name: str) -> str:
    return next(line.shown.value for line in catalog.lines if line.name == name)


def test_the_library_counts_nothing_unless_it_is_asked_to(workspace: Workspace) -> None:
    skills = workspace.open()
    chat = skills.conversation()
    chat.catalog()
    chat.activate("skill-1")
    assert skills.usage().load_counts() == {}
    assert not (workspace.home / ".local").exists()


def test_what_is_shown_again_and_again_is_counted_as_offered_once(workspace: Workspace) -> None:
    skills = workspace.open(usage=True)
    chat = skills.conversation()
    for _ in range(3):
        chat.catalog()
    assert {count.offered for count in skills.usage().load_counts().values()} == {1}


def test_only_the_counts_of_the_given_skills_are_read(workspace: Workspace) -> None:
    skills = workspace.open(usage=True)
    for name in NAMES:
        skills.activate(name)
    some = [skills.get(name) for name in NAMES[2:4]]
    counts = UsageFile(usage_path(skills.facts)).load_counts(some)
    assert {name: count.by_user for (name, _), count in counts.items()} == {
        "skill-2": 1,
        "skill-3": 1,
    }


def test_all_conversations_of_a_snapshot_share_one_catalog(workspace: Workspace) -> None:
    skills = workspace.open()
    first = skills.conversation().catalog()
    assert skills.conversation().catalog() is first
    assert skills.catalog() is first
    assert skills.conversation().catalog(characters=600) is not first
    workspace.skill("home/.claude/skills/new")
    skills.reload()
    assert "new" in skills.conversation().catalog().prompt
    assert "- new" not in first.prompt


def test_catalogs_are_forgotten_with_their_snapshot(workspace: Workspace) -> None:
    skills = workspace.open()
    skills.catalog()
    old = weakref.ref(skills.snapshot)
    skills.reload()
    gc.collect()
    assert old() is None


def test_an_agent_that_asks_with_ever_new_options_fills_no_memory(workspace: Workspace) -> None:
    skills = workspace.open()
    first = skills.catalog(characters=1_000)
    for characters in range(1_001, 1_101):
        skills.catalog(characters=characters)
    again = skills.catalog(characters=1_000)
    assert again is not first
    assert again == first


def test_a_ranker_is_asked_for_each_request(workspace: Workspace) -> None:
    asked = []

    class Ranker:
        def score(self, query, skills):
            asked.append(query)
            return [float(skill.name in query) for skill in skills]

    chat = workspace.open().conversation()
    for request in ("skill-1", "skill-2", "skill-2"):
        chat.catalog(request=request, ranker=Ranker(), characters=600)
    assert asked == ["skill-1", "skill-2", "skill-2"]


def test_a_deleted_skill_that_always_applies_is_a_finding_and_not_an_error(
    workspace: Workspace,
) -> None:
    path = workspace.skill("home/.claude/skills/tone", always="true")
    skills = workspace.open()
    _ = skills.snapshot
    os.unlink(path)
    catalog = skills.conversation().catalog()
    assert [(found.code, found.file) for found in catalog.diagnostics] == [
        ("always-unreadable", str(path))
    ]
    assert "skill-1" in catalog.prompt


def test_the_instructions_name_the_tool_that_is_there_and_the_list_is_sent_once(
    workspace: Workspace,
) -> None:
    for host, tool_name in (("prowess", "skill"), ("claude-code", "Skill"), ("opencode", "skill")):
        chat = workspace.open(host).conversation()
        system, tool = chat.instructions(), chat.tool(listed=False)
        assert tool.name == tool_name
        assert f"with the tool `{tool_name}`" in system
        assert ("skill-3" in system, "skill-3" in f"{tool.description}{tool.parameters}") == (
            True,
            False,
        )
        assert "Body" in tool.answer({tool.parameters["required"][0]: "skill-3"}).text


def test_without_skills_there_are_no_instructions(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert Workspace(tmp_path / "empty").open().conversation().instructions() == ""
