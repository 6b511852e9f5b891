"""opencode as its current release behaves, where no recorded case says it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping

import pytest

from prowess.errors import SwitchError
from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.ports import Event
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "opencode"
EXTERNAL = "OPENCODE_DISABLE_EXTERNAL_SKILLS"
CLAUDE_SKILLS = "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"
CLAUDE = "OPENCODE_DISABLE_CLAUDE_CODE"
PROJECT = "OPENCODE_DISABLE_PROJECT_CONFIG"
TRUE_WORDS = ["true", "yes", "on", "1", "y"]
FALSE_WORDS = ["false", "no", "off", "0", "n"]


def set_paths(workspace: Workspace, file: str, *paths: str) -> None:
    workspace.write(file, json.dumps({"skills": {"paths": paths}}))


# Environment switches

SOURCES = {
    "home-claude": "home/.claude/skills",
    "home-agents": "home/.agents/skills",
    "project-claude": "project/.claude/skills",
    "project-agents": "project/.agents/skills",
    "config": "home/.config/opencode/skills",
    "project": "project/.opencode/skills",
    "home": "home/.opencode/skills",
    "custom": "home/mine",
}


@pytest.fixture
def everywhere(workspace: Workspace) -> Workspace:
    """One skill in every source, named after it."""
    workspace.git()
    set_paths(workspace, "home/.config/opencode/opencode.json", "~/mine")
    for name, root in SOURCES.items():
        workspace.skill(f"{root}/{name}")
    return workspace


def switched_off(everywhere: Workspace, env: Mapping[str, str]) -> dict[str, str | None]:
    """The sources that an environment turns off, and what each says turned it off; all others must
    be listed.
    """
    snapshot = everywhere.scan(HOST, env=env)
    off = {
        outcome.name: outcome.rule
        for outcome in snapshot.outcomes
        if outcome.state is State.DISABLED
    }
    assert {outcome.name for outcome in snapshot.shown} == SOURCES.keys() - off.keys()
    return off


@pytest.mark.parametrize("word", TRUE_WORDS)
def test_the_external_switch_drops_both_external_folders_at_home_and_in_the_project(
    everywhere: Workspace, word: str
):
    external = ("home-claude", "home-agents", "project-claude", "project-agents")
    assert switched_off(everywhere, {EXTERNAL: word}) == dict.fromkeys(external, EXTERNAL)


@pytest.mark.parametrize("word", TRUE_WORDS)
@pytest.mark.parametrize("variable", [CLAUDE_SKILLS, CLAUDE])
def test_the_switches_of_claude_drop_only_its_own_folder(
    everywhere: Workspace, variable: str, word: str
):
    assert switched_off(everywhere, {variable: word}) == {
        "home-claude": variable,
        "project-claude": variable,
    }


@pytest.mark.parametrize("word", FALSE_WORDS)
def test_a_false_word_drops_nothing(everywhere: Workspace, word: str):
    assert switched_off(everywhere, {EXTERNAL: word, CLAUDE_SKILLS: word, CLAUDE: word}) == {}


@pytest.mark.parametrize("word", ["", "TRUE", "True", " 1", "2", "enabled", "Y"])
@pytest.mark.parametrize("variable", [EXTERNAL, CLAUDE_SKILLS, CLAUDE])
def test_any_other_word_in_a_switch_is_refused(everywhere: Workspace, variable: str, word: str):
    with pytest.raises(SwitchError) as caught:
        everywhere.scan(HOST, env={variable: word})
    assert (caught.value.name, caught.value.value, caught.value.allowed) == (
        variable,
        word,
        (*TRUE_WORDS, *FALSE_WORDS),
    )
    assert str(caught.value) == (
        f"The environment variable {variable} is “{word}”; "
        "the host accepts only true, yes, on, 1, y, false, no, off, 0, n."
    )


def test_a_refused_word_is_noticed_behind_a_switch_that_already_decides(everywhere: Workspace):
    with pytest.raises(SwitchError) as caught:
        everywhere.scan(HOST, env={EXTERNAL: "1", CLAUDE: "maybe"})
    assert (caught.value.name, caught.value.value) == (CLAUDE, "maybe")


@pytest.mark.parametrize("word", ["1", "true", "TRUE", "True"])
def test_the_project_switch_drops_the_projects_own_folder_but_no_external_one(
    everywhere: Workspace, word: str
):
    assert switched_off(everywhere, {PROJECT: word}) == {"project": PROJECT}


@pytest.mark.parametrize("word", ["", "yes", "on", "y", "2", "maybe", "0", "false"])
def test_the_project_switch_knows_only_1_and_true_and_passes_over_the_rest(
    everywhere: Workspace, word: str
):
    assert switched_off(everywhere, {PROJECT: word}) == {}


def test_the_pure_switch_has_no_effect(everywhere: Workspace):
    assert switched_off(everywhere, {"OPENCODE_PURE": "1"}) == {}


# The walk


def test_without_a_repository_the_walk_goes_up_to_the_top_of_the_file_system():
    places = [
        "/.claude",
        "/.agents",
        "/.opencode",
        "/w/.claude",
        "/w/a/.agents",
        "/w/a/b/.opencode",
    ]
    found = {
        f"{place}/skills/{place[1:].replace('/', '-').replace('.', '')}/SKILL.md": place
        for place in places
    }
    files = MemoryFiles({path: skill_text(path.split("/")[-2]) for path in found})
    skills = Skills("/w/a/b", host=HOST, facts=make_facts("/home/me"), files=files)
    assert sorted(skill.location for skill in skills) == sorted(found)


def test_without_a_repository_a_folder_above_the_project_is_seen_and_with_one_it_is_not(
    workspace: Workspace,
):
    workspace.skill(".claude/skills/above")
    workspace.skill(".opencode/skills/above-too")
    workspace.skill("project/.claude/skills/here")
    seen = {skill.name for skill in workspace.scan(HOST, cwd="project").skills}
    assert seen >= {"above", "above-too", "here"}
    workspace.git()
    assert {skill.name for skill in workspace.scan(HOST, cwd="project").skills} == {"here"}


def test_without_a_repository_below_home_what_lies_at_home_counts_once():
    found = {
        f"/home/me/.{host}/skills/{host}/SKILL.md": host
        for host in ("agents", "claude", "opencode")
    }
    files = MemoryFiles({path: skill_text(name) for path, name in found.items()})
    snapshot = Skills(
        "/home/me/work/deep", host=HOST, facts=make_facts("/home/me"), files=files
    ).snapshot
    assert {skill.location: skill.name for skill in snapshot.skills} == found
    assert snapshot.counts() == {State.READY: 3}


def test_a_git_file_marks_the_worktree_root_as_well(workspace: Workspace):
    workspace.write("project/.git", "gitdir: /elsewhere\n")
    workspace.skill(".claude/skills/above")
    workspace.skill("project/.claude/skills/root")
    assert workspace.listed(workspace.scan(HOST, cwd="project/a")) == {
        "root": "project/.claude/skills/root/SKILL.md"
    }


# Configuration folders

CONFIG_ORDER = [
    "xdg/opencode/skill",
    "xdg/opencode/skills",
    "project/a/.opencode/skill",
    "project/a/.opencode/skills",
    "project/.opencode/skill",
    "project/.opencode/skills",
    "home/.opencode/skill",
    "home/.opencode/skills",
    "named/skill",
    "named/skills",
]


def test_configuration_folders_come_in_their_order_and_the_last_wins(workspace: Workspace):
    workspace.git()
    env = {"XDG_CONFIG_HOME": workspace.path("xdg"), "OPENCODE_CONFIG_DIR": workspace.path("named")}
    for root in CONFIG_ORDER:
        workspace.skill(f"{root}/dup")
    winners = []
    for root in reversed(CONFIG_ORDER):
        winners.append(workspace.listed(workspace.scan(HOST, cwd="project/a", env=env))["dup"])
        shutil.rmtree(workspace.root / root)
    assert winners == [f"{root}/dup/SKILL.md" for root in reversed(CONFIG_ORDER)]


def test_own_folders_at_home_beat_the_projects_external_ones_and_its_own(workspace: Workspace):
    workspace.git()
    for root in (
        "project/.claude/skills",
        "project/.agents/skills",
        "home/.config/opencode/skills",
    ):
        workspace.skill(f"{root}/a")
    workspace.skill("project/.opencode/skills/b")
    workspace.skill("home/.opencode/skills/b")
    assert workspace.listed(workspace.scan(HOST)) == {
        "a": "home/.config/opencode/skills/a/SKILL.md",
        "b": "home/.opencode/skills/b/SKILL.md",
    }


def test_the_default_configuration_folder_is_not_read_where_another_is_named(workspace: Workspace):
    workspace.git()
    workspace.skill("home/.config/opencode/skills/default")
    workspace.skill("xdg/opencode/skills/moved")
    env = {"XDG_CONFIG_HOME": workspace.path("xdg")}
    assert workspace.listed(workspace.scan(HOST, env=env)) == {
        "moved": "xdg/opencode/skills/moved/SKILL.md"
    }


def test_in_one_root_the_last_path_wins_and_an_invalid_file_never_replaces_a_valid_one(
    workspace: Workspace,
):
    workspace.git()
    for folder in ("a", "b", "b/deep"):
        workspace.skill(f"project/.opencode/skills/{folder}", name="same")
    workspace.write("project/.opencode/skills/c/SKILL.md", "---\nname: same\ndescription: 7\n---\n")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/.opencode/skills/a/SKILL.md": "shadowed",
        "project/.opencode/skills/b/SKILL.md": "shadowed",
        "project/.opencode/skills/b/deep/SKILL.md": "ready",
        "project/.opencode/skills/c/SKILL.md": "invalid",
    }


# Paths from the settings


def test_the_projects_paths_replace_the_global_ones(workspace: Workspace):
    workspace.git()
    workspace.skill("home/global/g")
    workspace.skill("project/mine/m")
    set_paths(workspace, "home/.config/opencode/opencode.json", "~/global")
    assert workspace.listed(workspace.scan(HOST)) == {"g": "home/global/g/SKILL.md"}
    set_paths(workspace, "project/opencode.json", "mine")
    assert workspace.listed(workspace.scan(HOST)) == {"m": "project/mine/m/SKILL.md"}
    set_paths(workspace, "project/opencode.json")
    assert workspace.listed(workspace.scan(HOST)) == {}


def test_settings_may_hold_comments_and_variables_but_a_shell_variable_is_not_expanded(
    workspace: Workspace,
):
    workspace.git()
    workspace.write(
        "project/opencode.jsonc",
        '{\n  // where mine are\n  "skills": {"paths": ["{env:MINE}/x", "$HOME/y",]},\n}\n',
    )
    workspace.skill("elsewhere/x/one")
    workspace.skill("home/y/two")
    workspace.skill("project/$HOME/y/three")
    env = {"MINE": workspace.path("elsewhere"), "HOME": str(workspace.home)}
    assert workspace.listed(workspace.scan(HOST, env=env)) == {
        "one": "elsewhere/x/one/SKILL.md",
        "three": "project/$HOME/y/three/SKILL.md",
    }


def test_a_path_that_is_missing_or_a_file_is_a_warning_and_the_others_are_read(
    workspace: Workspace,
):
    workspace.git()
    set_paths(workspace, "project/opencode.json", "gone", "file/SKILL.md", "file")
    workspace.skill("project/file", name="self")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"self": "project/file/SKILL.md"}
    assert [
        (found.code, found.severity.value, workspace.relative(found.file))
        for found in snapshot.diagnostics
    ] == [
        ("root-missing", "warning", "project/gone"),
        ("root-not-a-folder", "warning", "project/file/SKILL.md"),
    ]


def test_a_later_path_wins_over_an_earlier_one_and_over_every_other_source(workspace: Workspace):
    workspace.git()
    set_paths(workspace, "project/opencode.json", "one", "two")
    for root in ("home/.opencode/skills", "project/.opencode/skills", "project/one", "project/two"):
        workspace.skill(f"{root}/dup")
    assert workspace.listed(workspace.scan(HOST)) == {"dup": "project/two/dup/SKILL.md"}


# Links


def test_links_are_followed_and_the_location_keeps_the_path_of_the_link(workspace: Workspace):
    workspace.git()
    workspace.skill("store/folder", name="linked-folder")
    workspace.write("store/file.md", skill_text("linked-file"))
    workspace.skill("store/all/inside", name="linked-root")
    workspace.link("project/.opencode/skills/by-folder", "../../../store/folder")
    workspace.link("project/.opencode/skills/by-file/SKILL.md", "../../../../store/file.md")
    workspace.link("project/.claude/skills", "../../store/all")
    workspace.link("project/.opencode/skills/broken", "/nowhere")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {
        "linked-file": "project/.opencode/skills/by-file/SKILL.md",
        "linked-folder": "project/.opencode/skills/by-folder/SKILL.md",
        "linked-root": "project/.claude/skills/inside/SKILL.md",
    }
    assert snapshot.counts() == {State.READY: 3}


def test_a_folder_that_is_linked_twice_counts_once_and_the_last_path_has_it(workspace: Workspace):
    workspace.git()
    workspace.skill("store/pdf")
    for name in ("one", "two"):
        workspace.link(f"project/.opencode/skills/{name}", "../../../store/pdf")
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {
        "project/.opencode/skills/one/SKILL.md": "duplicate",
        "project/.opencode/skills/two/SKILL.md": "ready",
    }
    first = workspace.outcome(snapshot, "project/.opencode/skills/one/SKILL.md")
    assert first.by == workspace.path("project/.opencode/skills/two/SKILL.md")


def test_loops_of_links_are_entered_once(workspace: Workspace):
    workspace.git()
    for name in ("a", "b"):
        workspace.skill(f"project/.opencode/skills/{name}")
        for loop, target in {
            "self": ".",
            "up": "..",
            "top": "../../../..",
            "itself": "itself",
        }.items():
            workspace.link(f"project/.opencode/skills/{name}/{loop}", target)
    workspace.link("project/.opencode/skills/a/other", "../b")
    workspace.link("project/.opencode/skills/b/other", "../a")
    snapshot = workspace.scan(HOST)
    assert [skill.name for skill in snapshot.skills] == ["a", "b"]
    assert workspace.ends(snapshot) == {
        "project/.opencode/skills/a/SKILL.md": "duplicate",
        "project/.opencode/skills/a/other/SKILL.md": "duplicate",
        "project/.opencode/skills/a/other/other/SKILL.md": "duplicate",
        "project/.opencode/skills/a/other/other/other/SKILL.md": "duplicate",
        "project/.opencode/skills/b/SKILL.md": "ready",
        "project/.opencode/skills/b/other/SKILL.md": "ready",
    }


def test_a_folder_named_like_the_file_is_no_skill_and_not_lost(workspace: Workspace):
    workspace.git()
    (workspace.project / ".opencode/skills/x/SKILL.md").mkdir(parents=True)
    workspace.skill("project/.opencode/skills/x/SKILL.md/inner")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {
        "inner": "project/.opencode/skills/x/SKILL.md/inner/SKILL.md"
    }
    assert workspace.outcome(snapshot, "project/.opencode/skills/x/SKILL.md").rule == "not-a-file"


# Hidden folders

HIDDEN_IS_SEARCHED = {
    "home/.claude/skills": True,
    "home/.agents/skills": True,
    "project/.claude/skills": True,
    "project/.agents/skills": True,
    "home/.config/opencode/skills": False,
    "project/.opencode/skills": False,
    "home/.opencode/skills": False,
    "project/mine": False,
    "project/.mine": False,
}


@pytest.mark.parametrize(("root", "is_searched"), HIDDEN_IS_SEARCHED.items())
def test_hidden_folders_are_searched_in_external_places_only(
    workspace: Workspace, root: str, is_searched: bool
):
    workspace.git()
    set_paths(workspace, "project/opencode.json", "mine", ".mine")
    workspace.skill(f"{root}/plain")
    workspace.skill(f"{root}/.hidden/secret")
    workspace.skill(f"{root}/deep/.er/deepest")
    expected = {"plain": f"{root}/plain/SKILL.md"}
    if is_searched:
        expected |= {
            "secret": f"{root}/.hidden/secret/SKILL.md",
            "deepest": f"{root}/deep/.er/deepest/SKILL.md",
        }
    assert workspace.listed(workspace.scan(HOST)) == expected


# The skill that ships with the host


def test_a_skill_on_disk_with_the_name_of_the_one_that_ships_is_an_ordinary_skill(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("home/.claude/skills/customize", name="customize-opencode", description="mine")
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    assert [(skill.name, skill.description) for skill in snapshot.skills] == [
        ("customize-opencode", "mine")
    ]
    assert events == []


# Collisions


def names_and_files(workspace: Workspace, snapshot: Snapshot) -> list[tuple[str, str | None]]:
    return [
        (outcome.name, workspace.relative(outcome.candidate.location))
        for outcome in snapshot.outcomes
    ]


def test_every_replaced_skill_is_published_with_the_one_that_has_the_name(workspace: Workspace):
    workspace.git()
    roots = ["home/.claude/skills", "project/.agents/skills", "project/.opencode/skills"]
    first, second, last = (str(workspace.skill(f"{root}/pdf")) for root in roots)
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    message = f"The name “pdf” is claimed twice; {last} has it."
    assert sorted(events, key=lambda event: event.file) == [
        Event("duplicate", first, message, last),
        Event("duplicate", second, message, last),
    ]
    assert sorted(names_and_files(workspace, snapshot)) == [
        ("pdf", f"{root}/pdf/SKILL.md") for root in roots
    ]


def test_a_skill_without_description_is_hidden_and_can_be_asked_for(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.opencode/skills/quiet", description=None)
    skills = workspace.open(HOST)
    [outcome] = skills.snapshot.shown
    assert (outcome.state, outcome.reason) == (State.HIDDEN, "it has no description")
    assert skills.get("quiet").content == "Body\n"
    assert skills.snapshot.skills == ()
