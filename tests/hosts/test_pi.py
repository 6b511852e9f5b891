"""pi, beyond its recorded answers."""

from __future__ import annotations

import json

import pytest


def test_filters_reach_only_their_own_level(workspace):
    for folder in ("home/.pi/agent/skills/x", "home/.agents/skills/y", "project/.pi/skills/x"):
        workspace.skill(folder, name=folder.replace("/", "-"))
    workspace.write("home/.pi/agent/settings.json", '{"skills": ["!x", "-skills/y"]}')
    assert workspace.ends(workspace.scan("pi")) == {
        "home/.pi/agent/skills/x/SKILL.md": "disabled",
        "home/.agents/skills/y/SKILL.md": "disabled",
        "project/.pi/skills/x/SKILL.md": "ready",
    }


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        (["!**/x"], "disabled"),
        (["!skills/x"], "disabled"),
        (["!skills/*/SKILL.md"], "disabled"),
        (["-skills/x/SKILL.md"], "disabled"),
        (["-./skills/x"], "disabled"),
        (["-x"], "ready"),
        (["!x", "+skills/x"], "ready"),
        (["!x", "+skills/x", "-skills/x"], "disabled"),
        (["y*"], "ready"),
    ],
)
def test_an_entry_leaves_out_or_keeps(workspace, entries, state):
    workspace.skill("home/.pi/agent/skills/x")
    workspace.write("home/.pi/agent/settings.json", json.dumps({"skills": entries}))
    assert workspace.ends(workspace.scan("pi")) == {"home/.pi/agent/skills/x/SKILL.md": state}


def test_a_path_in_the_settings_may_be_a_file_and_a_projects_comes_first(workspace):
    workspace.skill("project/.pi/more/a", name="one", description="project")
    workspace.write("home/one.md", "---\nname: one\ndescription: user\n---\n")
    workspace.write("home/two.md", "---\ndescription: user\n---\n")
    workspace.write("project/.pi/settings.json", '{"skills": ["more"]}')
    workspace.write("home/.pi/agent/settings.json", '{"skills": ["~/one.md", "~/two.md"]}')
    assert workspace.listed(workspace.scan("pi")) == {
        "one": "project/.pi/more/a/SKILL.md",
        "home": "home/two.md",
    }


def test_the_agents_folder_can_be_moved(workspace):
    workspace.skill("moved/skills/a")
    env = {"PI_CODING_AGENT_DIR": workspace.path("moved")}
    assert workspace.listed(workspace.scan("pi", env=env)) == {"a": "moved/skills/a/SKILL.md"}


@pytest.mark.parametrize(
    ("name", "listed"), [('""', "a"), ("null", "a"), ("false", "a"), ('" b "', " b ")]
)
def test_a_name_that_is_empty_is_the_folders(workspace, name, listed):
    workspace.skill("home/.agents/skills/a", name=name)
    assert list(workspace.listed(workspace.scan("pi"))) == [listed]


def test_a_typed_skill_is_a_tag_and_the_arguments(workspace):
    workspace.skill("home/.agents/skills/a", disable_model_invocation="true", body="Do </skill>.\n")
    message = workspace.open("pi").run("/skill:a now")
    file, folder = (workspace.path(f"home/.agents/skills/a{end}") for end in ("/SKILL.md", ""))
    assert message.text == (
        f'<skill name="a" location="{file}">\nReferences are relative to {folder}.\n\n'
        "Do &lt;/skill>.\n</skill>\n\nnow"
    )
