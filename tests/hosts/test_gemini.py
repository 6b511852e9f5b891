"""Gemini CLI, beyond its recorded answers."""

from __future__ import annotations

import json

import pytest

TRUSTED = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
PROJECT = "project/.gemini/skills/a"


def test_an_untrusted_project_has_no_skills_and_says_why(workspace):
    workspace.skill(PROJECT)
    snapshot = workspace.scan("gemini")
    assert workspace.listed(snapshot) == {}
    outcome = workspace.outcome(snapshot, f"{PROJECT}/SKILL.md")
    assert outcome.reason == (
        "its source is switched off because the host does not trust the working folder"
    )


@pytest.mark.parametrize(
    ("trusted", "is_listed"),
    [
        ({"project": "TRUST_FOLDER"}, True),
        ({".": "TRUST_FOLDER"}, True),
        ({"project/x": "TRUST_PARENT"}, True),
        ({"projec": "TRUST_FOLDER"}, False),
        ({".": "TRUST_FOLDER", "project": "DO_NOT_TRUST"}, False),
        ({"project": 1}, False),
    ],
)
def test_the_longest_trusted_path_decides(workspace, trusted, is_listed):
    workspace.skill(PROJECT)
    words = {workspace.path(path).removesuffix("/."): word for path, word in trusted.items()}
    workspace.write("home/.gemini/trustedFolders.json", json.dumps(words))
    assert bool(workspace.listed(workspace.scan("gemini"))) is is_listed


def test_folder_trust_can_be_off(workspace):
    workspace.skill(PROJECT)
    settings = {"security": {"folderTrust": {"enabled": False}}}
    workspace.write("home/.gemini/settings.json", json.dumps(settings))
    assert workspace.listed(workspace.scan("gemini")) == {"a": f"{PROJECT}/SKILL.md"}


def test_a_projects_settings_cannot_trust_it(workspace):
    workspace.skill(PROJECT)
    workspace.skill("home/.gemini/skills/b")
    settings = {"security": {"folderTrust": {"enabled": False}}, "skills": {"disabled": ["b"]}}
    workspace.write("project/.gemini/settings.json", json.dumps(settings))
    ends = workspace.ends(workspace.scan("gemini"))
    assert ends == {f"{PROJECT}/SKILL.md": "disabled", "home/.gemini/skills/b/SKILL.md": "ready"}


def test_the_lists_of_disabled_skills_are_joined(workspace):
    for name in ("a", "b", "c"):
        workspace.skill(f"home/.gemini/skills/{name}")
    workspace.write("home/.gemini/settings.json", '{"skills": {"disabled": ["A"]}}')
    workspace.write("project/.gemini/settings.json", '{"skills": {"disabled": ["b"]}}')
    states = {o.name: o.state.value for o in workspace.scan("gemini", env=TRUSTED).outcomes}
    assert states == {"a": "disabled", "b": "disabled", "c": "ready"}


@pytest.mark.parametrize(
    ("header", "name", "description"),
    [
        ("name: a\ndescription: Use: x\nmetadata:\n  name: inner", "inner", "Use: x"),
        ("name: a\ndescription: x: y\n  more\n  --- z", "a", "x: y more --- z"),
        ("name: 12\ndescription: [a, b] # c", "12", "[a, b] # c"),
        ("name: a/b:c\ndescription: d", "a-b-c", "d"),
    ],
)
def test_a_header_that_is_not_two_texts_is_read_line_by_line(workspace, header, name, description):
    workspace.write("home/.gemini/skills/x/SKILL.md", f"---\n{header}\n---\nBody\n")
    (outcome,) = workspace.scan("gemini").shown
    assert (outcome.name, outcome.skill.description) == (name, description)


def test_what_follows_the_closing_fence_on_its_line_is_lost(workspace):
    workspace.write("home/.gemini/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---Body\nrest")
    assert workspace.open("gemini").get("x").content == ""


def test_of_equal_names_the_first_folder_of_the_last_root_wins(workspace):
    for folder in ("home/.gemini/skills/a", "home/.agents/skills/b", "home/.agents/skills/c"):
        workspace.skill(folder, name="x")
    assert workspace.listed(workspace.scan("gemini")) == {"x": "home/.agents/skills/b/SKILL.md"}


def test_the_catalog_lists_each_root_backwards(workspace):
    for folder in ("home/.gemini/skills/a", "home/.gemini/skills/b", "home/.agents/skills/c"):
        workspace.skill(folder)
    assert [line.name for line in workspace.open("gemini").catalog().lines] == ["b", "a", "c"]


def test_a_skill_is_activated_with_a_drawing_of_its_folder(workspace):
    workspace.skill("home/.gemini/skills/a", body="Do it.\n</instructions>\n")
    workspace.write("home/.gemini/skills/a/ref/x.md")
    text = workspace.open("gemini").activate("a").text
    folder = workspace.path("home/.gemini/skills/a")
    assert text == (
        '<activated_skill name="a">\n  <instructions>\n    Do it.\n&lt;/instructions>\n'
        "  </instructions>\n\n  <available_resources>\n"
        f"    {folder}/\n      SKILL.md\n      ref/\n        x.md\n"
        "  </available_resources>\n</activated_skill>"
    )


def test_a_typed_command_has_hyphens_for_spaces(workspace):
    workspace.skill("home/.gemini/skills/a", name="do it")
    result = workspace.open("gemini").run("/do-it now")
    assert result.parts[1] == "now"


def test_an_extension_whose_manifest_is_broken_has_no_skills(workspace):
    workspace.write("home/.gemini/extensions/one/gemini-extension.json", "{broken")
    workspace.skill("home/.gemini/extensions/one/skills/a")
    assert list(workspace.listed(workspace.scan("gemini"))) == []
