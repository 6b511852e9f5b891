"""Qwen Code, beyond its recorded answers."""

from __future__ import annotations

import pytest

FOLDER = "project/.qwen/skills/a"


@pytest.mark.parametrize(
    ("field", "state"),
    [
        ('paths: ["src/**"]', "dormant"),
        ("paths: src/**", "invalid"),
        ('paths: ["/src"]', "invalid"),
        ('paths: ["../x"]', "invalid"),
        ("paths:", "ready"),
        ("allowedTools: x", "invalid"),
        ("disable-model-invocation: yes", "ready"),
        ('disable-model-invocation: "true"', "hidden"),
    ],
)
def test_a_field_of_the_wrong_type_refuses_the_skill(workspace, field, state):
    workspace.write(f"{FOLDER}/SKILL.md", f"---\nname: a\ndescription: d\n{field}\n---\n")
    assert workspace.ends(workspace.scan("qwen")) == {f"{FOLDER}/SKILL.md": state}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("[a, b]", "a,b"),
        ("[a, null, 1.0, true]", "a,,1,true"),
        ("[[a, b], c]", "a,b,c"),
        ("[{a: b}, c]", "[object Object],c"),
    ],
)
def test_a_list_is_described_as_javascript_makes_text_of_it(workspace, value, text):
    workspace.write(f"{FOLDER}/SKILL.md", f"---\nname: a\ndescription: {value}\n---\n")
    (outcome,) = workspace.scan("qwen").outcomes
    assert outcome.skill.description == text


def test_the_folder_of_an_update_is_passed_over(workspace):
    workspace.skill("project/.qwen/skills/db.backup-2024")
    workspace.skill("project/.qwen/skills/x.backup-12-345", name="x")
    workspace.skill("project/.qwen/skills/y.installing-1-2", name="y")
    assert list(workspace.listed(workspace.scan("qwen"))) == ["db.backup-2024"]


def test_at_home_skills_are_the_users(workspace):
    workspace.skill("home/.qwen/skills/a")
    (outcome,) = workspace.scan("qwen", cwd="home").shown
    assert outcome.skill.source.level == "user"


def test_levels_names_and_folders_are_set_in_both_files(workspace):
    workspace.write("home/.qwen/settings.json", '{"skills": {"disabled": ["A"]}}')
    workspace.write(
        "project/.qwen/settings.json", '{"skills": {"disabled": ["b"], "directories": ["more"]}}'
    )
    for folder in ("project/.qwen/skills/a", "project/.qwen/skills/b", "project/more/c"):
        workspace.skill(folder)
    assert list(workspace.listed(workspace.scan("qwen"))) == ["c"]


def test_what_is_disabled_by_default_can_be_enabled_but_not_what_is_disabled(workspace):
    workspace.write(
        "home/.qwen/settings.json",
        '{"skills": {"defaultDisabled": ["A", "b", "c"], "disabled": ["c"]}}',
    )
    workspace.write("project/.qwen/settings.json", '{"skills": {"enabled": ["a", "C"]}}')
    for name in ("a", "b", "c", "d"):
        workspace.skill(f"project/.qwen/skills/{name}")
    assert list(workspace.listed(workspace.scan("qwen"))) == ["a", "d"]


@pytest.mark.parametrize(
    ("header", "description"),
    [
        ("description: a: b\nname: a\nmetadata:\n  x: y", "a: b"),
        ('name: a\ndescription: "x" y\nallowed-tools:\n  - one\n  - two', '"x" y'),
        ("name: a\n# c\nargument-hint: [a] [b]\ndescription: 'q'", "'q'"),
        ("name: a\nargument-hint: [a] [b]\ndescription: 0x1F", "31"),
    ],
)
def test_a_broken_header_is_read_in_a_small_part_of_yaml(workspace, header, description):
    workspace.write(f"{FOLDER}/SKILL.md", f"---\n{header}\n---\n")
    (outcome,) = workspace.scan("qwen").shown
    assert (outcome.name, outcome.skill.description) == ("a", description)


def test_over_the_budget_only_first_lines_are_shown(workspace):
    for number in range(40):
        folder = f"project/.qwen/skills/s{number:02}"
        text = f"---\nname: s{number:02}\ndescription: |\n  First.\n  {'x' * 200}\n---\n"
        workspace.write(f"{folder}/SKILL.md", text)
    catalog = workspace.open("qwen").catalog()
    assert {line.text for line in catalog.lines} == {"First."}
    assert "<description>\nFirst. (project)\n</description>" in catalog.text


def test_a_typed_command_ends_with_the_line(workspace):
    workspace.skill(FOLDER)
    message = workspace.open("qwen").run("/a now")
    assert message.parts == (
        f"Base folder of this skill: {workspace.path(FOLDER)}\n\nBody",
        "/a now",
    )


@pytest.mark.parametrize(
    ("host", "folder", "states"),
    [
        ("qwen", ".qwen", ["ready", "invalid"]),
        ("gemini", ".gemini", ["ready", "invalid"]),
        ("pi", ".pi", ["invalid", "invalid"]),
    ],
)
def test_two_fences_in_a_row_open_and_close_nothing(workspace, host, folder, states):
    workspace.write(
        f"home/{folder}/{'agent/' * (host == 'pi')}skills/a/SKILL.md",
        "---\n---\nname: a\ndescription: d\n---\n",
    )
    workspace.write(f"home/{folder}/{'agent/' * (host == 'pi')}skills/b/SKILL.md", "---\n---\nB\n")
    assert list(workspace.ends(workspace.scan(host)).values()) == states
