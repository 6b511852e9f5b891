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


def test_patterns_of_an_inner_ignore_file_reach_only_its_own_folder(workspace):
    workspace.write("project/.pi/skills/g/.gitignore", "x\n*.txt\n")
    for folder in ("g/x", "g/y/x", "x"):
        workspace.skill(f"project/.pi/skills/{folder}", name=folder.replace("/", "-"))
    assert list(workspace.listed(workspace.scan("pi"))) == ["g-y-x", "x"]


def test_a_slash_ties_no_pattern_to_the_root(workspace):
    workspace.write("project/.pi/skills/.ignore", "/x\n")
    for folder in ("x", "g/x", "y"):
        workspace.skill(f"project/.pi/skills/{folder}", name=folder.replace("/", "-"))
    assert list(workspace.listed(workspace.scan("pi"))) == ["y"]


def test_ignore_files_ignore_case(workspace):
    workspace.write("home/.agents/skills/.fdignore", "OLD*\n")
    workspace.skill("home/.agents/skills/older")
    workspace.skill("home/.agents/skills/Oldest")
    assert list(workspace.listed(workspace.scan("pi"))) == []


@pytest.mark.parametrize("root", ["home/.pi/agent/skills", "home/.agents/skills/g"])
def test_a_folder_whose_own_file_is_ignored_is_searched_further(workspace, root):
    workspace.write(f"{root}/.gitignore", "skill.md\n")
    workspace.skill(root, name="hidden")
    workspace.skill(f"{root}/inner.md", name="folder")
    outcomes = workspace.ends(workspace.scan("pi"))
    # In the file of a root the pattern reaches the folders below, in one further down it does not.
    inner = "skipped" if root.endswith("skills") else "ready"
    assert outcomes == {f"{root}/SKILL.md": "skipped", f"{root}/inner.md/SKILL.md": inner}


def test_what_an_outer_file_ignores_is_ignored_behind_a_link(workspace):
    workspace.write("home/.agents/skills/.gitignore", "SKILL.md\n")
    workspace.skill("elsewhere/a")
    workspace.link("home/.agents/skills/a", "../../../elsewhere/a")
    assert list(workspace.listed(workspace.scan("pi"))) == []


@pytest.mark.parametrize("text", ['{"skills": ["~/more"],}', '{"skills": ["~/more"] // one\n}'])
def test_settings_that_are_not_plain_json_count_for_nothing(workspace, text):
    workspace.write("home/.pi/agent/settings.json", text)
    workspace.skill("home/more/a")
    assert list(workspace.listed(workspace.scan("pi"))) == []


@pytest.mark.parametrize("host", ["pi", "qwen", "copilot"])
@pytest.mark.parametrize(
    ("field", "is_read"),
    [
        ("hint: [x]: y", True),
        ("hint: {x: z}:", True),
        ("metadata:\n{\n  a: b\n}", True),
        ("hint: [x]: y\nother: [x]: y", False),
        ("hint: [x] y", False),
        ('hint: "x": y', False),
    ],
)
def test_brackets_are_read_as_the_parser_for_javascript_reads_them(workspace, host, field, is_read):
    # Qwen Code reads what that parser rejects itself, and takes the mark of folded text for text.
    text = f"---\nname: a\n{field}\ndescription: >\n  d\n---\n"
    workspace.write("home/.agents/skills/a/SKILL.md", text)
    descriptions = [outcome.skill.description.strip() for outcome in workspace.scan(host).shown]
    otherwise = [">"] if host == "qwen" else []
    assert descriptions == (["d"] if is_read else otherwise)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "description"),
    [
        (["description: |+", "  d"], "d\n"),
        (["description: |+", "  d", "", ""], "d\n\n"),
        (["description: >+", "  d", ""], "d\n"),
        (["description: |", "  d", "", ""], "d\n"),
        (["description: |+", "  d", "", "", "license: x"], "d\n\n\n"),
    ],
)
def test_the_line_end_before_the_closing_fence_is_no_part_of_a_text(
    workspace, lines, description, end
):
    text = end.join(["---", "name: a", *lines, "---", "Body"])
    workspace.write("home/.agents/skills/a/SKILL.md", text.encode())
    for host in ("pi", "qwen", "gemini"):
        [outcome] = workspace.scan(host).shown
        assert outcome.skill.description == description


def test_files_and_folders_of_a_root_are_read_in_one_order(workspace):
    root = "project/.pi/skills"
    for folder, name in (("a", "one"), ("b", "two"), ("d/e", "three")):
        workspace.skill(f"{root}/{folder}", name=name)
    for file, name in (("z.md", "one"), ("b.md", "two"), ("c.md", "three")):
        workspace.write(f"{root}/{file}", f"---\nname: {name}\ndescription: d\n---\n")
    assert workspace.listed(workspace.scan("pi")) == {
        "one": f"{root}/a/SKILL.md",
        "two": f"{root}/b/SKILL.md",
        "three": f"{root}/c.md",
    }
