"""Claude Code as its release behaves: what later runs of it showed, in variations of the recorded
cases.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.conversation.conversation import Conversation
from prowess.model.outcome import State
from prowess.text.markup import tidy_spaces
from tests.workspace import Workspace

HOST = "claude-code"
SKILLS = "project/.claude/skills"
COMMANDS = "project/.claude/commands"


def lines(workspace: Workspace, *, cwd: str = "project") -> list[str]:
    """The lines of the catalog."""
    text = workspace.open(HOST, cwd=cwd).catalog(context_tokens=200_000).text
    return [line.removeprefix("- ") for line in text.partition("\n\n")[2].splitlines()]


def describe(workspace: Workspace, path: str, header: str = "") -> None:
    """Write a file with its own path as the description."""
    workspace.write(path, f"---\ndescription: {path}\n{header}---\nBody\n")


# Settings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"skillOverrides": {"two": "off"}} // done',
        '{"skillOverrides": {"two": "off"}, /* x */ "model": "m"}',
        '{"skillOverrides": {"two": "off",}}',
        "{'skillOverrides': {'two': 'off'}}",
        '{skillOverrides: {"two": "off"}}',
        '{"skillOverrides": {"two": "off", "one": "sometimes"}}',
        '{"skillOverrides": {"two": "off"}, "skillListingBudgetFraction": "much"}',
        '{"skillOverrides": {"two": "off"}, "permissions": {"deny": "Skill(one)"}}',
        '{"skillOverrides": {"two": "off"}, "skillListingMaxDescChars": NaN}',
    ],
)
@pytest.mark.parametrize(
    "file",
    [
        "home/.claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "managed/managed-settings.json",
    ],
)
def test_a_settings_file_that_is_wrong_anywhere_is_ignored_as_a_whole(
    workspace: Workspace, file: str, text: str
):
    workspace.skill(f"{SKILLS}/one")
    workspace.skill(f"{SKILLS}/two")
    workspace.write(file, text)
    assert lines(workspace) == ["one: d", "two: d"]
    [finding] = workspace.scan(HOST).diagnostics
    assert (finding.code, finding.file) == ("settings-ignored", workspace.path(file))


def test_the_other_settings_files_still_count(workspace: Workspace):
    workspace.skill(f"{SKILLS}/one")
    workspace.skill(f"{SKILLS}/two")
    workspace.write("project/.claude/settings.json", "{")
    workspace.write("home/.claude/settings.json", '{"skillOverrides": {"two": "off"}}')
    assert lines(workspace) == ["one: d"]


@pytest.mark.parametrize(
    ("value", "is_locked"),
    [("true", True), ('["skills"]', True), ('["hooks"]', False), ("[]", False), ("false", False)],
)
def test_managed_settings_can_leave_only_plugins_and_managed_skills(
    workspace: Workspace, value: str, is_locked: bool
):
    workspace.skill(f"{SKILLS}/project")
    workspace.skill("home/.claude/skills/user")
    workspace.skill("managed/.claude/skills/managed")
    describe(workspace, f"{COMMANDS}/command.md")
    workspace.write(
        "managed/managed-settings.json", f'{{"strictPluginOnlyCustomization": {value}}}'
    )
    found = [line.partition(":")[0] for line in lines(workspace)]
    assert found == (["managed"] if is_locked else ["managed", "user", "project", "command"])


# Worktrees


def make_worktree(workspace: Workspace, *, back: str = "../../../../project/.git") -> None:
    workspace.write("main/.git/HEAD", "ref: refs/heads/main\n")
    workspace.write("main/.git/worktrees/wt/commondir", "../..\n")
    workspace.write("main/.git/worktrees/wt/gitdir", f"{back}\n")
    workspace.write("project/.git", "gitdir: ../main/.git/worktrees/wt\n")
    describe(workspace, "main/.claude/skills/in-main/SKILL.md")
    describe(workspace, "main/.claude/commands/mc.md")


def test_a_worktree_without_folders_of_its_own_uses_those_of_the_main_checkout(
    workspace: Workspace,
):
    make_worktree(workspace)
    expected = [
        "in-main: main/.claude/skills/in-main/SKILL.md",
        "mc: main/.claude/commands/mc.md",
    ]
    assert lines(workspace) == expected
    describe(workspace, "project/pkg/x.md")
    assert lines(workspace, cwd="project/pkg") == expected


def test_git_may_name_its_folders_by_absolute_paths(workspace: Workspace):
    make_worktree(workspace, back=workspace.path("project/.git"))
    workspace.write("project/.git", f"gitdir: {workspace.path('main/.git/worktrees/wt')}\n")
    assert len(lines(workspace)) == 2


@pytest.mark.parametrize("kept", ["skills", "commands"])
def test_a_folder_of_the_worktree_counts_even_if_it_is_empty(workspace: Workspace, kept: str):
    make_worktree(workspace)
    (workspace.project / ".claude" / kept).mkdir(parents=True)
    [line] = lines(workspace)
    assert line.startswith("mc" if kept == "skills" else "in-main")


def test_only_the_top_folder_of_a_worktree_is_replaced(workspace: Workspace):
    make_worktree(workspace)
    describe(workspace, "main/pkg/.claude/skills/pkg/SKILL.md")
    describe(workspace, f"{SKILLS}/own/SKILL.md")
    describe(workspace, "project/pkg/x.md")
    assert [line.partition(":")[0] for line in lines(workspace, cwd="project/pkg")] == ["own", "mc"]


def test_a_git_file_that_the_other_repository_does_not_know_leads_nowhere(workspace: Workspace):
    make_worktree(workspace, back="../../../../elsewhere/.git")
    assert lines(workspace) == []


# Skills that wait


def find(conversation: Conversation) -> str:
    """The file of the skill `a`."""
    outcome = conversation.snapshot.find("a")
    assert outcome is not None
    assert outcome.state is State.READY
    return outcome.candidate.location


@pytest.mark.parametrize(
    ("paths", "waits"),
    [
        ('"**"', False),
        ('"/**"', False),
        ('"**/**"', False),
        ('["**", "**"]', False),
        ('["/**", "**/**"]', False),
        ('"**, /**"', False),
        ('"**/*"', True),
        ('"*"', True),
        ('"**/"', True),
        ('"./**"', True),
        ('"***"', True),
        ('["**", "src/**"]', True),
        ('["src/**", "**"]', True),
        ('"**/*.md"', True),
    ],
)
def test_patterns_that_match_everything_are_no_condition(
    workspace: Workspace, paths: str, waits: bool
):
    describe(workspace, f"{SKILLS}/it/SKILL.md", f"paths: {paths}\n")
    assert bool(lines(workspace)) is not waits


def test_a_waiting_skill_hides_neither_a_skill_nor_a_command_of_its_name(workspace: Workspace):
    describe(workspace, "home/.claude/skills/a/SKILL.md", "paths: src/**\n")
    describe(workspace, f"{SKILLS}/a/SKILL.md")
    describe(workspace, f"{SKILLS}/b/SKILL.md", "paths: src/**\n")
    describe(workspace, f"{COMMANDS}/b.md")
    describe(workspace, f"{SKILLS}/c/SKILL.md", "paths: src/**\n")
    assert lines(workspace) == [f"a: {SKILLS}/a/SKILL.md", f"b: {COMMANDS}/b.md"]


def test_when_it_wakes_it_takes_its_name(workspace: Workspace):
    describe(workspace, "home/.claude/skills/a/SKILL.md", "paths: SRC/**\n")
    describe(workspace, f"{SKILLS}/a/SKILL.md")
    workspace.write("project/src/x.py")
    conversation = workspace.open(HOST).conversation()
    assert find(conversation) == workspace.path(f"{SKILLS}/a/SKILL.md")
    woken = conversation.touched("src/x.py")
    assert [skill.location for skill in woken] == [workspace.path("home/.claude/skills/a/SKILL.md")]
    assert find(conversation) == workspace.path("home/.claude/skills/a/SKILL.md")


def test_one_that_is_weaker_stays_behind_the_other_even_awake(workspace: Workspace):
    describe(workspace, "home/.claude/skills/a/SKILL.md")
    describe(workspace, f"{SKILLS}/a/SKILL.md", "paths: src/**\n")
    conversation = workspace.open(HOST).conversation()
    assert conversation.touched("src/x.py") == ()
    assert find(conversation) == workspace.path("home/.claude/skills/a/SKILL.md")


def test_two_that_wait_for_one_name_compete_with_each_other(workspace: Workspace):
    describe(workspace, "home/.claude/skills/a/SKILL.md", "paths: x/**\n")
    describe(workspace, f"{SKILLS}/a/SKILL.md", "paths: y/**\n")
    assert workspace.ends(workspace.scan(HOST)) == {
        "home/.claude/skills/a/SKILL.md": "dormant",
        f"{SKILLS}/a/SKILL.md": "shadowed",
    }


def test_a_nested_skill_whose_name_is_taken_is_listed_with_its_folder(workspace: Workspace):
    workspace.git()
    workspace.skill(f"{SKILLS}/same", description="top")
    workspace.skill(f"{SKILLS}/zz", description="top")
    workspace.skill("project/sub/.claude/skills/same", description="sub")
    workspace.skill("project/sub/deep/.claude/skills/same", description="deep")
    workspace.skill("project/sub/deep/.claude/skills/own", description="deep")
    conversation = workspace.open(HOST).conversation()
    conversation.touched("sub/deep/x.py")
    text = conversation.catalog().text.partition("\n\n")[2]
    assert text.splitlines() == [
        "- same: top",
        "- zz: top",
        "- own: deep",
        "- sub:same: sub",
        "- sub/deep:same: deep",
    ]


# Commands


def test_an_empty_command_is_a_custom_command_and_an_empty_skill_a_skill(workspace: Workspace):
    workspace.write(f"{COMMANDS}/c.md")
    workspace.write(f"{SKILLS}/s/SKILL.md")
    assert lines(workspace) == ["s: Skill", "c: Custom command"]


def test_commands_are_searched_in_hidden_and_linked_folders(workspace: Workspace):
    describe(workspace, f"{COMMANDS}/.hid/x.md")
    describe(workspace, "store/y.md")
    describe(workspace, f"{COMMANDS}/z.MD")
    workspace.link(f"{COMMANDS}/linked", "../../../store")
    workspace.link(f"{COMMANDS}/loop", "..")
    assert lines(workspace) == [f".hid:x: {COMMANDS}/.hid/x.md", "linked:y: store/y.md"]


@pytest.mark.parametrize("name", ["SKILL.md", "skill.md", "Skill.md"])
def test_a_skill_among_commands_hides_its_siblings_but_not_what_is_below(
    workspace: Workspace, name: str
):
    for path in (f"grp/{name}", "grp/extra.md", "grp/deep/y.md", "other.md"):
        describe(workspace, f"{COMMANDS}/{path}")
    assert [line.rpartition(": ")[0] for line in lines(workspace)] == ["grp", "grp:deep:y", "other"]
    assert workspace.ends(workspace.scan(HOST))[f"{COMMANDS}/grp/extra.md"] == "skipped"


def test_the_commands_of_all_folders_are_in_one_order(workspace: Workspace):
    workspace.git()
    for folder, name in (("home", "b"), ("project", "c"), ("project/sub", "a")):
        describe(workspace, f"{folder}/.claude/commands/{name}.md")
    assert [line[0] for line in lines(workspace, cwd="project/sub")] == ["a", "b", "c"]


# Labels


@pytest.mark.parametrize(
    "label", ["Fancy", "a_b", "a.b", "a:b", "-a", "1a", "ünï", "x" * 70, "技能"]
)
def test_a_label_of_letters_digits_and_a_few_marks_is_shown(workspace: Workspace, label: str):
    workspace.skill(f"{SKILLS}/it", name=json.dumps(label, ensure_ascii=False))
    assert lines(workspace) == [f"it ({label}): d"]


@pytest.mark.parametrize(
    "label", ["two words", "a/b", "a&b", "a,b", "(a)", "a(", "~a", "it's", 'q"q', "🚀", "a\u200bb"]
)
def test_any_other_label_is_left_out(workspace: Workspace, label: str):
    workspace.skill(f"{SKILLS}/it", name=json.dumps(label))
    assert lines(workspace) == ["it: d"]


def test_a_label_that_is_taken_is_left_out(workspace: Workspace):
    for name, label in (("a", "Twin"), ("b", "Twin"), ("c", "d"), ("d", "d"), ("e", "compact")):
        workspace.skill(f"{SKILLS}/{name}", name=label)
    assert lines(workspace) == ["a (Twin): d", "b: d", "c: d", "d: d", "e: d"]
    skills = workspace.open(HOST)
    assert (skills.get("Twin").name, skills.get("d").name) == ("a", "d")


def test_a_list_as_a_name_or_a_time_is_joined(workspace: Workspace):
    describe(workspace, f"{SKILLS}/it/SKILL.md", "name: [Fancy]\nwhen_to_use: [a, 2, true]\n")
    assert lines(workspace) == [f"it (Fancy): {SKILLS}/it/SKILL.md - a,2,true"]


# Names


@pytest.mark.parametrize(
    "name",
    ["<b>", "a>b", "a\tb", "a\nb", "a\xa0b", "a\u200bb", "\u202eb", "a\ufeffb", "synced", "SynCed"],
)
def test_folders_with_such_names_are_dropped_but_not_lost(workspace: Workspace, name: str):
    workspace.write(f"{SKILLS}/{name}/SKILL.md", "---\ndescription: d\n---\n")
    assert lines(workspace) == []
    assert set(workspace.ends(workspace.scan(HOST)).values()) <= {"invalid", "skipped"}


@pytest.mark.parametrize("name", [".git", "node_modules", "a&b", "a b", "é", "😀", "{x}", "clear"])
def test_folders_with_other_odd_names_are_listed(workspace: Workspace, name: str):
    workspace.write(f"{SKILLS}/{name}/SKILL.md", "---\ndescription: d\n---\n")
    assert lines(workspace) == [f"{name}: d"]


# Text


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 97 + "..."),
        ("# " + "x" * 101, "x" * 97 + "..."),
        ("🎉" * 50, "🎉" * 50),
        ("🎉" * 51, "🎉" * 48 + " ..."),
        ("#\n\nsecond", "#"),
        ("########## ten", "ten"),
        ("#none", "#none"),
        ("\n\n  text  \nmore", "text"),
    ],
)
def test_without_a_description_the_first_line_of_the_body_is_cut(
    workspace: Workspace, body: str, line: str
):
    workspace.write(f"{SKILLS}/it/SKILL.md", f"{body}\n")
    assert lines(workspace) == [f"it: {line}"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a  b\tc", "a  b c"),
        ("a\n\nb", "a b"),
        (" a ", "a"),
        ("a\u200bb\xadc\ufeffd\u2060e", "a b c d e"),
        ("a\x07b\0c", "a b c"),
        ("a\u202eb\u2066c", "a b c"),
        ("a\r\nb", "a b"),
        ("a\xa0b\u2003c", "a\xa0b\u2003c"),
        ("a\u2028b\x85c", "a b c"),
    ],
)
def test_what_cannot_be_seen_becomes_a_space_and_spaces_stay(
    workspace: Workspace, text: str, shown: str
):
    workspace.write(f"{SKILLS}/it/SKILL.md", f"---\ndescription: {json.dumps(text)}\n---\n")
    assert lines(workspace) == [f"it: {shown}"]


@given(st.text())
def test_a_text_with_its_own_spaces_is_still_one_line(text: str):
    tidied = tidy_spaces(text)
    assert len(tidied.splitlines()) <= 1
    assert len(tidied) <= len(text)


def test_a_file_with_lone_carriage_returns_has_no_header(workspace: Workspace):
    workspace.write(f"{SKILLS}/it/SKILL.md", "---\rname: it\rdescription: d\r---\rB\r")
    assert lines(workspace) == ["it: --- name: it description: d --- B"]
    [outcome] = workspace.scan(HOST).outcomes
    assert "header-missing" in [finding.code for finding in outcome.diagnostics]
