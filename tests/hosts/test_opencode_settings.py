"""opencode's settings from every place that the release reads, and headers that it drops."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.runtime import Skills
from tests.workspace import Workspace

HOST = "opencode"


def paths(*folders: str) -> str:
    return json.dumps({"skills": {"paths": list(folders)}})


def names(workspace: Workspace, **env: str) -> set[str]:
    return set(workspace.listed(workspace.scan(HOST, env=env)))


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """A repository with a folder of skills for every source, each with a skill of its name."""
    workspace.git()
    for name in ("one", "two"):
        workspace.skill(f"project/{name}/{name}")
    return workspace


# Where settings come from


@pytest.mark.parametrize(
    ("file", "env"),
    [
        ("home/.config/opencode/config.json", {}),
        ("home/.config/opencode/opencode.json", {}),
        ("home/.config/opencode/opencode.jsonc", {}),
        ("home/.opencode/opencode.json", {}),
        ("home/.opencode/opencode.jsonc", {}),
        ("elsewhere/mine.json", {"OPENCODE_CONFIG": "../elsewhere/mine.json"}),
        ("elsewhere/opencode.json", {"OPENCODE_CONFIG_DIR": "../elsewhere"}),
        ("elsewhere/opencode.jsonc", {"OPENCODE_CONFIG_DIR": "../elsewhere"}),
        ("project/opencode.json", {}),
        ("project/opencode.jsonc", {}),
        ("project/.opencode/opencode.json", {}),
        ("project/.opencode/opencode.jsonc", {}),
    ],
)
def test_every_file_of_the_host_is_read(project: Workspace, file: str, env: dict[str, str]) -> None:
    project.write(file, paths("one"))
    assert names(project, **env) == {"one"}
    # The switch drops what comes with the project and nothing else.
    expected = set() if file.startswith("project/") else {"one"}
    assert names(project, **env, OPENCODE_DISABLE_PROJECT_CONFIG="1") == expected


STRONGER_LAST = [
    ("home/.config/opencode/config.json", {}),
    ("home/.config/opencode/opencode.json", {}),
    ("home/.config/opencode/opencode.jsonc", {}),
    ("elsewhere/mine.json", {"OPENCODE_CONFIG": "../elsewhere/mine.json"}),
    ("project/opencode.json", {}),
    ("project/opencode.jsonc", {}),
    ("project/.opencode/opencode.json", {}),
    ("project/.opencode/opencode.jsonc", {}),
    ("home/.opencode/opencode.json", {}),
    ("elsewhere/opencode.json", {"OPENCODE_CONFIG_DIR": "../elsewhere"}),
    ("$", {"OPENCODE_CONFIG_CONTENT": paths("two")}),
]


@pytest.mark.parametrize("position", range(len(STRONGER_LAST) - 1))
def test_of_two_files_the_stronger_one_replaces_the_list_of_the_other(
    project: Workspace, position: int
) -> None:
    (weaker, first), (stronger, second) = STRONGER_LAST[position : position + 2]
    project.write(weaker, paths("one"))
    if stronger != "$":
        project.write(stronger, paths("two"))
    assert names(project, **first, **second) == {"two"}


def test_of_the_projects_files_the_nearest_wins_and_of_its_folders_the_farthest(
    workspace: Workspace,
) -> None:
    workspace.git()
    for name in ("near", "far"):
        workspace.skill(f"project/a/{name}/{name}")
    workspace.write("project/opencode.json", paths("far"))
    workspace.write("project/a/opencode.json", paths("near"))
    seen = workspace.listed(workspace.scan(HOST, cwd="project/a"))
    assert set(seen) == {"near"}
    workspace.write("project/.opencode/opencode.json", paths("far"))
    workspace.write("project/a/.opencode/opencode.json", paths("near"))
    assert set(workspace.listed(workspace.scan(HOST, cwd="project/a"))) == {"far"}


@pytest.mark.parametrize("text", ["{", "[]", '{"skills": {"paths": "one"}}', '{"skills": 3}', "x"])
@pytest.mark.parametrize("file", ["project/opencode.json", "home/.opencode/opencode.json"])
def test_a_broken_file_is_reported_and_the_others_count(
    project: Workspace, file: str, text: str
) -> None:
    path = project.write(file, text)
    project.write("home/.config/opencode/opencode.json", paths("one"))
    snapshot = project.scan(HOST)
    assert set(project.listed(snapshot)) == {"one"}
    assert [(one.code, one.file) for one in snapshot.diagnostics] == [
        ("settings-ignored", str(path))
    ]


def test_a_variable_that_is_not_json_is_reported(project: Workspace) -> None:
    snapshot = project.scan(HOST, env={"OPENCODE_CONFIG_CONTENT": "{"})
    [finding] = snapshot.diagnostics
    assert (finding.code, finding.file) == ("settings-ignored", "$OPENCODE_CONFIG_CONTENT")


# `{file:…}`


@pytest.mark.parametrize("reference", ["./where.txt", "where.txt", "sub/../where.txt"])
def test_a_file_stands_for_its_text_without_blanks_around_it(
    project: Workspace, reference: str
) -> None:
    project.write("project/where.txt", "\n one \n")
    project.write("project/opencode.json", paths(f"{{file:{reference}}}"))
    assert names(project) == {"one"}


def test_a_file_of_the_user_may_be_anywhere(project: Workspace) -> None:
    project.write("home/where.txt", "one")
    project.write("home/.config/opencode/opencode.json", paths("{file:~/where.txt}"))
    assert names(project) == {"one"}


@pytest.mark.parametrize("reference", ["../secret.txt", "/etc/passwd", "~/secret.txt", "linked"])
def test_a_project_cannot_have_a_file_read_that_is_not_its_own(
    project: Workspace, reference: str
) -> None:
    project.write("secret.txt", "one")
    project.write("home/secret.txt", "one")
    project.link("project/linked", "../secret.txt")
    project.write("project/opencode.json", paths(f"{{file:{reference}}}"))
    snapshot = project.scan(HOST)
    assert not project.listed(snapshot)
    [finding] = snapshot.diagnostics
    assert finding.message.endswith("is outside the project.")


def test_a_reference_in_a_comment_is_none_and_a_missing_file_spoils_the_settings(
    project: Workspace,
) -> None:
    text = '{ // see {file:gone}\n"skills": {"paths": ["one"]}}'
    project.write("project/opencode.json", text.replace("{ //", "{\n//"))
    assert names(project) == {"one"}
    project.write("project/opencode.json", paths("one", "{file:gone}"))
    assert [one.code for one in project.scan(HOST).diagnostics] == ["settings-ignored"]


def test_what_a_file_holds_cannot_end_the_text_around_it(project: Workspace) -> None:
    project.write("project/where.txt", '"], "tools": {"skill": false}, "x": ["')
    project.write("project/opencode.json", paths("{file:where.txt}", "one"))
    assert names(project) == {"one"}


# Files of agents


def offered(workspace: Workspace, agent: str, **env: str) -> list[str] | None:
    skills = Skills(
        workspace.project, host=HOST, agent=agent, facts=workspace.facts(env=env), cache=False
    )
    catalog = skills.catalog(context_tokens=200_000)
    return [line.name for line in catalog.lines] if catalog.text else None


@pytest.fixture
def two(workspace: Workspace) -> Workspace:
    workspace.git()
    workspace.skill("project/.opencode/skills/alpha")
    workspace.skill("project/.opencode/skills/beta")
    return workspace


DENY_ALPHA = "---\npermission:\n  skill:\n    alpha: deny\n---\nYou are.\n"


@pytest.mark.parametrize(
    ("file", "agent"),
    [
        ("project/.opencode/agent/mine.md", "mine"),
        ("project/.opencode/agents/mine.md", "mine"),
        ("project/.opencode/agents/team/deep/mine.md", "team/deep/mine"),
        ("project/.opencode/mode/mine.md", "mine"),
        ("project/.opencode/modes/mine.md", "mine"),
        ("home/.config/opencode/agent/mine.md", "mine"),
        ("home/.config/opencode/agents/mine.md", "mine"),
        ("home/.opencode/agents/mine.md", "mine"),
        ("elsewhere/agents/mine.md", "mine"),
    ],
)
def test_the_file_of_an_agent_says_what_it_may_use(two: Workspace, file: str, agent: str) -> None:
    two.write(file, DENY_ALPHA)
    env = {"OPENCODE_CONFIG_DIR": two.path("elsewhere")}
    assert offered(two, agent, **env) == ["beta"]
    assert offered(two, "another", **env) == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("permission: {skill: deny}", None),
        ("permission:\n  skill:\n    '*': deny\n    beta: allow", ["beta"]),
        ("permission:\n  skill:\n    beta: allow\n    '*': deny", None),
        ("permission: deny", None),
        ("tools: {skill: false}", None),
        ("tools: {skill: true}", ["alpha", "beta"]),
        ("tools: {'*': false}\npermission: {skill: {alpha: allow}}", ["alpha"]),
        ("description: Use when: asked\npermission:\n  skill:\n    alpha: deny", ["beta"]),
        ("name: other\npermission: {skill: deny}", ["alpha", "beta"]),
        ("mode: primary", ["alpha", "beta"]),
    ],
)
def test_headers_of_agents(two: Workspace, header: str, expected: list[str] | None) -> None:
    two.write("project/.opencode/agent/mine.md", f"---\n{header}\n---\nYou are.\n")
    assert offered(two, "mine") == expected


def test_a_file_of_an_agent_is_stronger_than_the_settings_and_the_switch_drops_it(
    two: Workspace,
) -> None:
    two.write(
        "project/opencode.json",
        '{"agent": {"mine": {"permission": {"skill": {"alpha": "allow", "beta": "deny"}}}}}',
    )
    two.write("project/.opencode/agent/mine.md", DENY_ALPHA)
    assert offered(two, "mine") == []
    two.skill("project/.claude/skills/gamma")
    off = {"OPENCODE_DISABLE_PROJECT_CONFIG": "true"}
    assert offered(two, "mine", **off) == ["gamma"]


def test_a_broken_file_of_an_agent_is_reported(two: Workspace) -> None:
    path = two.write("project/.opencode/agent/mine.md", "---\n a: [\n---\n")
    snapshot = two.scan(HOST)
    assert [(one.code, one.file) for one in snapshot.diagnostics] == [
        ("settings-ignored", str(path))
    ]
    assert offered(two, "mine") == ["alpha", "beta"]


def test_links_among_the_files_of_agents_cannot_keep_a_scan_busy(two: Workspace) -> None:
    two.write("project/.opencode/agent/mine.md", DENY_ALPHA)
    two.link("project/.opencode/agent/loop", ".")
    two.link("project/.opencode/agents", "/")
    two.link("project/.opencode/mode", "nowhere")
    assert offered(two, "mine") == ["beta"]


# Headers as js-yaml reads them


def read(workspace: Workspace, text: str) -> tuple[str, str | None] | None:
    """The name and the description of the only skill; None if the host drops it."""
    workspace.write("project/.opencode/skills/x/SKILL.md", text)
    [outcome] = workspace.scan(HOST).outcomes
    if outcome.state is State.INVALID:
        return None
    assert outcome.skill is not None
    return outcome.name, outcome.skill.description


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("name: x\ndescription: !Ref y", None),
        ("name: x\ndescription: !Ref y: z", ("x", "!Ref y: z")),
        ("name: x\ndescription: !!binary aGk=", None),
        ("name: x\ndescription: !!timestamp 2020-01-01", None),
        ("name: x\ndescription: !!js/regexp /a/", None),
        ("name: x\ndescription: d\nother: !foo y", None),
        ("name: x\ndescription: !!str 3", ("x", "3")),
        ("name: x\ndescription: ! y", ("x", "y")),
        ("name: x\ndescription: !!int '3'", None),
        ("name: x\ndescription: d\nother: !!binary aGk=", ("x", "d")),
        ("name: x\ndescription: d\n<<: 3", None),
        ("name: x\ndescription: d\n<<: text", None),
        ("name: x\ndescription: d\nmetadata:\n  <<: 3", None),
        ("name: x\n<<: {description: merged}", ("x", "merged")),
        ("name: x\ndescription: own\n<<: {description: merged}", ("x", "own")),
        ("base: &b {description: merged}\nname: x\n<<: *b", ("x", "merged")),
        ("name: x\ndescription: ? a: b", None),
        ("name: x\ndescription: ? a", None),
        ("name: ? a: b\ndescription: d", None),
        ("name: x\ndescription: d\nother: ? a: b", ("x", "d")),
        ("name: x\ndescription: [Doc] Create: y", None),
        ("name: x\ndescription: {a} b: y", None),
        ('name: x\ndescription: "quoted" then: y', ("x", "quoted")),
        ("name: x\ndescription: 'quoted' then: y", ("x", "quoted")),
        ('name: x\ndescription: "quoted" then more', None),
        ('name: x\ndescription: "quoted": then', None),
        ("name: x\ndescription: [Doc] Create y", None),
        ("name: x\nhint: [a]: b\ndescription: d", ("x", "d")),
        ("name: x\nargument-hint: [a]: b\ndescription: d", None),
        ("name: x\ndescription: Use: y\nargument-hint: [a] [b]", None),
        ("name: x\ndescription: a\u2028b", ("x", "a\u2028b")),
        ("name: x\ndescription: a\x07b", None),
        ("name: x\ndescription: 0755", None),
        ("name: x\ndescription: 0o17", ("x", "0o17")),
        ('name: x\ndescription: "\\uD83D\\uDE00"', ("x", "😀")),
    ],
)
def test_odd_headers(workspace: Workspace, header: str, expected: Any) -> None:
    assert read(workspace, f"---\n{header}\n---\nBody\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---YAML\nname: x\ndescription: d\n---\n", ("x", "d")),
        ("---yMl\nname: x\ndescription: d\n---\n", ("x", "d")),
        ("--- yaml \nname: x\ndescription: d\n---\n", ("x", "d")),
        ('---json\n{"name": "x", "description": "d"}\n---\n', ("x", "d")),
        ('---json\n{"name": "x", "description": "d",}\n---\n', None),
        ('---json\n{"name": "x", "description": null}\n---\n', None),
        ('---json\n{"name": "x"}\n---\n', ("x", None)),
        ('---json\n["name"]\n---\n', None),
        ('---JSON\n{"name": "x", "description": "d"}\n---\n', None),
        ("---json\nname: x\ndescription: d\n---\n", None),
        ("---js\n{name: 'x'}\n---\n", None),
        ("---toml\nname = 'x'\n---\n", None),
        ("---\rname: x\rdescription: d\r---\rB\r", None),
        ("---\nname: x\ndescription: a: b\n---\n", ("x", "a: b")),
        # What follows the fence keeps the host from its repair.
        ("---yaml\nname: x\ndescription: a: b\n---\n", None),
        ("--- \nname: x\ndescription: a: b\n---\n", None),
    ],
)
def test_odd_fences(workspace: Workspace, text: str, expected: Any) -> None:
    assert read(workspace, text) == expected


def test_the_line_that_the_hosts_repair_leaves_is_to_blame(workspace: Workspace) -> None:
    text = "---\nname: x\ndescription: Sorts: all of it\nargument-hint: [a] [b]\n---\n"
    workspace.write("project/.opencode/skills/x/SKILL.md", text)
    [outcome] = workspace.scan(HOST).outcomes
    assert (outcome.reason or "").endswith("(line 4)")
    assert [one.line for one in outcome.diagnostics] == [4]
