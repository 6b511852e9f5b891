"""Codex as its release behaves, in variations of the recorded cases and in what they do not have."""

from __future__ import annotations

import json

import pytest

from prowess.activate.slash.messages import Message
from prowess.activate.slash.parser import Plain
from prowess.model.outcome import State
from tests.workspace import Workspace

SKILLS = "project/.agents/skills"
CONFIG = "home/.codex/config.toml"


@pytest.fixture(autouse=True)
def repository(workspace: Workspace) -> None:
    workspace.git()


def names(workspace: Workspace, **options: str) -> list[str]:
    """The names in the host's own list."""
    return [outcome.name for outcome in workspace.scan("codex", **options).shown]


def read(workspace: Workspace, text: str | bytes) -> tuple[str, str | None] | None:
    """Name and description of one SKILL.md; None where it is refused."""
    workspace.write(f"{SKILLS}/it/SKILL.md", text)
    [outcome] = workspace.scan("codex").outcomes
    if outcome.state is State.INVALID or outcome.skill is None:
        return None
    return outcome.name, outcome.skill.description


def lines(workspace: Workspace) -> list[str]:
    text = workspace.open("codex").catalog().text
    return [line for line in text.splitlines() if line.startswith("- ") and "(file: " in line]


# Roots


def test_every_folder_up_to_the_repository_is_searched_in_both_ways(workspace: Workspace):
    for folder in ("project", "project/a", "project/a/b", "project/a/b/below", "."):
        name = folder.rpartition("/")[2]
        workspace.skill(f"{folder}/.agents/skills/{name}-agents")
        workspace.skill(f"{folder}/.codex/skills/{name}-codex")
    assert names(workspace, cwd="project/a/b") == [
        "a-agents",
        "a-codex",
        "b-agents",
        "b-codex",
        "project-agents",
        "project-codex",
    ]


def test_without_a_repository_only_the_working_folder_is_searched(workspace: Workspace):
    (workspace.project / ".git").rmdir()
    workspace.skill("project/.agents/skills/up")
    workspace.skill("project/a/.agents/skills/here")
    workspace.skill("project/a/.codex/skills/too")
    assert names(workspace, cwd="project/a") == ["here", "too"]


@pytest.mark.parametrize(
    ("markers", "found"),
    [
        ('["ROOT"]', ["far", "near"]),
        ('[".git"]', ["near"]),
        ("[]", ["near"]),
        ('["none"]', ["near"]),
    ],
)
def test_other_marks_of_a_project_replace_git(workspace: Workspace, markers: str, found: list[str]):
    workspace.write("ROOT")
    workspace.write(CONFIG, f"project_root_markers = {markers}\n")
    workspace.skill(".agents/skills/far")
    workspace.skill(f"{SKILLS}/near")
    assert names(workspace) == found


def test_home_is_searched_once_as_the_users_own(workspace: Workspace):
    workspace.git("home")
    workspace.skill("home/.agents/skills/a")
    workspace.skill("home/.codex/skills/b")
    snapshot = workspace.scan("codex", cwd="home")
    assert [(o.name, o.candidate.root.source.level) for o in snapshot.outcomes] == [
        ("a", "user"),
        ("b", "user"),
    ]


def test_codex_home_moves_only_what_is_codexs_own(workspace: Workspace):
    workspace.skill("other/skills/moved")
    workspace.skill("home/.codex/skills/gone")
    workspace.skill("home/.agents/skills/stays")
    env = {"CODEX_HOME": workspace.path("other")}
    assert [o.name for o in workspace.scan("codex", env=env).shown] == ["moved", "stays"]


# The search of a root


def test_of_many_folders_the_first_two_thousand_are_searched_level_by_level(workspace: Workspace):
    for number in range(1_000):
        workspace.skill(f"{SKILLS}/s{number:04}")
        (workspace.root / SKILLS / f"s{number:04}/references").mkdir()
        (workspace.root / SKILLS / f"s{number:04}/scripts").mkdir()
    assert len(names(workspace)) == 1_000


def test_a_flat_folder_of_more_loses_the_rest(workspace: Workspace):
    for number in range(2_005):
        workspace.skill(f"{SKILLS}/s{number:04}")
    found = names(workspace)
    assert (len(found), found[-1]) == (1_999, "s1998")


def test_links_to_folders_lead_to_real_paths_and_a_linked_file_is_not_read(workspace: Workspace):
    workspace.skill("store/a")
    workspace.skill("store/.b")
    workspace.skill("store/c")
    for link, target in (("x", "store/a"), ("y", "store/.b"), ("z", "store/a")):
        workspace.link(f"{SKILLS}/{link}", workspace.path(target))
    workspace.link(f"{SKILLS}/c/SKILL.md", workspace.path("store/c/SKILL.md"))
    assert {
        (o.name, workspace.relative(o.candidate.location)) for o in workspace.scan("codex").shown
    } == {("a", "store/a/SKILL.md"), (".b", "store/.b/SKILL.md")}


# Headers


@pytest.mark.parametrize(
    ("value", "description"),
    [
        ("Use when: x", "Use when: x"),
        ("{x} y", "{x} y"),
        ("[unclosed", "[unclosed"),
        ("[a] b: c", "[a] b: c"),
        ("@file", "@file"),
        ("`code` x", "`code` x"),
        ("{a: b}", "{a: b}"),
        ("it's: here", "it's: here"),
        ("1.50", "1.50"),
        ("yes", "yes"),
        ("0o17", "0o17"),
        ("!important thing", "thing"),
        ("a  \t b", "a b"),
        ("a # b", "a"),
        (r'"\uD83D\uDE00"', "😀"),
        ("ends:", None),
        ('"quoted" then', None),
        ('"open', None),
        ("%x", None),
        ("*bold*", None),
        ("- item", None),
        ("? x", None),
        (", x", None),
        ("> x", None),
        ("[a, b]", None),
        ("#tag", None),
        ("~", None),
        ("'   '", None),
        ("a\u2028b", None),
        ("a\x07b", None),
        ("plain\n  more: text", None),
    ],
)
def test_values_are_text_are_quoted_or_are_refused(
    workspace: Workspace, value: str, description: str | None
):
    found = read(workspace, f"---\nname: it\ndescription: {value}\n---\nBody\n")
    assert found == (None if description is None else ("it", description))


@pytest.mark.parametrize(
    ("header", "is_read"),
    [
        ("name: a\nname: b\ndescription: d", False),
        ("description: d\ndescription: e", False),
        ("x: 1\nx: 2\ndescription: d", True),
        ("x: 1\nx: 2\nname: a\nname: b\ndescription: d", False),
        ("metadata: text\ndescription: d", False),
        ("metadata: [a]\ndescription: d", False),
        ("metadata:\n  short-description: [a]\ndescription: d", False),
        ("metadata:\n  short-description: 5\ndescription: d", True),
        ("note: a: b\ndescription: d", True),
        ("metadata:\n  note: a: b\ndescription: d", True),
        ("argument-hint: [file] [x]\ndescription: d", True),
        ("Description: d", False),
        ("- a", False),
    ],
)
def test_headers_are_read_with_types(workspace: Workspace, header: str, is_read: bool):
    assert (read(workspace, f"---\n{header}\n---\n") is not None) is is_read


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("---\ndescription: d\n---\n", True),
        (" --- \ndescription: d\n  ---\n", True),
        ("---\r\ndescription: d\r\n---\r\n", True),
        ("\ufeff---\ndescription: d\n---\n", False),
        ("\n---\ndescription: d\n---\n", False),
        ("----\ndescription: d\n---\n", False),
        ("---\ndescription: d\n----\n", False),
        ("---\ndescription: d\n...\n", False),
        ("---\rdescription: d\r---\r", False),
        ("---\n---\n", False),
        (b"---\ndescription: caf\xe9\n---\n", False),
        (b"---\ndescription: d\n---\ncaf\xe9\n", False),
    ],
)
def test_fences_and_encodings(workspace: Workspace, text: str | bytes, is_read: bool):
    assert (read(workspace, text) is not None) is is_read


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("~", "it"),
        ('""', "it"),
        ('"  a  b "', "a b"),
        ("123", "123"),
        ("../../evil", "../../evil"),
        ("n" * 64, "n" * 64),
        ("n" * 65, None),
    ],
)
def test_names(workspace: Workspace, name: str, expected: str | None):
    found = read(workspace, f"---\nname: {name}\ndescription: d\n---\n")
    assert found == (None if expected is None else (expected, "d"))


# Plugins


def test_the_nearest_manifest_names_all_skills_below_it_even_from_above(workspace: Workspace):
    workspace.write(".claude-plugin/plugin.json", '{"name": "far"}')
    workspace.write(f"{SKILLS}/p/.codex-plugin/plugin.json", '{"name": " near "}')
    workspace.write(f"{SKILLS}/p/.claude-plugin/plugin.json", '{"name": "second"}')
    workspace.write(f"{SKILLS}/q/.codex-plugin/plugin.json", '{"name": 3}')
    workspace.write(f"{SKILLS}/r/.codex-plugin/plugin.json", "[]")
    for path in ("a", "p/b", "q", "r/c"):
        workspace.skill(f"{SKILLS}/{path}")
    assert sorted(names(workspace)) == ["c", "far:a", "near:b", "q:q"]


def test_plugins_are_read_where_the_settings_enable_them(workspace: Workspace):
    cache = "home/.codex/plugins/cache/market"
    workspace.write(
        CONFIG,
        '[plugins."on@market"]\nenabled = true\n[plugins."off@market"]\nenabled = false\n'
        '[plugins."../x@market"]\nenabled = true\n',
    )
    for version in ("1.9.0", "1.10.0"):
        workspace.write(f"{cache}/on/{version}/.codex-plugin/plugin.json", '{"name": "on"}')
        workspace.skill(f"{cache}/on/{version}/skills/v{version}")
    workspace.skill(f"{cache}/off/1.0.0/skills/off")
    workspace.skill(f"{cache}/unknown/1.0.0/skills/unknown")
    assert names(workspace) == ["on:v1.10.0"]


# Settings


def switch(*entries: str) -> str:
    return "".join(f"[[skills.config]]\n{entry}\n" for entry in entries)


@pytest.mark.parametrize(
    ("entries", "enabled"),
    [
        (('name = "a"\nenabled = false',), False),
        (('path = "~/.agents/skills/a/SKILL.md"\nenabled = false',), False),
        (('path = "~/.agents/skills/a"\nenabled = false',), True),
        (('path = "~/.agents/skills/a/SKILL.md"\nname = "a"\nenabled = false',), True),
        (('name = "a"\nenabled = false', 'name = "a"\nenabled = true'), True),
        (
            (
                'name = "a"\nenabled = false',
                'path = "~/.agents/skills/a/SKILL.md"\nenabled = true',
            ),
            True,
        ),
        (
            (
                'path = "~/.agents/skills/a/SKILL.md"\nenabled = true',
                'name = "a"\nenabled = false',
            ),
            False,
        ),
        (('name = "b"\nenabled = false',), True),
    ],
)
def test_the_last_entry_that_means_a_skill_decides(
    workspace: Workspace, entries: tuple[str, ...], enabled: bool
):
    workspace.skill("home/.agents/skills/a")
    workspace.write(CONFIG, switch(*entries))
    [outcome] = workspace.scan("codex").shown
    assert (outcome.state is State.READY) is enabled
    assert bool(lines(workspace)) is enabled


def test_a_projects_own_settings_switch_nothing(workspace: Workspace):
    workspace.skill(f"{SKILLS}/a")
    workspace.write("project/.codex/config.toml", switch('name = "a"\nenabled = false'))
    [outcome] = workspace.scan("codex").shown
    assert outcome.state is State.READY


def test_settings_turn_off_bundled_skills_and_the_catalog(workspace: Workspace):
    workspace.skill("home/.codex/skills/.system/own")
    workspace.skill(f"{SKILLS}/a")
    assert names(workspace) == ["a", "own"]
    workspace.write(CONFIG, "[skills.bundled]\nenabled = false\n")
    assert names(workspace) == ["a"]
    workspace.write(CONFIG, "[skills]\ninclude_instructions = false\n")
    assert (names(workspace), lines(workspace)) == (["a", "own"], [])


def test_broken_settings_are_reported_and_stop_nothing(workspace: Workspace):
    workspace.skill(f"{SKILLS}/a")
    workspace.write(CONFIG, "[skills\n")
    assert names(workspace) == ["a"]
    assert [one.code for one in workspace.scan("codex").diagnostics] == ["settings-ignored"]


# agents/openai.yaml


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("policy:\n  allow_implicit_invocation: false\n", State.HIDDEN),
        ("policy:\n  allow_implicit_invocation: false\n  more: 1\nother: 2\n", State.HIDDEN),
        ("policy:\n  allow_implicit_invocation: true\n", State.READY),
        ("policy:\n  allow_implicit_invocation: no\n", State.READY),
        ("policy:\n  allow_implicit_invocation: 'false'\n", State.READY),
        ("policy:\n  allow_implicit_invocation: false\ninterface: [a]\n", State.READY),
        ("policy:\n  allow_implicit_invocation: false\ninterface:\n  x: 1\n", State.HIDDEN),
        ("policy:\n  products: [chatgpt]\n", State.INELIGIBLE),
        ("policy:\n  products: [CHATGPT]\n", State.INELIGIBLE),
        ("policy:\n  products: [ChatGPT]\n", State.READY),
        ("policy:\n  products: [chatgpt, CODEX]\n", State.READY),
        ("policy:\n  products: []\n", State.READY),
        ("policy:\n  products: codex\n", State.READY),
        ("policy:\n  products: [other]\n  allow_implicit_invocation: false\n", State.READY),
        ("policy: [\n", State.READY),
        ("", State.READY),
    ],
)
def test_the_policy_beside_a_skill(workspace: Workspace, text: str, state: State):
    workspace.skill(f"{SKILLS}/a")
    workspace.write(f"{SKILLS}/a/agents/openai.yaml", text)
    [outcome] = workspace.scan("codex").outcomes
    assert outcome.state is state


@pytest.mark.parametrize("file", ["agents/openai.yml", "Agents/openai.yaml", "openai.yaml"])
def test_only_the_exact_name_counts(workspace: Workspace, file: str):
    workspace.skill(f"{SKILLS}/a")
    workspace.write(f"{SKILLS}/a/{file}", "policy:\n  allow_implicit_invocation: false\n")
    [outcome] = workspace.scan("codex").outcomes
    assert outcome.state is State.READY


def test_clients_get_an_interface_and_the_tools(workspace: Workspace):
    workspace.skill(f"{SKILLS}/a")
    interface = {
        "display_name": "x" * 65,
        "short_description": " a   b ",
        "icon_small": "assets/x.svg",
        "icon_large": "assets/../y.svg",
        "brand_color": "#12aBcD",
        "default_prompt": 5,
    }
    tools = [{"type": "mcp", "value": "s", "url": "u"}, {"type": "mcp"}, {"value": "v"}]
    text = json.dumps({"interface": interface, "dependencies": {"tools": tools}})
    workspace.write(f"{SKILLS}/a/agents/openai.yaml", text)
    [skill] = workspace.scan("codex").skills
    assert skill.companion == {
        "interface": {
            "shortDescription": "a b",
            "iconSmall": workspace.path(f"{SKILLS}/a/assets/x.svg"),
            "brandColor": "#12aBcD",
            "defaultPrompt": "5",
        },
        "dependencies": {"tools": [{"type": "mcp", "value": "s", "url": "u"}]},
    }


# Mentions


def mentioned(workspace: Workspace, text: str) -> list[str]:
    """The files of the skills that a text brings in."""
    message = workspace.open("codex").run(text)
    if isinstance(message, Plain):
        return []
    assert isinstance(message, Message)
    blocks = [part for part in message.parts if part.startswith("<skill>")]
    paths = [block.partition("<path>")[2].partition("</path>")[0] for block in blocks]
    return [str(workspace.relative(path)) for path in paths]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$a", ["a"]),
        ("x$a", ["a"]),
        ("$$a", ["a"]),
        ("`$a`", ["a"]),
        ("($a)", ["a"]),
        ('"$a".', ["a"]),
        ("$a:", []),
        ("$A", []),
        ("$ab", []),
        ("/a", []),
        ("$p:q", ["pq"]),
        ("$b and $a and $b", ["a", "b"]),
        ("$PATH $home $Term", []),
        ("[$a](/nowhere/SKILL.md)", []),
    ],
)
def test_what_counts_as_a_mention(workspace: Workspace, text: str, found: list[str]):
    for folder, name in (("a", "a"), ("b", "b"), ("pq", "p:q"), ("path", "PATH"), ("h", "home")):
        workspace.skill(f"{SKILLS}/{folder}", name=name)
    assert mentioned(workspace, text) == [f"{SKILLS}/{one}/SKILL.md" for one in found]


def test_a_name_of_two_skills_brings_in_neither_but_a_link_picks_one(workspace: Workspace):
    workspace.skill(f"{SKILLS}/dup")
    workspace.skill("home/.agents/skills/dup")
    assert mentioned(workspace, "$dup") == []
    path = workspace.path("home/.agents/skills/dup/SKILL.md")
    assert mentioned(workspace, f"[$dup]({path})") == ["home/.agents/skills/dup/SKILL.md"]


def test_a_disabled_skill_cannot_be_mentioned_and_a_hidden_one_can(workspace: Workspace):
    workspace.skill(f"{SKILLS}/off")
    workspace.skill(f"{SKILLS}/hidden")
    workspace.write(CONFIG, switch('name = "off"\nenabled = false'))
    policy = "policy:\n  allow_implicit_invocation: false\n"
    workspace.write(f"{SKILLS}/hidden/agents/openai.yaml", policy)
    assert mentioned(workspace, "$off $hidden") == [f"{SKILLS}/hidden/SKILL.md"]


def test_a_mention_brings_in_the_whole_file_and_the_project_comes_first(workspace: Workspace):
    workspace.skill("home/.agents/skills/a")
    file = workspace.skill(f"{SKILLS}/b")
    message = workspace.open("codex").run("$a $b")
    assert isinstance(message, Message)
    text, first, second = message.parts
    assert (text, "<name>a</name>" in second) == ("$a $b", True)
    assert first == f"<skill>\n<name>b</name>\n<path>{file}</path>\n{file.read_text()}\n</skill>"
