"""Claude Code as its release behaves, in what the recorded cases do not hold, and where it left its
document.
"""

from __future__ import annotations

from typing import Any

import pytest

from prowess.errors import UnknownSkill
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Override
from prowess.model.skill import LoadedFrom, Manifest, Root, Scope, Source
from tests.workspace import Workspace

HOST = "claude-code"
DOCUMENTED = "claude-code@documented"
SKILLS = "project/.claude/skills"


def write(workspace: Workspace, *paths: str) -> None:
    """Write these files, each described by its own path; a folder gets a SKILL.md."""
    for path in paths:
        file = path if path.endswith(".md") else f"{path}/SKILL.md"
        workspace.write(file, f"---\ndescription: {file}\n---\nBody\n")


def read(workspace: Workspace, text: str | bytes, host: str = HOST) -> Outcome:
    """The outcome of one SKILL.md of the project."""
    path = f"{SKILLS}/it/SKILL.md"
    workspace.write(path, text)
    return workspace.outcome(workspace.scan(host), path)


def names(workspace: Workspace, host: str = HOST, **options: Any) -> list[str]:
    return list(workspace.listed(workspace.scan(host, **options)))


# Who wins


def test_the_enterprise_beats_the_person_and_the_person_the_project(workspace: Workspace):
    write(workspace, *(f"{folder}/.claude/skills/all" for folder in ("managed", "home", "project")))
    write(workspace, "home/.claude/skills/two", f"{SKILLS}/two")
    write(workspace, "managed/.claude/skills/ends", f"{SKILLS}/ends")
    assert workspace.listed(workspace.scan(HOST)) == {
        "all": "managed/.claude/skills/all/SKILL.md",
        "two": "home/.claude/skills/two/SKILL.md",
        "ends": "managed/.claude/skills/ends/SKILL.md",
    }


def test_a_personal_command_loses_to_a_project_skill(workspace: Workspace):
    write(workspace, "home/.claude/commands/same.md", f"{SKILLS}/same")
    assert workspace.ends(workspace.scan(HOST)) == {
        "home/.claude/commands/same.md": "shadowed",
        f"{SKILLS}/same/SKILL.md": "ready",
    }


def test_a_personal_command_beats_a_project_command(workspace: Workspace):
    write(workspace, "home/.claude/commands/same.md", "project/.claude/commands/same.md")
    assert workspace.ends(workspace.scan(HOST)) == {
        "home/.claude/commands/same.md": "ready",
        "project/.claude/commands/same.md": "shadowed",
    }


def test_of_a_repositorys_folders_the_nearest_wins(workspace: Workspace):
    workspace.git()
    write(
        workspace,
        f"{SKILLS}/same",
        "project/sub/.claude/skills/same",
        f"{SKILLS}/far",
        ".claude/skills/outside",
    )
    assert workspace.ends(workspace.scan(HOST, cwd="project/sub")) == {
        f"{SKILLS}/same/SKILL.md": "shadowed",
        "project/sub/.claude/skills/same/SKILL.md": "ready",
        f"{SKILLS}/far/SKILL.md": "ready",
    }


def test_without_a_repository_the_walk_goes_on_to_home(workspace: Workspace):
    write(
        workspace,
        "home/a/.claude/skills/one",
        "home/a/b/.claude/skills/two",
        ".claude/skills/above",
    )
    assert names(workspace, cwd="home/a/b") == ["one", "two"]


def test_names_are_told_apart_by_case(workspace: Workspace):
    write(workspace, f"{SKILLS}/plain", f"{SKILLS}/Plain")
    skills = workspace.open(HOST)
    assert [one.name for one in skills.snapshot.skills] == ["Plain", "plain"]
    with pytest.raises(UnknownSkill):
        skills.get("PLAIN")


# Commands


def test_commands_are_named_by_their_folders(workspace: Workspace):
    write(
        workspace,
        "project/.claude/commands/x.md",
        "project/.claude/commands/sub/x.md",
        "project/.claude/commands/d",
    )
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {
        "d": "project/.claude/commands/d/SKILL.md",
        "sub:x": "project/.claude/commands/sub/x.md",
        "x": "project/.claude/commands/x.md",
    }
    assert {one.source.loaded_from for one in snapshot.skills} == {LoadedFrom.COMMANDS}


def test_a_command_has_neither_a_label_nor_paths(workspace: Workspace):
    text = "---\nname: other\ndescription: d\npaths: '*.py'\nmodel: haiku\n---\nBody\n"
    workspace.write("project/.claude/commands/x.md", text)
    workspace.write(f"{SKILLS}/y/SKILL.md", text)
    command, skill = workspace.scan(HOST).outcomes
    assert command.skill is not None
    assert (command.name, command.skill.label, command.state) == ("x", None, State.READY)
    assert command.skill.manifest == Manifest(description="d", model="haiku")
    assert skill.skill is not None
    assert (skill.name, skill.skill.label, skill.state) == ("y", "other", State.DORMANT)
    assert skill.skill.manifest == Manifest(
        name="other", description="d", model="haiku", paths=("*.py",)
    )


# Places


def test_synced_is_reserved_and_other_odd_folders_are_loaded(workspace: Workspace):
    write(
        workspace,
        *(
            f"{SKILLS}/{folder}"
            for folder in ("synced", ".dot", "node_modules", "a b", "synced-too")
        ),
    )
    write(workspace, "home/.claude/skills/synced", "managed/.claude/skills/synced")
    assert names(workspace) == [".dot", "a b", "node_modules", "synced-too"]


def test_added_folders_bring_their_skills_and_commands(workspace: Workspace):
    write(
        workspace,
        "added/.claude/skills/one",
        "added/.claude/commands/two.md",
        "added/three",
        "added/skills/four",
    )
    snapshot = workspace.scan(HOST, add_dirs=[workspace.path("added")])
    assert workspace.ends(snapshot) == {
        "added/.claude/skills/one/SKILL.md": "ready",
        "added/.claude/commands/two.md": "ready",
    }
    assert {one.scope for one in snapshot.skills} == {Scope.ADDED}


def test_the_configuration_folder_can_be_moved(workspace: Workspace):
    write(
        workspace,
        "home/.claude/skills/old",
        "moved/skills/new",
        "moved/commands/command.md",
        "moved/skills/off",
    )
    workspace.write("moved/settings.json", '{"skillOverrides": {"off": "off"}}')
    assert names(workspace, env={"CLAUDE_CONFIG_DIR": workspace.path("moved")}) == [
        "command",
        "new",
    ]


@pytest.mark.parametrize("options", [{"bare": True}, {"env": {"CLAUDE_CODE_SIMPLE": "1"}}])
def test_bare_leaves_only_what_was_added(workspace: Workspace, options: dict[str, Any]):
    for folder in ("managed", "home", "project", "added"):
        write(workspace, f"{folder}/.claude/skills/same", f"{folder}/.claude/skills/of-{folder}")
    write(workspace, "home/.claude/commands/mine.md", "project/.claude/commands/ours.md")
    snapshot = workspace.scan(HOST, add_dirs=[workspace.path("added")], **options)
    assert workspace.listed(snapshot) == {
        "of-added": "added/.claude/skills/of-added/SKILL.md",
        "same": "added/.claude/skills/same/SKILL.md",
    }
    assert snapshot.counts() == {State.DISABLED: 8, State.READY: 2}


@pytest.mark.parametrize("value", ["0", "false", ""])
def test_a_switch_that_says_no_switches_nothing_off(workspace: Workspace, value: str):
    write(workspace, f"{SKILLS}/it")
    assert names(workspace, env={"CLAUDE_CODE_SIMPLE": value}) == ["it"]


def test_no_other_switch_turns_managed_skills_off(workspace: Workspace):
    # The release lets this variable do so; a policy that a variable can lift is none.
    write(workspace, "managed/.claude/skills/policy")
    assert names(workspace, env={"CLAUDE_CODE_DISABLE_POLICY_SKILLS": "1"}) == ["policy"]


def test_a_project_that_is_also_added_counts_once(workspace: Workspace):
    write(workspace, f"{SKILLS}/it")
    snapshot = workspace.scan(HOST, add_dirs=[workspace.path("project")])
    assert workspace.ends(snapshot) == {f"{SKILLS}/it/SKILL.md": "ready"}
    assert [(one.name, one.scope) for one in snapshot.skills] == [("it", Scope.PROJECT)]


@pytest.mark.parametrize("cwd", ["home", "home/sub"])
def test_what_lies_at_home_is_the_users_and_no_project(workspace: Workspace, cwd: str):
    workspace.git("home")
    write(
        workspace, "home/.claude/skills/it", "home/.claude/commands/command.md", "home/sub/notes.md"
    )
    snapshot = workspace.scan(HOST, cwd=cwd)
    assert {one.name: one.scope for one in snapshot.skills} == {
        "it": Scope.USER,
        "command": Scope.USER,
    }
    assert len(snapshot.outcomes) == 2


# Labels and settings


def test_a_skill_can_be_asked_for_by_folder_and_by_label(workspace: Workspace):
    workspace.write(f"{SKILLS}/folder/SKILL.md", "---\nname: Fancy-Label\ndescription: d\n---\n")
    workspace.write(f"{SKILLS}/number/SKILL.md", "---\nname: 7\ndescription: d\n---\n")
    workspace.write(f"{SKILLS}/same/SKILL.md", "---\nname: same\ndescription: d\n---\n")
    skills = workspace.open(HOST)
    assert [(one.name, one.label) for one in skills.snapshot.skills] == [
        ("folder", "Fancy-Label"),
        ("number", "7"),
        ("same", None),
    ]
    assert skills.get("Fancy-Label") is skills.get("folder")


def test_overrides_take_skills_out_or_keep_them_from_the_model(workspace: Workspace):
    write(
        workspace, *(f"{SKILLS}/{name}" for name in ("on", "name-only", "user", "off", "unnamed"))
    )
    words = '"on": "on", "name-only": "name-only", "user": "user-invocable-only", "off": "off"'
    workspace.write("home/.claude/settings.json", f'{{"skillOverrides": {{{words}}}}}')
    snapshot = workspace.scan(HOST)
    assert {one.name: (one.state.value, one.rule) for one in snapshot.outcomes} == {
        "on": ("ready", None),
        "name-only": ("ready", None),
        "user": ("hidden", "overrides.user.visibility"),
        "off": ("disabled", "overrides.off"),
        "unnamed": ("ready", None),
    }
    assert snapshot.settings.overrides["name-only"] == Override(visibility="name-only")
    assert [one.name for one in snapshot.shown] == ["name-only", "on", "unnamed", "user"]


def test_nearer_settings_override_farther_ones_and_managed_ones_all(workspace: Workspace):
    write(workspace, *(f"{SKILLS}/{name}" for name in ("a", "b", "c", "d")))
    for path, words in {
        "home/.claude/settings.json": '"a": "off", "b": "off", "c": "off", "d": "off"',
        "project/.claude/settings.json": '"b": "on", "c": "on", "d": "on"',
        "project/.claude/settings.local.json": '"c": "off", "d": "off"',
        "managed/managed-settings.json": '"d": "on"',
    }.items():
        workspace.write(path, f'{{"skillOverrides": {{{words}}}}}')
    assert names(workspace) == ["b", "d"]


def test_a_skill_that_is_switched_off_keeps_its_name(workspace: Workspace):
    write(workspace, "home/.claude/skills/same", f"{SKILLS}/same")
    workspace.write("home/.claude/settings.json", '{"skillOverrides": {"same": "off"}}')
    assert workspace.ends(workspace.scan(HOST)) == {
        "home/.claude/skills/same/SKILL.md": "disabled",
        f"{SKILLS}/same/SKILL.md": "disabled",
    }


# The header


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("true", True),
        ("Yes", True),
        ("ON", True),
        ("1", True),
        ('"true"', True),
        ("false", False),
        ("no", False),
        ("Off", False),
        ("0", False),
        ("maybe", None),
        ("2", None),
        ("[]", None),
    ],
)
def test_flags_are_truth_words_and_anything_else_is_the_default(
    workspace: Workspace, word: str, meant: bool | None
):
    header = f"description: d\ndisable-model-invocation: {word}\nuser-invocable: {word}\n"
    outcome = read(workspace, f"---\n{header}---\nBody\n")
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(
        description="d", disable_model_invocation=meant, user_invocable=meant
    )
    assert outcome.state is (State.HIDDEN if meant else State.READY)


@pytest.mark.parametrize("field", ["when-to-use", "allowed_tools", "tools"])
def test_a_field_in_another_spelling_has_no_effect(workspace: Workspace, field: str):
    outcome = read(workspace, f"---\ndescription: d\n{field}: Read\n---\nBody\n")
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(description="d")
    assert outcome.skill.frontmatter == {"description": "d", field: "Read"}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\ndescription: d\n---\nBody\n",
        "---\r\ndescription: d\r\n---\r\nBody\n",
        "---  \ndescription: d\n---  \nBody\n",
        "---\t\ndescription: d\n---\t\nBody\n",
    ],
)
def test_a_byte_order_mark_line_ends_and_blanks_make_no_difference(workspace: Workspace, text: str):
    outcome = read(workspace, text.encode())
    assert outcome.skill is not None
    assert (outcome.skill.description, outcome.skill.content) == ("d", "Body\n")


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("\n---\ndescription: d\n---\nBody\n", "---"),
        ("---\ndescription: d\n...\nBody\n", "---"),
        ("---\ndescription: d\nBody\n", "---"),
        ("# Heading\n\nText\n", "Heading"),
        ("\n\n## Later heading\n", "Later heading"),
    ],
)
def test_what_is_no_header_is_body_and_its_first_line_the_description(
    workspace: Workspace, text: str, description: str
):
    outcome = read(workspace, text)
    assert outcome.skill is not None
    assert (outcome.state, outcome.skill.frontmatter) == (State.READY, {})
    assert (outcome.skill.description, outcome.skill.content) == (description, text)


@pytest.mark.parametrize(
    ("paths", "state"), [("'**'", State.READY), ("'*.md'", State.DORMANT), ("docs/", State.DORMANT)]
)
def test_a_skill_with_paths_waits_unless_they_are_everything(
    workspace: Workspace, paths: str, state: State
):
    assert read(workspace, f"---\ndescription: d\npaths: {paths}\n---\nBody\n").state is state


def test_bytes_that_are_not_utf8_become_the_replacement_character(workspace: Workspace):
    outcome = read(workspace, b"---\ndescription: caf\xe9\n---\nBody\n")
    assert outcome.skill is not None
    assert outcome.skill.description == "caf\ufffd"
    assert [one.code for one in outcome.diagnostics] == ["not-utf8"]


# What the release changed


def make_bundled(workspace: Workspace) -> Root:
    path = workspace.path("bundled")
    source = Source("claude", "bundled", path, LoadedFrom.BUNDLED, "claude:bundled")
    return Root(path=path, scope=Scope.BUNDLED, source=source, order=0, group="bundled")


@pytest.mark.parametrize("folder", ["managed", "home", "project"])
def test_only_in_the_document_is_a_bundled_skill_the_strongest(workspace: Workspace, folder: str):
    write(workspace, f"{folder}/.claude/skills/same", "bundled/same")
    bundled = make_bundled(workspace)
    won = [
        workspace.listed(workspace.scan(host, roots=(bundled, *workspace.scan(host).roots)))
        for host in (DOCUMENTED, HOST)
    ]
    assert won == [
        {"same": "bundled/same/SKILL.md"},
        {"same": f"{folder}/.claude/skills/same/SKILL.md"},
    ]


def test_only_the_document_reports_fields_that_its_type_does_not_have(workspace: Workspace):
    fields = [
        "name",
        "disable-model-invocation",
        "disallowed-tools",
        "background",
        "metadata",
        "license",
        "compatibility",
    ]
    values = ["it", "false", "Write", "true", "{a: b}", "MIT", "any"]
    header = "".join(f"{field}: {value}\n" for field, value in zip(fields, values, strict=True))
    text = f"---\ndescription: d\n{header}---\nBody\n"
    documented, current = read(workspace, text, DOCUMENTED), read(workspace, text)
    assert [(one.code, one.field) for one in documented.diagnostics] == [
        ("field-unknown", field) for field in fields
    ]
    assert current.diagnostics == ()
    assert current.skill is not None
    assert current.skill.manifest == Manifest(
        name="it",
        description="d",
        disable_model_invocation=False,
        disallowed_tools=("Write",),
        background=True,
        metadata={"a": "b"},
        license="MIT",
        compatibility="any",
    )


@pytest.mark.parametrize("host", [HOST, DOCUMENTED])
def test_effort_takes_the_word_that_the_release_added_in_both_editions(
    workspace: Workspace, host: str
):
    outcome = read(workspace, "---\ndescription: d\neffort: xhigh\n---\nBody\n", host)
    assert outcome.skill is not None
    codes = [one.code for one in outcome.diagnostics]
    assert (outcome.skill.manifest.effort, codes) == ("xhigh", [])


def test_only_the_document_searches_above_the_repository(workspace: Workspace):
    workspace.git("home/work/repository")
    write(workspace, "home/work/.claude/skills/above", "home/work/repository/.claude/skills/at")
    found = [names(workspace, host, cwd="home/work/repository") for host in (DOCUMENTED, HOST)]
    assert found == [["above", "at"], ["at"]]


def test_only_the_document_skips_what_git_ignores_in_a_skills_folder(workspace: Workspace):
    workspace.git()
    workspace.write("project/.gitignore", ".claude/skills/ignored/\n")
    write(workspace, f"{SKILLS}/ignored")
    ends = [workspace.ends(workspace.scan(host)) for host in (DOCUMENTED, HOST)]
    assert ends == [
        {f"{SKILLS}/ignored/SKILL.md": "skipped"},
        {f"{SKILLS}/ignored/SKILL.md": "ready"},
    ]


def test_only_the_document_has_commands_beside_the_claude_folder_and_none_at_the_users(
    workspace: Workspace,
):
    write(workspace, "project/commands/beside.md", "project/.claude/commands/inside.md")
    write(workspace, "home/.claude/commands/personal.md")
    found = [names(workspace, host) for host in (DOCUMENTED, HOST)]
    assert found == [["beside", "inside"], ["inside", "personal"]]


def test_only_the_release_closes_a_header_in_the_middle_of_a_line(workspace: Workspace):
    text = "---\ndescription: a --- b\n---\nBody\n"
    documented, current = read(workspace, text, DOCUMENTED), read(workspace, text)
    assert documented.skill is not None
    assert current.skill is not None
    assert (documented.skill.description, documented.skill.content) == ("a --- b", "Body\n")
    assert (current.skill.description, current.skill.content) == ("a", "b\n---\nBody\n")


def test_only_the_release_gives_an_added_skill_a_name_of_its_own(workspace: Workspace):
    write(workspace, f"{SKILLS}/same", "addd/.claude/skills/same", "addd/.claude/skills/free")
    found = [
        workspace.listed(workspace.scan(host, add_dirs=[workspace.path("addd")]))
        for host in (DOCUMENTED, HOST)
    ]
    free, own = "addd/.claude/skills/free/SKILL.md", f"{SKILLS}/same/SKILL.md"
    assert found == [
        {"free": free, "same": own},
        {"free": free, "same": own, "addd:same": "addd/.claude/skills/same/SKILL.md"},
    ]


def test_a_name_of_its_own_holds_wherever_the_skill_is_asked_for(workspace: Workspace):
    write(workspace, "home/.claude/skills/same", "addd/.claude/skills/same")
    skills = workspace.open(HOST, add_dirs=[workspace.path("addd")])
    added = workspace.path("addd/.claude/skills/same/SKILL.md")
    assert (skills.get("addd:same").name, skills.get("addd:same").location) == ("addd:same", added)
    assert skills.get("same").location == workspace.path("home/.claude/skills/same/SKILL.md")
    assert skills.snapshot.counts() == {State.READY: 2}


def test_every_added_folder_has_names_of_its_own(workspace: Workspace):
    write(
        workspace,
        f"{SKILLS}/same",
        *(f"{folder}/.claude/skills/same" for folder in ("one", "two", "far/two")),
    )
    folders = [workspace.path(folder) for folder in ("one", "two", "far/two")]
    assert workspace.ends(workspace.scan(HOST, add_dirs=folders)) == {
        f"{SKILLS}/same/SKILL.md": "ready",
        "one/.claude/skills/same/SKILL.md": "ready",
        "two/.claude/skills/same/SKILL.md": "ready",
        "far/two/.claude/skills/same/SKILL.md": "shadowed",
    }
    assert names(workspace, add_dirs=folders) == ["one:same", "same", "two:same"]


def test_a_command_of_an_added_folder_loses_to_its_skill(workspace: Workspace):
    write(workspace, "addd/.claude/skills/same", "addd/.claude/commands/same.md")
    assert workspace.listed(workspace.scan(HOST, add_dirs=[workspace.path("addd")])) == {
        "same": "addd/.claude/skills/same/SKILL.md"
    }


@pytest.mark.parametrize("host", [HOST, DOCUMENTED])
def test_a_skill_can_be_switched_off_in_both_editions(workspace: Workspace, host: str):
    # The document knows no switch of a single skill; Prowess has one for every host.
    write(workspace, f"{SKILLS}/it")
    workspace.write("home/.claude/settings.json", '{"skillOverrides": {"it": "off"}}')
    assert workspace.ends(workspace.scan(host)) == {f"{SKILLS}/it/SKILL.md": "disabled"}


def test_bare_leaves_the_commands_of_an_added_folder_out(workspace):
    workspace.skill("added/.claude/skills/kept")
    workspace.write("added/.claude/commands/old.md", "---\ndescription: d\n---\nText\n")
    options = {"add_dirs": [workspace.path("added")]}
    assert set(workspace.listed(workspace.scan("claude-code", **options))) == {"kept", "old"}
    assert set(workspace.listed(workspace.scan("claude-code", bare=True, **options))) == {"kept"}
