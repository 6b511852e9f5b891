"""GitHub Copilot CLI, beyond its recorded answers."""

from __future__ import annotations

import json

import pytest

FOLDER = "project/.github/skills/a"


@pytest.mark.parametrize(
    ("field", "state"),
    [
        ("argument-hint: [file]", "invalid"),
        ("argument-hint: file", "ready"),
        ("disable-model-invocation: true", "hidden"),
        ('disable-model-invocation: "true"', "invalid"),
        ("disable-model-invocation: yes", "invalid"),
        ("allowed-tools: {a: b}", "invalid"),
        ("allowed-tools: [a]", "ready"),
        ("metadata: text", "ready"),
        ("license: [x]", "ready"),
        ("x: 1\nx: 2", "invalid"),
    ],
)
def test_a_field_of_the_wrong_type_refuses_the_skill(workspace, field, state):
    workspace.write(f"{FOLDER}/SKILL.md", f"---\nname: a\ndescription: d\n{field}\n---\n")
    assert workspace.ends(workspace.scan("copilot")) == {f"{FOLDER}/SKILL.md": state}


def test_a_missing_description_comes_from_the_paragraphs_of_the_body(workspace):
    body = "# Title\n\nFirst\nline.\n\n## Part\n" + "word " * 300
    workspace.write(f"{FOLDER}/SKILL.md", f"---\nname: a\n---\n{body}")
    (outcome,) = workspace.scan("copilot").shown
    assert outcome.skill.description == f"First line. {'word ' * 300}"[:1024]


@pytest.mark.parametrize(("text", "state"), [("😀" * 512, "ready"), ("😀" * 513, "invalid")])
def test_a_description_has_at_most_1024_units(workspace, text, state):
    workspace.skill(FOLDER, description=text)
    assert workspace.ends(workspace.scan("copilot")) == {f"{FOLDER}/SKILL.md": state}


def test_custom_folders_come_last_and_a_tilde_is_no_home(workspace):
    workspace.skill("more/g/a", description="custom")
    workspace.skill("home/more/b")
    workspace.skill("home/.copilot/skills/a")
    settings = {"skillDirectories": [workspace.path("more"), "~/more"]}
    workspace.write("home/.copilot/settings.json", json.dumps(settings))
    snapshot = workspace.scan("copilot")
    assert workspace.listed(snapshot) == {"a": "home/.copilot/skills/a/SKILL.md"}
    assert workspace.ends(snapshot)["more/g/a/SKILL.md"] == "shadowed"


def test_without_a_repository_the_walk_goes_to_the_top(workspace):
    workspace.skill(".agents/skills/above")
    assert workspace.listed(workspace.scan("copilot", cwd="project/sub")) == {
        "above": ".agents/skills/above/SKILL.md"
    }


def test_a_link_to_a_folder_counts_more_than_the_folder_also_in_a_linked_root(workspace):
    workspace.skill("real/orig")
    workspace.link("real/alias", "orig")
    workspace.link("home/.agents/skills", "../../real")
    assert workspace.listed(workspace.scan("copilot")) == {
        "orig": "home/.agents/skills/alias/SKILL.md"
    }


def test_after_15000_characters_skills_are_listed_by_name_and_after_5000_more_not_at_all(workspace):
    for number in range(1000):
        workspace.skill(f"home/.copilot/skills/s{number:04}", description="x" * 300)
    catalog = workspace.open("copilot").catalog()
    shown = [line.shown.value for line in catalog.lines]
    counts = [shown.count(word) for word in ("whole", "name-only", "left-out")]
    assert sum(counts) == 1000
    assert 30 < counts[0] < 45
    assert 700 < counts[1] < 720
    assert catalog.text.endswith(f"s{sum(counts[:2]) - 1:04} ... and {counts[2]} more")
    assert "invoke by name): s0" in catalog.text


@pytest.mark.parametrize("body", ["Body", "Body\n", "Body\n\n\n", "\nBody\r\n\r\n", ""])
def test_a_body_keeps_its_final_line_ends(workspace, body):
    workspace.write(f"{FOLDER}/SKILL.md", f"---\ndescription: d\n---\n{body}")
    [_, _, shown] = workspace.open("copilot").tool()(skill="a").text.split("\n", 2)
    end = "" if body.endswith("\n") else "\n"
    assert shown == f"\n{body}{end}</skill-context>"


def test_the_model_may_spell_a_name_in_any_case(workspace):
    workspace.skill(FOLDER)
    workspace.write(f"{FOLDER}/ref/x.md")
    activation = workspace.open("copilot").tool()(skill="A")
    folder = workspace.path(FOLDER)
    assert activation.text == (
        f'<skill-context name="a">\nBase folder of this skill: {folder}\n'
        f"Related files (read them with the view tool):\n- {folder}/ref/x.md\n\n"
        "Body\n</skill-context>"
    )


@pytest.mark.parametrize(
    ("value", "listed"), [("0755", []), ('"0755"', ["0755"]), ("a\x07b", ["a\x07b"])]
)
def test_values_are_those_of_the_parser_for_javascript(workspace, value, listed):
    workspace.write(
        "project/.github/skills/a/SKILL.md", f"---\nname: a\ndescription: {value}\n---\n"
    )
    shown = workspace.scan("copilot").shown
    assert [outcome.skill.description for outcome in shown] == listed
