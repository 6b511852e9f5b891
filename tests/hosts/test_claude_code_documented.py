"""Claude Code as its document describes it: fields, headers, levels, duplicates, and the order of
the whole list.
"""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prowess
from prowess.model.outcome import Claim, Note, Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import (
    Candidate,
    Document,
    LoadedFrom,
    Manifest,
    Root,
    Scope,
    Skill,
    Source,
)
from prowess.parse.header.fast import read_header
from prowess.parse.manifest.names import understand
from prowess.profiles.load import load_profile
from prowess.resolve.resolution import Collision, resolve
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace

HOST = "claude-code@documented"
PROFILE = load_profile(HOST)
GROUPS = (
    "bundled",
    "builtin-plugin",
    "disk",
    "workflow",
    "plugin-command",
    "plugin-skill",
    "builtin-command",
)
SKILLS = "project/.claude/skills"


def read(workspace: Workspace, text: str | bytes) -> Outcome:
    """The outcome of one SKILL.md of the project."""
    path = f"{SKILLS}/it/SKILL.md"
    workspace.write(path, text)
    return workspace.outcome(workspace.scan(HOST), path)


def read_manifest(workspace: Workspace, header: str) -> Manifest:
    """The manifest that these lines of a header make, with nothing to complain about."""
    outcome = read(workspace, f"---\n{header}---\nBody\n")
    assert outcome.skill is not None
    assert [one for one in outcome.diagnostics if one.code != "description-from-body"] == []
    return outcome.skill.manifest


def parts(outcome: Outcome) -> tuple[dict[str, Any], str]:
    """A file in its two parts: the frontmatter and the body."""
    assert outcome.skill is not None
    return dict(outcome.skill.frontmatter), outcome.skill.content


def make_root(
    workspace: Workspace, folder: str, *, group: str, loaded_from: LoadedFrom, order: int = 0
) -> Root:
    """A root of a group that the profile has no folder for."""
    path = workspace.path(folder)
    scope = Scope.BUNDLED if loaded_from is LoadedFrom.BUNDLED else Scope.PLUGIN
    source = Source("claude", group, path, loaded_from, f"claude:{group}")
    return Root(id=group, path=path, scope=scope, source=source, order=order, group=group)


# Fields


@pytest.mark.seed(
    "C-19", "C-20", "C-21", "C-22", "C-23", "C-24", "C-26", "C-27", "C-28", "C-29", "C-30", "C-31"
)
@pytest.mark.parametrize(
    ("header", "field"),
    [
        pytest.param(
            "allowed-tools: Read, Grep\n", {"allowed_tools": ("Read", "Grep")}, id="C-19 commas"
        ),
        pytest.param(
            "allowed-tools: Read Grep\n", {"allowed_tools": ("Read", "Grep")}, id="C-19 blanks"
        ),
        pytest.param(
            "allowed-tools: [Read, Grep]\n", {"allowed_tools": ("Read", "Grep")}, id="C-19 list"
        ),
        pytest.param(
            "allowed-tools:\n  - Read\n  - Bash(git add *)\n",
            {"allowed_tools": ("Read", "Bash(git add *)")},
            id="C-19 block",
        ),
        pytest.param("", {}, id="C-20 absent"),
        pytest.param(
            "description: What it does\n", {"description": "What it does"}, id="C-20 text"
        ),
        pytest.param(
            "argument-hint: <api-endpoint>\n", {"argument_hint": "<api-endpoint>"}, id="C-21"
        ),
        pytest.param("when_to_use: When asked\n", {"when_to_use": "When asked"}, id="C-22"),
        pytest.param("version: 1.2.0\n", {"version": "1.2.0"}, id="C-23"),
        pytest.param('version: "2"\n', {"version": "2"}, id="C-23 quoted"),
        pytest.param("model: inherit\n", {"model": "inherit"}, id="C-24 inherit"),
        pytest.param("model: haiku\n", {"model": "haiku"}, id="C-24 haiku"),
        pytest.param("model: sonnet\n", {"model": "sonnet"}, id="C-24 sonnet"),
        pytest.param("model: any-other-1\n", {"model": "any-other-1"}, id="C-24 other"),
        pytest.param("effort: low\n", {"effort": "low"}, id="C-26 low"),
        pytest.param("effort: medium\n", {"effort": "medium"}, id="C-26 medium"),
        pytest.param("effort: high\n", {"effort": "high"}, id="C-26 high"),
        pytest.param("effort: max\n", {"effort": "max"}, id="C-26 max"),
        pytest.param("effort: 7\n", {"effort": 7}, id="C-26 number"),
        pytest.param(
            "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: check.sh}]\n",
            {
                "hooks": {
                    "PreToolUse": [
                        {"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]}
                    ]
                }
            },
            id="C-27",
        ),
        pytest.param("context: inline\n", {"context": "inline"}, id="C-28 inline"),
        pytest.param("context: fork\n", {"context": "fork"}, id="C-28 fork"),
        pytest.param("agent: reviewer\n", {"agent": "reviewer"}, id="C-28 agent"),
        pytest.param(
            'paths: "src/**/*.ts, docs/*.md"\n',
            {"paths": ("src/**/*.ts", "docs/*.md")},
            id="C-29 text",
        ),
        pytest.param('paths: "src/{a,b}/*.ts"\n', {"paths": ("src/{a,b}/*.ts",)}, id="C-29 braces"),
        pytest.param(
            'paths:\n  - "src/**"\n  - "*.md"\n', {"paths": ("src/**", "*.md")}, id="C-29 list"
        ),
        pytest.param("shell: bash\n", {"shell": "bash"}, id="C-30 bash"),
        pytest.param("shell: powershell\n", {"shell": "powershell"}, id="C-30 powershell"),
        pytest.param(
            "arguments: endpoint format\n", {"arguments": ("endpoint", "format")}, id="C-31 text"
        ),
        pytest.param(
            "arguments: [endpoint, format]\n", {"arguments": ("endpoint", "format")}, id="C-31 list"
        ),
    ],
)
def test_a_field_is_read_as_the_document_types_it(
    workspace: Workspace, header: str, field: dict[str, Any]
):
    assert read_manifest(workspace, header) == Manifest(**field)


@pytest.mark.seed("C-22")
def test_when_to_use_is_spelled_with_underscores_only(workspace: Workspace):
    outcome = read(workspace, "---\ndescription: d\nwhen-to-use: never\n---\n")
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(description="d")
    assert [(one.code, one.field) for one in outcome.diagnostics] == [
        ("field-unknown", "when-to-use")
    ]


@pytest.mark.seed("C-25")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"true"', True),
        ('"false"', False),
        ("'yes'", True),
        ("'no'", False),
        ('"on"', True),
        ('"off"', False),
        ('"1"', True),
        ('"0"', False),
        ('"False"', False),
        ("true", True),
        ("false", False),
        ("no", False),
    ],
)
def test_truth_words_of_user_invocable_are_read_in_quotes_too(
    workspace: Workspace, written: str, meant: bool
):
    assert read_manifest(workspace, f"user-invocable: {written}\n") == Manifest(
        user_invocable=meant
    )


@pytest.mark.seed("C-20")
def test_without_a_description_the_first_line_of_the_body_stands_in(workspace: Workspace):
    outcome = read(workspace, "---\nmodel: haiku\n---\n\n# Say hello\n\nAnd more.\n")
    assert outcome.skill is not None
    assert (outcome.state, outcome.skill.description) == (State.READY, "Say hello")
    assert [one.code for one in outcome.diagnostics] == ["description-from-body"]


@pytest.mark.seed("C-32")
def test_a_skill_on_disk_is_named_by_its_folder(workspace: Workspace):
    workspace.skill(f"{SKILLS}/folder", name="header")
    snapshot = workspace.scan(HOST)
    outcome = workspace.outcome(snapshot, f"{SKILLS}/folder/SKILL.md")
    assert workspace.listed(snapshot) == {"folder": f"{SKILLS}/folder/SKILL.md"}
    assert [(one.code, one.field) for one in outcome.diagnostics] == [("field-unknown", "name")]


@pytest.mark.seed("C-33")
def test_a_skill_on_disk_may_be_kept_from_the_model_and_has_no_aliases(workspace: Workspace):
    text = "---\ndescription: d\ndisable-model-invocation: true\naliases: [other]\n---\nBody\n"
    outcome = read(workspace, text)
    # The document's type has neither field; its filter reads the first from every command all the
    # same.
    assert [(one.code, one.field) for one in outcome.diagnostics] == [
        ("field-unknown", "disable-model-invocation"),
        ("field-unknown", "aliases"),
    ]
    assert (outcome.state, outcome.rule) == (State.HIDDEN, "disable-model-invocation")
    snapshot = workspace.scan(HOST)
    assert [one.name for one in snapshot.shown] == ["it"]
    assert snapshot.claims("other") == ()


@pytest.mark.seed("C-40")
def test_the_sample_of_the_document_is_read_whole(workspace: Workspace):
    text = """---
description: Writes API documentation
when_to_use: When the user asks for documentation
argument-hint: <api-endpoint>
allowed-tools:
  - Read
  - Grep
  - Write
model: sonnet
context: fork
effort: high
paths:
  - "src/api/**"
shell: bash
arguments:
  - endpoint
  - format
---

Write documentation for `$endpoint` as `$format`.
"""
    outcome = read(workspace, text)
    assert outcome.skill is not None
    assert outcome.diagnostics == ()
    assert outcome.skill.manifest == Manifest(
        description="Writes API documentation",
        when_to_use="When the user asks for documentation",
        argument_hint="<api-endpoint>",
        allowed_tools=("Read", "Grep", "Write"),
        model="sonnet",
        context="fork",
        effort="high",
        paths=("src/api/**",),
        shell="bash",
        arguments=("endpoint", "format"),
    )
    assert outcome.skill.content == "\nWrite documentation for `$endpoint` as `$format`.\n"


# The header


@pytest.mark.seed("C-34", "C-37")
@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ndescription: d\n---\nBody\n", "Body\n"),
        ("---  \ndescription: d\n---\t\nBody\n", "Body\n"),
        ("---\r\ndescription: d\r\n---\r\nBody\r\n", "Body\r\n"),
        ("---\ndescription: d\n---\n\n  Body\n", "\n  Body\n"),
        ("---\ndescription: d\n---", ""),
        ("---\ndescription: d\n---\n", ""),
    ],
)
def test_the_header_opens_the_file_and_the_body_follows_its_closing_line(
    workspace: Workspace, text: str, body: str
):
    assert parts(read(workspace, text)) == ({"description": "d"}, body)


@pytest.mark.seed("C-34", "C-35")
@pytest.mark.parametrize(
    "text",
    [
        "Just text\n",
        "\n---\ndescription: d\n---\nBody\n",
        " ---\ndescription: d\n---\nBody\n",
        "Text\n---\ndescription: d\n---\nBody\n",
        "----\ndescription: d\n---\nBody\n",
        "--- description: d\n---\nBody\n",
        "---\ndescription: d\nnever closed\n",
    ],
)
def test_a_file_without_a_header_is_body_from_its_first_character(workspace: Workspace, text: str):
    outcome = read(workspace, text)
    assert parts(outcome) == ({}, text)
    assert outcome.state is State.READY


@pytest.mark.seed("C-36")
@pytest.mark.parametrize(
    ("header", "description"),
    [
        ("description: a --- b\n", "a --- b"),
        ("description: ends in ---\n", "ends in ---"),
        ("description: |\n  above\n  ---\n  below\n", "above\n---\nbelow"),
        ('description: "---"\n', "---"),
    ],
)
def test_three_dashes_close_a_header_only_on_a_line_of_their_own(
    workspace: Workspace, header: str, description: str
):
    outcome = read(workspace, f"---\n{header}---\nBody --- here\n---\nmore\n")
    assert outcome.skill is not None
    assert outcome.skill.description == description
    assert outcome.skill.content == "Body --- here\n---\nmore\n"


@pytest.mark.seed("C-38")
@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("description: Use when: x", "Use when: x"),
        ("description: [unclosed", "[unclosed"),
        ("description: @mention", "@mention"),
        ("description: *.ts files", "*.ts files"),
        ("description: `code` first", "`code` first"),
        ("description: {sure} about it", "{sure} about it"),
    ],
)
def test_a_value_that_breaks_the_yaml_is_quoted_and_the_header_read_again(
    workspace: Workspace, line: str, description: str
):
    outcome = read(workspace, f"---\nmodel: haiku\n{line}\n---\nBody\n")
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(model="haiku", description=description)
    assert [(one.code, one.line) for one in outcome.diagnostics] == [("yaml-unquoted-colon", 3)]


@pytest.mark.seed("C-38")
@pytest.mark.parametrize("header", ["- a\n- b\n", "description: ok\n\tbad: 1\n"])
def test_a_header_that_quoting_does_not_save_is_empty_and_reported(
    workspace: Workspace, header: str
):
    outcome = read(workspace, f"---\n{header}---\nBody\n")
    assert parts(outcome) == ({}, "Body\n")
    assert outcome.state is State.READY
    assert {one.severity.value for one in outcome.diagnostics} == {"warning"}


@pytest.mark.seed("C-39")
def test_the_function_that_reads_fields_needs_no_file(workspace: Workspace):
    text = b"---\ndescription: d\nallowed-tools: Read, Grep\nuser-invocable: 'no'\n---\nBody\n"
    outcome = read(workspace, text)
    assert outcome.skill is not None
    # What a server sends is bytes and a name; the same two calls read both.
    reading = read_header(text, rules=PROFILE.header, limits=PROFILE.limits)
    understood = understand(reading, default_name="server:it", required=(), fields=PROFILE.fields)
    assert understood.manifest == outcome.skill.manifest
    assert reading.frontmatter == outcome.skill.frontmatter
    assert understood.manifest == Manifest(
        description="d", allowed_tools=("Read", "Grep"), user_invocable=False
    )
    assert (understood.name, understood.description) == ("server:it", outcome.skill.description)


# Places


@pytest.mark.seed("C-48", "C-50")
def test_a_skill_is_a_folder_with_skill_md_and_files_beside_it(workspace: Workspace):
    workspace.skill(f"{SKILLS}/my-skill", name="")
    workspace.write(f"{SKILLS}/my-skill/reference.txt", "facts")
    workspace.skill(f"{SKILLS}/another-skill", name="")
    workspace.skill(f"{SKILLS}/group/nested", name="")
    workspace.write(f"{SKILLS}/flat.md", "---\ndescription: d\n---\n")
    workspace.write(f"{SKILLS}/lower/skill.md", "---\ndescription: d\n---\n")
    snapshot = workspace.scan(HOST)
    assert [(one.name, one.folder, one.location) for one in snapshot.skills] == [
        (name, workspace.path(f"{SKILLS}/{name}"), workspace.path(f"{SKILLS}/{name}/SKILL.md"))
        for name in ("another-skill", "my-skill")
    ]
    assert workspace.outcome(snapshot, f"{SKILLS}/group/nested/SKILL.md").state is State.SKIPPED
    assert len(snapshot.outcomes) == 3
    assert Path(snapshot.skills[1].folder, "reference.txt").read_text() == "facts"


@pytest.mark.seed("C-49")
def test_folders_named_by_gitignore_are_skipped(workspace: Workspace):
    workspace.git()
    workspace.write("project/.gitignore", ".claude/skills/drafts/\n")
    workspace.write(f"{SKILLS}/.gitignore", "private\n")
    workspace.write("home/.claude/skills/.gitignore", "old*\n!old-but-good\n")
    for folder in (
        f"{SKILLS}/drafts",
        f"{SKILLS}/private",
        f"{SKILLS}/open",
        "home/.claude/skills/older",
    ):
        workspace.skill(folder, name="")
    workspace.skill("home/.claude/skills/old-but-good", name="")
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {
        f"{SKILLS}/drafts/SKILL.md": "skipped",
        f"{SKILLS}/private/SKILL.md": "skipped",
        f"{SKILLS}/open/SKILL.md": "ready",
        "home/.claude/skills/older/SKILL.md": "skipped",
        "home/.claude/skills/old-but-good/SKILL.md": "ready",
    }
    reason = workspace.outcome(snapshot, f"{SKILLS}/drafts/SKILL.md").reason
    assert (
        reason
        == f"git ignores its folder (`.claude/skills/drafts/`, {workspace.path('project/.gitignore')}:1)"
    )


def write_levels(workspace: Workspace, name: str = "same") -> list[str]:
    """The same name at every level, in the order of the levels, below a project in the home folder."""
    folders = ["managed", "home", "home/work", "added"]
    files = [f"{folder}/.claude/skills/{name}/SKILL.md" for folder in folders]
    files.append(f"home/work/commands/{name}.md")
    for file in files:
        workspace.write(file, f"---\ndescription: {file}\n---\nBody\n")
    return files


@pytest.mark.seed("C-51", "C-52", "C-53", "C-54", "C-55", "C-56")
def test_five_levels_are_searched_in_order(workspace: Workspace):
    snapshot = workspace.scan(HOST, cwd="home/work", add_dirs=[workspace.path("added")])
    assert [
        (
            root.scope.value,
            root.source.level,
            root.source.loaded_from.value,
            workspace.relative(root.path),
        )
        for root in snapshot.roots
    ] == [
        ("managed", "managed", "managed", "managed/.claude/skills"),
        ("user", "user", "skills", "home/.claude/skills"),
        ("project", "project", "skills", "home/work/.claude/skills"),
        ("added", "additional", "skills", "added/.claude/skills"),
        ("project", "project", "commands", "home/work/commands"),
        ("project", "project", "commands", "home/work/.claude/commands"),
        ("project", "project", "commands", "home/commands"),
        ("project", "project", "commands", "home/.claude/commands"),
    ]


@pytest.mark.seed("C-51", "C-65")
def test_of_equal_names_on_disk_the_earlier_level_wins(workspace: Workspace):
    files = write_levels(workspace)
    while files:
        snapshot = workspace.scan(HOST, cwd="home/work", add_dirs=[workspace.path("added")])
        winner, *losers = files
        assert workspace.listed(snapshot) == {"same": winner}
        assert {
            (workspace.relative(one.candidate.location), one.state, one.by)
            for one in snapshot.outcomes
        } == {
            (winner, State.READY, None),
            *((loser, State.SHADOWED, workspace.path(winner)) for loser in losers),
        }
        (workspace.root / files.pop(0)).unlink()


@pytest.mark.seed("C-52")
def test_managed_skills_cannot_be_switched_off_but_by_bare(workspace: Workspace):
    workspace.skill("managed/.claude/skills/policy", name="")
    switched = workspace.scan(HOST, env={"CLAUDE_CODE_DISABLE_POLICY_SKILLS": "1"})
    bare = workspace.scan(HOST, bare=True)
    assert workspace.ends(switched) == {"managed/.claude/skills/policy/SKILL.md": "ready"}
    assert workspace.ends(bare) == {"managed/.claude/skills/policy/SKILL.md": "disabled"}
    [skill] = switched.skills
    assert (skill.scope, skill.source.loaded_from) == (Scope.MANAGED, LoadedFrom.MANAGED)


@pytest.mark.seed("C-53", "C-54")
def test_project_skills_are_found_from_the_working_folder_up_to_home(workspace: Workspace):
    workspace.git("home/work/repository")
    workspace.skill(".claude/skills/above-home", name="")
    workspace.skill("home/.claude/skills/at-home", name="")
    workspace.skill("home/work/.claude/skills/above-repository", name="")
    workspace.skill("home/work/repository/.claude/skills/at-repository", name="")
    workspace.skill("home/work/repository/sub/.claude/skills/here", name="")
    workspace.skill("home/work/repository/sub/below/.claude/skills/below", name="")
    snapshot = workspace.scan(HOST, cwd="home/work/repository/sub")
    assert {one.name: one.scope.value for one in snapshot.skills} == {
        "at-home": "user",
        "above-repository": "project",
        "at-repository": "project",
        "here": "project",
    }
    assert len(snapshot.outcomes) == 4


@pytest.mark.seed("C-55")
def test_an_added_folder_stands_for_the_skills_in_its_claude_folder(workspace: Workspace):
    workspace.skill("added/.claude/skills/inside", name="")
    workspace.skill("added/direct", name="")
    workspace.skill("added/skills/beside", name="")
    snapshot = workspace.scan(HOST, add_dirs=[workspace.path("added")])
    assert workspace.ends(snapshot) == {"added/.claude/skills/inside/SKILL.md": "ready"}


@pytest.mark.seed("C-56", "C-03")
def test_legacy_commands_lie_in_each_project_folder_and_are_marked(workspace: Workspace):
    workspace.write("home/work/commands/old.md", "---\ndescription: old\n---\n")
    workspace.write("home/work/sub/commands/group/older.md", "---\ndescription: older\n---\n")
    workspace.skill("home/work/sub/.claude/skills/new", name="")
    snapshot = workspace.scan(HOST, cwd="home/work/sub")
    assert {
        one.name: (one.source.loaded_from, one.source.label, one.source.level)
        for one in snapshot.skills
    } == {
        "old": (LoadedFrom.COMMANDS, "commands_DEPRECATED", "project"),
        "group:older": (LoadedFrom.COMMANDS, "commands_DEPRECATED", "project"),
        "new": (LoadedFrom.SKILLS, "claude:project", "project"),
    }


@pytest.mark.seed("C-57")
def test_bare_leaves_only_the_added_folders(workspace: Workspace):
    files = write_levels(workspace)
    for folder in ("managed", "home", "home/work", "added"):
        workspace.skill(f"{folder}/.claude/skills/of-{folder.rpartition('/')[2]}", name="")
    options = {"cwd": "home/work", "add_dirs": [workspace.path("added")]}
    bare = workspace.scan(HOST, bare=True, **options)
    # A level that is switched off no longer takes a name from one that is not.
    assert workspace.listed(bare) == {
        "same": "added/.claude/skills/same/SKILL.md",
        "of-added": "added/.claude/skills/of-added/SKILL.md",
    }
    off = {one.reason for one in bare.outcomes if one.state is State.DISABLED}
    assert off == {"its source is switched off by --bare"}
    assert len(bare.outcomes) == len(files) + 4
    assert (
        workspace.listed(workspace.scan(HOST, **options))["same"]
        == "managed/.claude/skills/same/SKILL.md"
    )


# Sources and the list


@pytest.mark.seed("C-02", "C-03")
def test_a_skill_tells_what_it_was_loaded_from_apart_from_its_level(workspace: Workspace):
    workspace.skill("bundled/shipped", name="")
    workspace.skill("managed/.claude/skills/policy", name="")
    workspace.skill("home/.claude/skills/mine", name="")
    workspace.skill(f"{SKILLS}/ours", name="")
    workspace.skill("plugin/plugged", name="")
    workspace.skill("server/served", name="")
    workspace.write("project/commands/old.md", "---\ndescription: d\n---\n")
    planned = workspace.scan(HOST).roots
    others = (
        make_root(workspace, "bundled", group="bundled", loaded_from=LoadedFrom.BUNDLED),
        make_root(workspace, "plugin", group="plugin-skill", loaded_from=LoadedFrom.PLUGIN),
        make_root(workspace, "server", group="mcp", loaded_from=LoadedFrom.MCP),
    )
    snapshot = workspace.scan(HOST, roots=(*planned, *others))
    assert {
        one.name: (one.source.loaded_from.value, one.source.level) for one in snapshot.skills
    } == {
        "shipped": ("bundled", "bundled"),
        "policy": ("managed", "managed"),
        "mine": ("skills", "user"),
        "ours": ("skills", "project"),
        "plugged": ("plugin", "plugin-skill"),
        "served": ("mcp", "mcp"),
        "old": ("commands", "project"),
    }
    assert {one.source.loaded_from for one in snapshot.skills} == set(LoadedFrom)


@pytest.mark.seed("C-04")
def test_every_source_ends_in_one_list_without_duplicates_and_in_order(workspace: Workspace):
    workspace.skill("bundled/b", name="")
    workspace.skill("home/.claude/skills/a", name="")
    workspace.skill(f"{SKILLS}/a", name="")
    workspace.link(f"{SKILLS}/z", "../../../home/.claude/skills/a")
    workspace.skill(f"{SKILLS}/C", name="", disable_model_invocation="true")
    workspace.write("project/commands/d.md", "---\ndescription: d\n---\n")
    bundled = make_root(workspace, "bundled", group="bundled", loaded_from=LoadedFrom.BUNDLED)
    snapshot = workspace.scan(HOST, roots=(*workspace.scan(HOST).roots, bundled))
    assert [(one.name, one.state.value) for one in snapshot.shown] == [
        ("a", "ready"),
        ("b", "ready"),
        ("C", "hidden"),
        ("d", "ready"),
    ]
    # What the panel shows and what the model is offered are parts of the same list.
    shown = [one.skill for one in snapshot.shown if one.state is State.READY]
    assert list(snapshot.skills) == shown
    assert snapshot.counts() == {
        State.DUPLICATE: 1,
        State.SHADOWED: 1,
        State.HIDDEN: 1,
        State.READY: 3,
    }


def make_claim(
    place: int, name: str = "same", *, group: str = "disk", file: str = "", real: str | None = ""
) -> Claim:
    """A claim of a group; its file is its own unless given, and `real` None is a file that cannot
    be told.
    """
    path = file or f"/{group}/{place}/{name}/SKILL.md"
    source = Source("claude", group, f"/{group}", LoadedFrom.SKILLS, f"claude:{group}")
    root = Root(path=f"/{group}", scope=Scope.USER, source=source, order=place, group=group)
    candidate = Candidate(path, path.rpartition("/")[0], name, root, path if real == "" else real)
    skill = Skill(
        name=name,
        description=None,
        location=path,
        folder=candidate.folder,
        scope=root.scope,
        source=source,
        declared=Manifest(),
        loader=lambda skill, call: Document("", ""),
    )
    return Claim(candidate, name, skill)


def place_of(claim: Claim) -> int:
    return claim.candidate.root.order


class Resolved(NamedTuple):
    """The notes by the place of their claim, and the collisions."""

    notes: dict[int, list[Note]]
    collisions: tuple[Collision, ...]


def settle(claims: list[Claim]) -> Resolved:
    """What becomes of copies of these claims."""
    copies = [Claim(one.candidate, one.name, one.skill) for one in claims]
    collisions = resolve(copies, rules=PROFILE.resolution, settings=Settings(), gate=PROFILE.gate)
    return Resolved({place_of(one): one.notes for one in copies if one.notes}, collisions)


def winners(claims: list[Claim]) -> list[Claim]:
    notes = settle(claims).notes
    return [claim for claim in claims if place_of(claim) not in notes]


@pytest.mark.seed("C-59", "C-65")
@pytest.mark.parametrize("strongest", range(len(GROUPS)))
def test_the_list_is_put_together_in_a_fixed_order_of_groups(strongest: int):
    present = GROUPS[strongest:]
    # Found in the opposite order, so that only the group can decide.
    claims = [make_claim(place, group=group) for place, group in enumerate(reversed(present))]
    winner, *losers = reversed(claims)
    assert winner.candidate.root.group == GROUPS[strongest]
    notes = settle(claims).notes
    assert {place: [(note.state, note.by) for note in found] for place, found in notes.items()} == {
        place_of(loser): [(State.SHADOWED, winner.candidate.location)] for loser in losers
    }


@pytest.mark.seed("C-59", "C-65")
def test_the_order_of_groups_holds_for_a_whole_scan(workspace: Workspace):
    roots = []
    for rank, group in enumerate(GROUPS):
        for name in GROUPS[: rank + 1]:
            workspace.skill(f"groups/{group}/{name}", name="")
        roots.append(
            make_root(workspace, f"groups/{group}", group=group, loaded_from=LoadedFrom.PLUGIN)
        )
    snapshot = workspace.scan(HOST, roots=roots[::-1])
    # A skill is called after the strongest group that has it.
    assert workspace.listed(snapshot) == {
        group: f"groups/{group}/{group}/SKILL.md" for group in GROUPS
    }
    assert snapshot.counts() == {State.SHADOWED: 21, State.READY: 7}


@pytest.mark.seed("C-65")
def test_managed_skills_rule_among_files_on_disk_and_bundled_ones_above_them(workspace: Workspace):
    files = write_levels(workspace)
    workspace.skill("bundled/same", name="")
    workspace.skill("plugin/same", name="")
    planned = workspace.scan(HOST, cwd="home/work").roots
    plugin = make_root(workspace, "plugin", group="plugin-skill", loaded_from=LoadedFrom.PLUGIN)
    bundled = make_root(workspace, "bundled", group="bundled", loaded_from=LoadedFrom.BUNDLED)
    without = workspace.scan(HOST, cwd="home/work", roots=(plugin, *planned))
    whole = workspace.scan(HOST, cwd="home/work", roots=(plugin, *planned, bundled))
    assert workspace.listed(without) == {"same": files[0]}
    assert workspace.listed(whole) == {"same": "bundled/same/SKILL.md"}


@pytest.mark.seed("C-58")
@given(st.permutations(range(len(GROUPS))))
def test_the_winner_does_not_depend_on_which_source_was_loaded_first(order: list[int]):
    claims = [make_claim(place, group=GROUPS[index]) for place, index in enumerate(order)]
    [winner] = winners(claims)
    assert winner.candidate.root.group == "bundled"


@pytest.mark.seed("C-58")
def test_a_scan_does_not_depend_on_the_order_of_disk_and_plugins(workspace: Workspace):
    for folder in ("home/.claude/skills", SKILLS, "plugin"):
        workspace.skill(f"{folder}/same", name="")
        workspace.skill(f"{folder}/of-{folder.partition('/')[0]}", name="")
    disk = workspace.scan(HOST).roots
    plugin = make_root(workspace, "plugin", group="plugin-skill", loaded_from=LoadedFrom.PLUGIN)
    first = workspace.scan(HOST, roots=(plugin, *disk))
    last = workspace.scan(HOST, roots=(*disk, plugin))
    assert workspace.ends(first) == workspace.ends(last)
    assert list(workspace.listed(first).items()) == list(workspace.listed(last).items())
    assert workspace.listed(first)["same"] == "home/.claude/skills/same/SKILL.md"


# Duplicates


@pytest.mark.seed("C-60")
def test_duplicates_are_removed_by_file_before_they_are_removed_by_name(workspace: Workspace):
    workspace.skill("managed/.claude/skills/first", name="")
    workspace.link("home/.claude/skills/second", "../../../managed/.claude/skills/first")
    workspace.skill(f"{SKILLS}/second", name="")
    # By name first, the link would have beaten the project's skill and then been dropped itself.
    assert workspace.ends(workspace.scan(HOST)) == {
        "managed/.claude/skills/first/SKILL.md": "ready",
        "home/.claude/skills/second/SKILL.md": "duplicate",
        f"{SKILLS}/second/SKILL.md": "ready",
    }


@pytest.mark.seed("C-61", "C-64")
def test_a_link_to_a_file_that_is_loaded_is_dropped(workspace: Workspace):
    workspace.skill(f"{SKILLS}/real", name="")
    workspace.link(f"{SKILLS}/zlink", "real")
    workspace.write(f"{SKILLS}/file-link/notes.txt", "")
    workspace.link(f"{SKILLS}/zfile/SKILL.md", "../real/SKILL.md")
    snapshot = workspace.scan(HOST)
    real = workspace.path(f"{SKILLS}/real/SKILL.md")
    assert {one.name: (one.state, one.reason, one.by) for one in snapshot.outcomes} == {
        "real": (State.READY, None, None),
        "zlink": (State.DUPLICATE, f"it is the same file as {real}", real),
        "zfile": (State.DUPLICATE, f"it is the same file as {real}", real),
    }


@pytest.mark.seed("C-62")
def test_two_names_of_one_inode_are_two_skills(workspace: Workspace):
    real = workspace.skill(f"{SKILLS}/one", name="")
    (workspace.root / SKILLS / "two").mkdir()
    os.link(real, workspace.root / SKILLS / "two" / "SKILL.md")
    assert workspace.ends(workspace.scan(HOST)) == {
        f"{SKILLS}/one/SKILL.md": "ready",
        f"{SKILLS}/two/SKILL.md": "ready",
    }


class FilesWithoutRealPaths(MemoryFiles):
    """Files on a machine that cannot tell where a path really leads."""

    def find_real_path(self, path: str) -> str | None:
        return None


@pytest.mark.seed("C-63")
def test_files_without_a_real_path_are_never_each_others_duplicates():
    claims = [make_claim(place, f"n{place}", real=None) for place in range(3)]
    assert settle(claims) == Resolved({}, ())
    texts = {
        f"/w/.claude/skills/{name}/SKILL.md": "---\ndescription: d\n---\n"
        for name in ("one", "two")
    }
    skills = Skills("/w", host=HOST, facts=make_facts(), files=FilesWithoutRealPaths(texts))
    assert [(one.name, one.state, one.candidate.real) for one in skills.snapshot.outcomes] == [
        ("one", State.READY, None),
        ("two", State.READY, None),
    ]


@pytest.mark.seed("C-63", "C-60")
def test_without_a_real_path_the_name_still_decides():
    claims = [make_claim(0, real=None), make_claim(1, real=None)]
    [winner] = winners(claims)
    assert place_of(winner) == 0
    [collision] = settle(claims).collisions
    assert (place_of(collision.winner), place_of(collision.loser)) == (0, 1)


@pytest.mark.seed("C-64")
def test_of_the_same_file_the_first_level_wins_and_the_others_say_so(workspace: Workspace):
    workspace.write("shared/same/SKILL.md", "---\ndescription: d\n---\nBody\n")
    files = []
    for folder in ("managed", "home", "home/work", "added"):
        workspace.link(f"{folder}/.claude/skills/same", workspace.path("shared/same"))
        files.append((f"{folder}/.claude/skills/same", "/SKILL.md"))
    workspace.link("home/work/commands/same.md", workspace.path("shared/same/SKILL.md"))
    files.append(("home/work/commands/same.md", ""))
    while files:
        snapshot = workspace.scan(HOST, cwd="home/work", add_dirs=[workspace.path("added")])
        winner, *losers = ["".join(one) for one in files]
        first = workspace.path(winner)
        assert {
            (workspace.relative(one.candidate.location), one.state, one.reason, one.by)
            for one in snapshot.outcomes
        } == {
            (winner, State.READY, None, None),
            *(
                (loser, State.DUPLICATE, f"it is the same file as {first}", first)
                for loser in losers
            ),
        }
        (workspace.root / files.pop(0)[0]).unlink()


# No registry


@pytest.mark.seed("C-102", "C-103")
def test_the_reading_functions_are_plain_functions_of_their_arguments():
    assert list(inspect.signature(read_header).parameters) == ["data", "rules", "limits"]
    assert list(inspect.signature(understand).parameters) == [
        "reading",
        "default_name",
        "required",
        "fields",
        "empty_description",
    ]
    for function in (read_header, understand):
        assert inspect.isfunction(function)
        assert function.__closure__ is None


@pytest.mark.seed("C-102", "C-103")
def test_reading_works_without_anything_being_registered_first():
    program = """
from prowess.parse.manifest.names import understand
from prowess.parse.header.fast import read_header
from prowess.profiles.load import load_profile
profile = load_profile("claude-code@documented")
reading = read_header(b"---\\ndescription: d\\n---\\n", rules=profile.header, limits=profile.limits)
print(understand(reading, default_name="server:it", required=(), fields=profile.fields).name)
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (answer.stdout, answer.stderr) == ("server:it\n", "")


def stage_modules() -> list[Path]:
    """The modules of every stage and of what lies below them."""
    source = Path(inspect.getfile(prowess)).parent
    return [
        path
        for path in sorted(source.rglob("*.py"))
        if path.relative_to(source).parts[0] in _STAGES
    ]


_STAGES = (
    "discover",
    "parse",
    "resolve",
    "gate",
    "settings",
    "profiles",
    "model",
    "ports.py",
    "diagnostics.py",
)


def is_empty_container(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, (ast.List, ast.Set)):
        return not node.elts
    if isinstance(node, ast.Constant):
        return node.value is None
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("dict", "list", "set")
    )


@pytest.mark.seed("C-102", "C-103")
def test_no_module_of_a_stage_holds_a_registry_to_be_filled_later():
    found = []
    for path in stage_modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        held = [
            one
            for one in tree.body
            if isinstance(one, (ast.Assign, ast.AnnAssign)) and is_empty_container(one.value)
        ]
        rebound = [one for one in ast.walk(tree) if isinstance(one, ast.Global)]
        found += [f"{path.name}:{one.lineno}" for one in (*held, *rebound)]
    assert found == []
    assert len(stage_modules()) > 30
