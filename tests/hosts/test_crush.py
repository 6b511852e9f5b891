"""Crush, as its source reads."""

from __future__ import annotations

import pytest


def test_the_last_path_wins_whatever_its_root(workspace):
    workspace.git()
    workspace.skill("project/.agents/skills/a", description="1")
    workspace.skill("project/.crush/skills/a", description="2")
    workspace.skill("home/.claude/skills/a", description="3")
    assert workspace.listed(workspace.scan("crush")) == {"a": "project/.crush/skills/a/SKILL.md"}


def test_only_the_working_folder_and_the_repositorys_are_searched(workspace):
    workspace.git()
    for folder in ("project", "project/x", "project/x/y"):
        workspace.skill(f"{folder}/.crush/skills/{folder.rpartition('/')[2]}")
    assert list(workspace.listed(workspace.scan("crush", cwd="project/x/y"))) == ["project", "y"]


def test_a_variable_replaces_the_users_folders(workspace):
    workspace.skill("home/.agents/skills/a")
    workspace.skill("named/b")
    env = {"CRUSH_SKILLS_DIR": workspace.path("named")}
    assert list(workspace.listed(workspace.scan("crush", env=env))) == ["b"]


@pytest.mark.parametrize(
    ("name", "state"), [("Tool", "ready"), ("other", "invalid"), ("to_ol", "invalid")]
)
def test_the_name_is_the_folders_apart_from_case(workspace, name, state):
    workspace.skill("home/.agents/skills/tool", name=name)
    assert workspace.ends(workspace.scan("crush")) == {"home/.agents/skills/tool/SKILL.md": state}


def test_only_a_skill_that_says_so_can_be_typed(workspace):
    workspace.skill("home/.agents/skills/a", user_invocable="true")
    workspace.skill("home/.agents/skills/b")
    skills = workspace.open("crush")
    assert [command.name for command in skills.commands().typable] == ["a"]
    message = skills.run("/a x")
    assert message.text.startswith("<loaded_skill>\n<name>a</name>\n<description>d</description>")


@pytest.mark.parametrize(
    ("field", "state"),
    [
        (f"compatibility: {'c' * 500}", "ready"),
        (f"compatibility: {'c' * 501}", "invalid"),
        (f"compatibility: {'é' * 251}", "invalid"),
        ("metadata: {a: 1, b: text}", "ready"),
        ("metadata: {a: [1]}", "invalid"),
        ("metadata: {a: {b: c}}", "invalid"),
        ("metadata: text", "invalid"),
    ],
)
def test_a_field_of_the_wrong_type_or_length_refuses_the_skill(workspace, field, state):
    file = "home/.agents/skills/a/SKILL.md"
    workspace.write(file, f"---\nname: a\ndescription: d\n{field}\n---\n")
    assert workspace.ends(workspace.scan("crush")) == {file: state}


@pytest.mark.parametrize("value", ["1.50", "0755", "True", "2024-01-01"])
def test_plain_values_are_described_as_they_are_written(workspace, value):
    workspace.skill("home/.agents/skills/a", description=value)
    [outcome] = workspace.scan("crush").shown
    assert outcome.skill.description == value
