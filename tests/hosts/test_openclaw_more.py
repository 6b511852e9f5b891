"""OpenClaw as its release behaves: roots that are one skill, keys, agents, programs and headers."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from prowess.activate.slash.commands import build_commands
from prowess.model.catalog import Shown
from prowess.model.outcome import State
from prowess.runtime import Skills
from tests.workspace import Workspace

HOST = "openclaw"
CONFIG = "home/.openclaw/openclaw.json"


def configure(workspace: Workspace, **config: Any) -> None:
    workspace.write(CONFIG, json.dumps(config))


def states(workspace: Workspace, **options: Any) -> dict[str, str]:
    return {one.name: one.state.value for one in workspace.scan(HOST, **options).outcomes}


def offered(skills: Skills) -> list[str]:
    lines = skills.catalog(context_tokens=200_000).lines
    return [line.name for line in lines if line.shown is not Shown.LEFT_OUT]


# A root with a SKILL.md


@pytest.mark.parametrize(
    "root",
    [
        "project/skills",
        "project/.agents/skills",
        "home/.agents/skills",
        "home/.openclaw/skills",
        "home/.openclaw/agents/main/agent/workshop-skills",
        "bundled",
        "extra",
        "extra/skills",
    ],
)
@pytest.mark.parametrize("name", ["named", ""])
def test_a_root_with_a_skill_md_is_one_skill(workspace: Workspace, root: str, name: str) -> None:
    configure(workspace, skills={"load": {"extraDirs": [workspace.path("extra")]}})
    workspace.skill(root, name=name)
    workspace.skill(f"{root}/kid")
    workspace.skill(f"{root}/group/kid")
    env = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    expected = name or root.rpartition("/")[2]
    assert list(workspace.listed(workspace.scan(HOST, env=env))) == [expected]


# Entries and keys

KEYED = '{"openclaw": {"skillKey": "kay", "requires": {"env": ["TOKEN"]}}}'


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ({}, "ineligible"),
        ({"kay": {"env": {"TOKEN": "t"}}}, "ready"),
        ({"pdf": {"env": {"TOKEN": "t"}}}, "ineligible"),
        ({"kay": {"env": {"TOKEN": "  "}}}, "ineligible"),
        ({"kay": {"env": {"TOKEN": "t"}}, "pdf": {"enabled": False}}, "ready"),
        ({"kay": {"env": {"TOKEN": "t"}, "enabled": False}}, "disabled"),
        ({"kay": {"env": {"TOKEN": "t"}, "enabled": True}}, "ready"),
    ],
)
def test_a_skill_with_a_key_is_known_by_it_alone(
    workspace: Workspace, entries: dict[str, Any], state: str
) -> None:
    workspace.skill("project/skills/pdf", metadata=KEYED)
    configure(workspace, skills={"entries": entries})
    assert states(workspace) == {"pdf": state}


@pytest.mark.parametrize(
    ("key", "state"),
    [
        ("k", "ready"),
        ("", "ineligible"),
        ("  ", "ineligible"),
        ({"source": "env", "provider": "default", "id": "X"}, "ready"),
    ],
)
def test_an_api_key_stands_for_the_variable_unless_it_is_blank(
    workspace: Workspace, key: Any, state: str
) -> None:
    metadata = '{"openclaw": {"primaryEnv": "KEY", "requires": {"env": ["KEY"]}}}'
    workspace.skill("project/skills/pdf", metadata=metadata)
    configure(workspace, skills={"entries": {"pdf": {"apiKey": key}}})
    assert states(workspace) == {"pdf": state}


@pytest.mark.parametrize(
    ("allowed", "ready"),
    [
        ([], {"b1", "b2"}),
        (["  "], {"b1", "b2"}),
        (["b1"], {"b1"}),
        ([" b1 "], {"b1"}),
        (["kay"], {"b2"}),
        (["B1"], set()),
    ],
)
def test_the_list_of_bundled_skills(
    workspace: Workspace, allowed: list[str], ready: set[str]
) -> None:
    workspace.skill("bundled/b1")
    workspace.skill("bundled/b2", metadata='{"openclaw": {"skillKey": "kay"}}')
    configure(workspace, skills={"allowBundled": allowed})
    env = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    found = states(workspace, env=env)
    assert {name for name, state in found.items() if state == "ready"} == ready


# Agents


@pytest.mark.parametrize(
    ("agents", "agent", "expected"),
    [
        ({"defaults": {"skills": ["a"]}}, None, ["a"]),
        ({"entries": {"main": {"skills": ["b"]}}}, None, ["b"]),
        ({"defaults": {"skills": ["a"]}, "entries": {"main": {"skills": ["b"]}}}, None, ["b"]),
        ({"defaults": {"skills": ["a"]}, "entries": {"main": {}}}, None, ["a"]),
        ({"defaults": {"skills": ["a"]}, "entries": {"main": {"skills": []}}}, None, []),
        ({"entries": {"main": {"skills": [" b "]}}}, None, ["b"]),
        ({"entries": {"x": {"skills": ["a"]}, "y": {"skills": ["b"]}}}, None, ["a"]),
        (
            {"entries": {"x": {"skills": ["a"]}, "y": {"default": True, "skills": ["b"]}}},
            None,
            ["b"],
        ),
        ({"entries": {"x": {"skills": ["a"]}, "y": {"skills": ["b"]}}}, "y", ["b"]),
        ({"defaults": {"skills": ["a"]}, "entries": {"x": {"skills": ["b"]}}}, "z", ["a"]),
        ({"entries": {"main": {"skills": ["A"]}}}, None, []),
    ],
)
def test_the_skills_of_an_agent(
    workspace: Workspace, agents: dict[str, Any], agent: str | None, expected: list[str]
) -> None:
    workspace.skill("project/skills/a")
    workspace.skill("project/skills/b")
    configure(workspace, agents=agents)
    skills = workspace.open(HOST, agent=agent)
    assert offered(skills) == expected
    commands = build_commands(skills.snapshot, skills.profile.commands).typable
    assert [command.skill_name for command in commands] == expected


def test_an_agent_has_a_workspace_a_workshop_and_a_catalog_of_its_own(workspace: Workspace) -> None:
    for name in ("a", "b"):
        workspace.skill(f"own/skills/{name}", description="x" * 100)
    workspace.skill("home/.openclaw/agents/x/agent/workshop-skills/learned")
    workspace.skill("home/.openclaw/agents/main/agent/workshop-skills/other")
    entry = {"workspace": workspace.path("own"), "skillsLimits": {"maxSkillsPromptChars": 500}}
    configure(workspace, agents={"entries": {"x": entry}})
    skills = workspace.open(HOST)
    assert list(workspace.listed(skills.snapshot)) == ["a", "b", "learned"]
    assert len(skills.catalog(context_tokens=200_000).text) <= 500


# Requirements


@pytest.mark.parametrize(
    ("program", "state"),
    [
        ("have", "ready"),
        ("folder", "ready"),
        ("../bin/have", "ready"),
        ("plain", "ineligible"),
        ("gone", "ineligible"),
        ("/bin/sh", "ineligible"),
    ],
)
def test_a_program_is_an_executable_entry_of_a_folder_in_path(
    workspace: Workspace, program: str, state: str
) -> None:
    workspace.write("bin/have", "#!/bin/sh\n").chmod(0o755)
    workspace.write("bin/plain", "x")
    workspace.write("bin/folder/x", "x")
    metadata = json.dumps({"openclaw": {"requires": {"bins": [program]}}})
    workspace.skill("project/skills/pdf", metadata=metadata)
    folder = workspace.path("bin")
    facts = workspace.facts()

    def find(name: str) -> bool:
        return os.access(os.path.join(folder, name), os.X_OK)

    facts = type(facts)(home=facts.home, find_path_entry=find)
    snapshot = Skills(workspace.project, host=HOST, facts=facts, cache=False).snapshot
    assert [one.state.value for one in snapshot.outcomes] == [state]


@pytest.mark.parametrize(
    ("path", "is_met"),
    [
        ("x.list.0", True),
        ("x.list.1", False),
        ("x.list.2", False),
        ("x.list.-1", False),
        ("x.list.a", False),
        ("x..flag", True),
        (".x.flag.", True),
        ("x.null", False),
        ("x.zero", False),
        ("x.blank", False),
        ("x.no", False),
        ("x.word", True),
        ("x.list", True),
        ("x.empty", True),
        ("x.flag.more", False),
        ("x.__proto__", False),
        ("x.constructor", False),
        ("browser.enabled", True),
        ("browser.other", False),
    ],
)
def test_a_field_of_the_configuration(workspace: Workspace, path: str, *, is_met: bool) -> None:
    fields = {"flag": True, "null": None, "zero": 0, "blank": " ", "no": False, "word": "false"}
    configure(workspace, x={**fields, "list": ["a", 0], "empty": {}})
    metadata = json.dumps({"openclaw": {"requires": {"config": [path]}}})
    workspace.skill("project/skills/pdf", metadata=metadata)
    assert states(workspace) == {"pdf": "ready" if is_met else "ineligible"}


def test_a_default_of_the_configuration_does_not_outweigh_null(workspace: Workspace) -> None:
    configure(workspace, browser={"enabled": None})
    metadata = '{"openclaw": {"requires": {"config": ["browser.enabled"]}}}'
    workspace.skill("project/skills/pdf", metadata=metadata)
    assert states(workspace) == {"pdf": "ineligible"}


@pytest.mark.parametrize(
    ("os", "state", "is_offered"),
    [
        ("[linux]", "ready", True),
        ("[Linux]", "ready", False),
        ("[LINUX, darwin]", "ready", False),
        ("[Linux, linux]", "ready", True),
        ("[darwin]", "ineligible", False),
        ("[]", "ready", True),
    ],
)
@pytest.mark.parametrize("always", ["", ", always: true"])
def test_another_spelling_of_a_platform_is_listed_and_not_offered(
    workspace: Workspace, os: str, state: str, always: str, *, is_offered: bool
) -> None:
    workspace.skill("project/skills/pdf", metadata=f"{{openclaw: {{os: {os}{always}}}}}")
    skills = workspace.open(HOST)
    assert [one.state.value for one in skills.snapshot.outcomes] == [state]
    assert offered(skills) == (["pdf"] if is_offered else [])
    commands = build_commands(skills.snapshot, skills.profile.commands).typable
    assert len(commands) == is_offered


# Limits and places


@pytest.mark.parametrize("bad", ["x" * 400, "---\nname: b\n---\n", "---\nname: [\n---\n", ""])
def test_what_is_not_loaded_does_not_count_towards_the_limit(
    workspace: Workspace, bad: str
) -> None:
    configure(
        workspace, skills={"limits": {"maxSkillsLoadedPerSource": 2, "maxSkillFileBytes": 300}}
    )
    workspace.write("project/skills/b/SKILL.md", bad)
    for name in ("a", "c", "d"):
        workspace.skill(f"project/skills/{name}")
    assert list(workspace.listed(workspace.scan(HOST))) == ["a", "c"]
    assert states(workspace)["d"] == "skipped"


def test_a_home_of_its_own_moves_everything(workspace: Workspace) -> None:
    workspace.skill("other/.openclaw/skills/managed")
    workspace.skill("other/.agents/skills/personal")
    workspace.skill("home/.openclaw/skills/left")
    env = {"OPENCLAW_HOME": workspace.path("other")}
    assert set(states(workspace, env=env)) == {"managed", "personal"}


def test_the_path_of_the_configuration_moves_no_workshop(workspace: Workspace) -> None:
    workspace.write("other/openclaw.json", "{}")
    workspace.skill("other/skills/moved")
    workspace.skill("home/.openclaw/agents/main/agent/workshop-skills/learned")
    workspace.skill("other/agents/main/agent/workshop-skills/not")
    env = {"OPENCLAW_CONFIG_PATH": workspace.path("other/openclaw.json")}
    assert set(states(workspace, env=env)) == {"learned", "moved"}


# Headers


def read(workspace: Workspace, header: str) -> tuple[str, str | None] | None:
    workspace.write("project/skills/x/SKILL.md", f"---\n{header}\n---\nBody\n")
    [outcome] = workspace.scan(HOST).outcomes
    if outcome.state is State.INVALID:
        return None
    assert outcome.skill is not None
    return outcome.name, outcome.skill.description


@pytest.mark.parametrize(
    ("value", "description"),
    [
        ('"He said "hi" there"', 'He said "hi" there'),
        ("'it's broken'", "it's broken"),
        ('"C:\\path"', "C:\\path"),
        ('"quoted" then more', '"quoted" then more'),
        ("#1 tool", "#1 tool"),
        ("null", "null"),
        ("~", "~"),
        ("Null", "Null"),
        ("{a: b}", "{a: b}"),
        ("[a: b]", "[a: b]"),
        ("[a, b]", '["a","b"]'),
        ("{a, b: c}", "{a, b: c}"),
        ("[Doc]: x", "[Doc]: x"),
        ("[Doc] Create: x", "[Doc] Create: x"),
        ("? a: b", "? a: b"),
        ("!Ref y", "y"),
        ("0755", "755"),
        ("0o17", "15"),
        ("1e3", "1000"),
        ("text # note", "text"),
        ("a\u2028b", "a\u2028b"),
        ("a\x07b", "a\x07b"),
        ('"\\uD83D\\uDE00"', "😀"),
        ("2024-01-01", "2024-01-01"),
        ("yes", "yes"),
        ("true", "true"),
        ("", None),
        ('""', None),
    ],
)
def test_descriptions(workspace: Workspace, value: str, description: str | None) -> None:
    expected = None if description is None else ("x", description)
    assert read(workspace, f"name: x\ndescription: {value}") == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("name: x\nargument-hint: [a]: b\ndescription: d", ("x", "d")),
        ("name: x\nargument-hint: {a: 1}: b\ndescription: d", ("x", "d")),
        ("name: x\nargument-hint: [a]: b\nother: [a]: b\ndescription: d", None),
        ("name: x\nargument-hint: [a] b\ndescription: d", None),
        ("name: x\nargument-hint: a: b\ndescription: d", None),
        ("name: [a]: b\ndescription: d", ("[a]: b", "d")),
        ("name: ~\ndescription: d", ("~", "d")),
        ("name: null\ndescription: d", ("null", "d")),
        ("name:\ndescription: d", ("x", "d")),
        ("name: #1\ndescription: d", ("#1", "d")),
        ('name: x\ndescription: d\nmetadata:\n{"openclaw": {}}', ("x", "d")),
        ('name: x\ndescription: d\nmetadata:\n{\n"openclaw":\n{}\n}', ("x", "d")),
        ("name: x\ndescription:\n  # only a comment", ("x", "# only a comment")),
        ("name: x\ndescription: d\n<<: 3", ("x", "d")),
    ],
)
def test_headers(workspace: Workspace, header: str, expected: Any) -> None:
    assert read(workspace, header) == expected
