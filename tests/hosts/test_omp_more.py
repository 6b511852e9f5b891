"""omp as its releases behave: settings of a project, files that are loaded once, and headers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.ports import Event
from tests.workspace import Workspace

HOST = "omp"
USER = "home/.omp/agent/config.yml"


def names(workspace: Workspace, **options: Any) -> set[str]:
    return set(workspace.listed(workspace.scan(HOST, **options)))


@pytest.fixture
def two(workspace: Workspace) -> Workspace:
    workspace.git()
    workspace.skill("project/.omp/skills/one")
    workspace.skill("home/.omp/agent/skills/two")
    return workspace


# Settings of the project

PROJECT_FILES = [
    "project/.omp/settings.json",
    "project/.omp/config.yml",
    "project/.claude/settings.json",
]


@pytest.mark.parametrize("file", PROJECT_FILES)
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"skills": {"ignoredSkills": ["one"]}}, {"two"}),
        ({"skills": {"includeSkills": ["one"]}}, {"one"}),
        ({"skills": {"enabled": False}}, set()),
        ({"skills": {"enablePiUser": False}}, {"one"}),
        ({"skills": {"enablePiProject": False}}, {"two"}),
        ({"disabledExtensions": ["skill:one"]}, {"two"}),
        ({"disabledProviders": ["native"]}, set()),
        ({"skills": {"customDirectories": ["more"]}}, {"one", "two", "three"}),
    ],
)
def test_the_settings_of_a_project_count(
    two: Workspace, file: str, settings: dict[str, Any], expected: set[str]
) -> None:
    two.skill("project/more/three")
    two.write(file, json.dumps(settings))
    assert names(two) == expected


@pytest.mark.parametrize("file", PROJECT_FILES)
def test_only_the_working_folder_has_such_files(two: Workspace, file: str) -> None:
    two.write(file, '{"skills": {"ignoredSkills": ["one"]}}')
    assert names(two, cwd="project/below") == {"one", "two"}


@pytest.mark.parametrize("position", range(3))
def test_the_last_file_replaces_the_lists_of_those_before_it(two: Workspace, position: int) -> None:
    weaker, stronger = [USER, *PROJECT_FILES][position : position + 2]
    two.write(weaker, '{"skills": {"ignoredSkills": ["one"]}}')
    two.write(stronger, '{"skills": {"ignoredSkills": ["two"]}}')
    assert names(two) == {"one"}


@pytest.mark.parametrize("file", ["config.yml", "config.yaml"])
def test_the_users_file_has_either_name(two: Workspace, file: str) -> None:
    two.write(f"home/.omp/agent/{file}", "skills: {ignoredSkills: [one]}\n")
    assert names(two) == {"two"}


@pytest.mark.parametrize(
    ("value", "is_on"),
    [
        ('"false"', True),
        ('"true"', True),
        ('""', False),
        ("0", False),
        ("1", True),
        ("no", True),
        ("[]", True),
        ("{}", True),
        ("false", False),
        ("true", True),
        ("~", True),
    ],
)
def test_a_toggle_is_what_javascript_makes_of_it(
    two: Workspace, value: str, *, is_on: bool
) -> None:
    two.write(USER, f"skills:\n  enablePiUser: {value}\n")
    assert ("two" in names(two)) is is_on


@pytest.mark.parametrize(
    "text", ["skills: 3\n", "a: [\n", "skills:\n  ignoredSkills: one\n", "- a\n"]
)
@pytest.mark.parametrize("file", [USER, "project/.omp/config.yml", "project/.omp/settings.json"])
def test_a_broken_file_is_reported_and_the_skills_are_there(
    two: Workspace, file: str, text: str
) -> None:
    path = two.write(file, text)
    snapshot = two.scan(HOST)
    assert set(two.listed(snapshot)) == {"one", "two"}
    assert [(one.code, one.file) for one in snapshot.diagnostics] == [
        ("settings-ignored", str(path))
    ]


def test_the_folder_of_opencode_does_not_move(workspace: Workspace) -> None:
    workspace.write(USER, "enabledProviders: [opencode]\n")
    workspace.skill("home/.config/opencode/skills/here")
    workspace.skill("xdg/opencode/skills/there")
    assert names(workspace, env={"XDG_CONFIG_HOME": workspace.path("xdg")}) == {"here"}


@pytest.mark.parametrize("variable", ["PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR"])
def test_a_relative_folder_in_a_variable_starts_at_the_working_folder(
    workspace: Workspace, variable: str
) -> None:
    workspace.skill("moved/skills/here")
    assert names(workspace, env={variable: "../moved"}) == {"here"}


# Files that are loaded once


def test_a_custom_link_to_a_loaded_file_changes_nothing(workspace: Workspace) -> None:
    workspace.write(USER, f"skills: {{customDirectories: [{workspace.path('custom')}]}}\n")
    workspace.skill("project/.omp/skills/original", name="")
    workspace.link("custom/alias", "../project/.omp/skills/original")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"original": "project/.omp/skills/original/SKILL.md"}
    assert workspace.ends(snapshot)["custom/alias/SKILL.md"] == "duplicate"


def test_a_custom_folder_that_is_a_root_already_keeps_the_roots_label(workspace: Workspace) -> None:
    workspace.write(USER, "skills: {customDirectories: [.omp/skills]}\n")
    workspace.skill("project/.omp/skills/mine")
    [shown] = workspace.scan(HOST).shown
    assert shown.candidate.root.source.label == "native:project"


def test_a_path_that_lost_its_name_does_not_keep_the_file_from_another(
    workspace: Workspace,
) -> None:
    """The file in `store` has no name: by one path it is called as a stronger skill, by the other
    not.
    """
    workspace.skill("project/.omp/skills/alpha", name="")
    workspace.skill("store/it", name="")
    workspace.link("project/.claude/skills/alpha", "../../../store/it")
    workspace.link("project/.codex/skills/beta", "../../../store/it")
    assert workspace.listed(workspace.scan(HOST)) == {
        "alpha": "project/.omp/skills/alpha/SKILL.md",
        "beta": "project/.codex/skills/beta/SKILL.md",
    }


def test_only_two_custom_skills_of_one_name_are_worth_a_warning(workspace: Workspace) -> None:
    folders = json.dumps([workspace.path("first"), workspace.path("second")])
    workspace.write(USER, f"skills: {{customDirectories: {folders}}}\n")
    for root in ("first", "second", "project/.omp/skills", "home/.omp/agent/managed-skills"):
        workspace.skill(f"{root}/same")
    events: list[Event] = []
    skills = workspace.open(HOST, on_event=events.append)
    assert workspace.listed(skills.snapshot) == {"same": "first/same/SKILL.md"}
    assert [event.file for event in events if event.kind == "duplicate"] == [
        workspace.path("second/same/SKILL.md")
    ]


# Headers


def read(workspace: Workspace, text: str, root: str = "project/.omp/skills") -> Any:
    workspace.write(f"{root}/x/SKILL.md", text)
    [outcome] = workspace.scan(HOST).outcomes
    if outcome.state is State.INVALID:
        return None
    assert outcome.skill is not None
    return outcome.name, outcome.skill.description


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("name: a\tb\ndescription: c\td", ("a  b", "c  d")),
        ('name: x\ndescription: "a\tb"', ("x", "a  b")),
        ('name: x\ndescription: "a\\tb"', ("x", "a\tb")),
        ("name: x\ndescription: |\n\ta\tb", ("x", "a  b\n")),
        ("name: x\nargument-hint: [a]: b\ndescription: d", None),
        ("name: x\ndescription: d\nargument-hint: [a]: b", ("x", "d")),
        ("name: x\ndescription: a: b", ("x", "a: b")),
        ("name: x\ndescription: >\n  text\nbad: [", ("x", ">")),
        ("name: x\ndescription: >-\n  text\nbad: [", ("x", ">-")),
        ("name: x\ndescription: |\n  text\nbad: [", ("x", "|")),
        ('name: "x"\ndescription: "d"\nbad: [', ('"x"', '"d"')),
        ("name: x\ndescription: a\tb\nbad: [", ("x", "a\tb")),
        ("name: x\ndescription: one\ndescription: two", ("x", "two")),
        ("name: 0755\ndescription: 0755", ("x", "")),
        ("name: x\n<<: {description: merged}", ("x", "merged")),
        ("name: x\ndescription: own\n<<: {description: merged}", ("x", "own")),
        ("name: x\ndescription: own\n<<: 3", ("x", "own")),
        ("name: 7\ndescription: 42", ("x", "")),
        ("name: x\ndescription: 0", None),
        ("name: x\ndescription: false", None),
        ("name: x\ndescription: true", ("x", "")),
        ("name: x\ndescription: [a]", ("x", "")),
        ("name: x\ndescription: a\u2028b", ("x", "a\u2028b")),
        ("name: x\ndescription: a\x07b", ("x", "a\x07b")),
        ('name: x\ndescription: "\\uD83D\\uDE00"', ("x", "😀")),
        ("name: x\ndescription: 2024-01-01", ("x", "2024-01-01")),
    ],
)
def test_headers(workspace: Workspace, header: str, expected: Any) -> None:
    assert read(workspace, f"---\n{header}\n---\nBody\n") == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ('"two\\nlines"', "two lines"),
        ('"a <b> `c` ~~~ d"', "a b c ~ d"),
        ('"bell \\a here"', "bell here"),
        ('"zero\\u200bwidth"', "zero width"),
        ('"~ ~~ ~~~~"', "~ ~ ~"),
        ('"<>"', ""),
        ("plain", "plain"),
    ],
)
def test_the_description_of_a_managed_skill_is_one_line_without_markup(
    workspace: Workspace, description: str, expected: str
) -> None:
    text = f"---\nname: x\ndescription: {description}\n---\n"
    assert read(workspace, text, "home/.omp/agent/managed-skills") == ("x", expected)


# Releases

LONG = "A first sentence that is longer than forty characters. " + "word " * 40


def test_only_the_newer_release_shortens_descriptions(workspace: Workspace) -> None:
    workspace.skill("project/.omp/skills/x", description=LONG.strip())
    shown = {
        edition: workspace.open(f"omp@{edition}").catalog(context_tokens=200_000).lines[0].text
        for edition in ("current", "18.3.4", "18.2.3")
    }
    assert shown["18.2.3"] == LONG.strip()
    assert shown["current"] == shown["18.3.4"] == LONG.partition(" word")[0]
