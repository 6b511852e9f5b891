"""opencode as its seed describes it: what a skill is, where it is looked for, and who wins a name."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from prowess.diagnostics import diagnose
from prowess.errors import UnknownSkill
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom, Scope, Source
from prowess.model.snapshot import Snapshot
from prowess.ports import Event
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "opencode@documented"


def levels(workspace: Workspace, snapshot: Snapshot) -> dict[str, str]:
    """The level of each listed skill, in the host's own words."""
    return {outcome.name: outcome.candidate.root.source.level for outcome in snapshot.shown}


# Model


@pytest.mark.seed("O-01", "O-02", "O-03", "O-04", "O-05")
def test_a_loaded_skill_has_name_description_location_and_content_as_text(workspace: Workspace):
    workspace.git()
    file = workspace.write(
        "project/.opencode/skills/folder/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF\n---\n\n# Read\n\nIt.\n",
    )
    [skill] = workspace.scan(HOST).skills
    loaded = (skill.name, skill.description, skill.location, skill.content)
    assert loaded == ("pdf", "Reads PDF", str(file), "\n# Read\n\nIt.\n")


@pytest.mark.seed("O-02")
def test_the_folder_never_names_a_skill(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.opencode/skills/one", name="alpha")
    workspace.skill("project/.opencode/skills/two", name="")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"alpha": "project/.opencode/skills/one/SKILL.md"}
    assert workspace.ends(snapshot) == {
        "project/.opencode/skills/one/SKILL.md": "ready",
        "project/.opencode/skills/two/SKILL.md": "invalid",
    }


@pytest.mark.seed("O-04")
def test_the_location_is_absolute_though_the_path_that_was_asked_for_is_not(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    workspace.git()
    file = workspace.skill("project/.opencode/skills/pdf")
    monkeypatch.chdir(workspace.root)
    skills = Skills("project", host=HOST, facts=workspace.facts(), cache=False)
    assert [skill.location for skill in skills] == [str(file)]


@pytest.mark.seed("O-05")
def test_a_fence_inside_the_body_stays_in_the_content(workspace: Workspace):
    workspace.git()
    workspace.write(
        "project/.opencode/skills/a/SKILL.md", skill_text("a", body="One\n\n---\n\nTwo: three\n")
    )
    assert workspace.open(HOST).get("a").content == "One\n\n---\n\nTwo: three\n"


# Life of the registry


@pytest.mark.seed("O-06")
def test_nothing_is_looked_at_until_the_skills_are_first_asked_for():
    location = "/w/project/.opencode/skills/pdf/SKILL.md"
    files = MemoryFiles({location: skill_text("pdf")})
    skills = Skills("/w/project", host=HOST, facts=make_facts("/home/me"), files=files)
    assert (files.listed, files.read) == ([], [])
    assert [skill.location for skill in skills] == [location]
    assert files.read == [location]


@pytest.mark.seed("O-07")
def test_a_project_is_scanned_once_and_another_has_its_own_state(workspace: Workspace):
    workspace.git()
    workspace.git("other")
    workspace.skill("project/.opencode/skills/first")
    workspace.skill("other/.opencode/skills/elsewhere")
    with (
        Skills.open(workspace.project, host=HOST) as here,
        Skills.open(workspace.root / "other", host=HOST) as there,
    ):
        before = here.snapshot
        workspace.skill("project/.opencode/skills/second")
        again = Skills.open(workspace.path("project"), host=HOST)
        assert again is here
        assert again.snapshot is before
        assert [skill.name for skill in before.skills] == ["first"]
        assert there is not here
        assert [skill.name for skill in there] == ["elsewhere"]


@pytest.mark.seed("O-07")
def test_asking_a_second_time_reads_nothing():
    files = MemoryFiles({"/w/project/.opencode/skills/pdf/SKILL.md": skill_text("pdf")})
    skills = Skills("/w/project", host=HOST, facts=make_facts("/home/me"), files=files)
    first = skills.snapshot
    files.listed.clear()
    files.read.clear()
    assert skills.snapshot is first
    assert (files.listed, files.read) == ([], [])


@pytest.mark.seed("O-08")
def test_a_state_can_be_released_and_is_then_made_anew(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.opencode/skills/first")
    held = Skills.open(workspace.project, host=HOST)
    old = held.snapshot
    workspace.skill("project/.opencode/skills/second")
    held.close()
    with Skills.open(workspace.project, host=HOST) as fresh:
        assert fresh is not held
        assert [skill.name for skill in fresh] == ["first", "second"]
        assert [skill.name for skill in old.skills] == ["first"]


@pytest.mark.seed("O-09")
def test_at_most_one_skill_holds_a_name(workspace: Workspace):
    workspace.git()
    for folder in ("one", "two", "deep/er/three"):
        workspace.skill(f"project/.opencode/skills/{folder}", name="same")
    workspace.skill("project/.opencode/skills/four", name="Same")
    skills = workspace.open(HOST)
    assert [skill.name for skill in skills] == ["Same", "same"]
    assert skills.get("same").location == workspace.path("project/.opencode/skills/two/SKILL.md")
    assert len(skills.snapshot.claims("same")) == 3
    with pytest.raises(UnknownSkill):
        skills.get("SAME")


@pytest.mark.seed("O-10")
def test_the_folders_of_all_registered_files_are_collected_those_of_replaced_skills_too(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("home/.claude/skills/a", name="same")
    workspace.skill("project/.agents/skills/b", name="same")
    workspace.skill("project/.opencode/skill/c")
    workspace.skill("project/.opencode/skills/broken", name="")
    assert workspace.open(HOST).folders() == (
        workspace.path("home/.claude/skills/a"),
        workspace.path("project/.agents/skills/b"),
        workspace.path("project/.opencode/skill/c"),
    )


# Discovery

SCAN_ORDER = [
    "home/.claude/skills/dup/SKILL.md",
    "home/.agents/skills/dup/SKILL.md",
    "project/.claude/skills/dup/SKILL.md",
    "project/.agents/skills/dup/SKILL.md",
    "home/.config/opencode/skill/dup/SKILL.md",
    "home/.config/opencode/skills/dup/SKILL.md",
    "project/.opencode/skill/dup/SKILL.md",
    "project/.opencode/skills/dup/SKILL.md",
    "custom/dup/SKILL.md",
    "pulled/dup/SKILL.md",
]


@pytest.mark.seed("O-11", "O-12", "O-13", "O-15")
def test_sources_are_scanned_in_four_kinds_and_each_later_one_wins(workspace: Workspace):
    workspace.git()
    workspace.write("project/opencode.json", json.dumps({"skills": {"paths": ["../custom"]}}))
    for path in SCAN_ORDER:
        workspace.write(path, skill_text("dup", description=path))
    places = {"remote": workspace.path("pulled")}
    searched = [workspace.relative(root.path) for root in workspace.scan(HOST, places=places).roots]
    with_skills = [path.removesuffix("/dup/SKILL.md") for path in SCAN_ORDER]
    assert [path for path in searched if path in with_skills] == with_skills

    winners = []
    for expected in reversed(SCAN_ORDER):
        [skill] = workspace.scan(HOST, places=places).skills
        winners.append((workspace.relative(skill.location), skill.description))
        shutil.rmtree(workspace.root / expected.removesuffix("/SKILL.md"))
    assert winners == [(path, path) for path in reversed(SCAN_ORDER)]


@pytest.mark.seed("O-12")
@pytest.mark.parametrize("folder", [".claude/skills", ".agents/skills"])
def test_a_project_skill_replaces_a_global_one(workspace: Workspace, folder: str):
    workspace.git()
    workspace.skill(f"home/{folder}/pdf", description="global")
    workspace.skill(f"project/{folder}/pdf", description="project")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"pdf": f"project/{folder}/pdf/SKILL.md"}
    lost = workspace.outcome(snapshot, f"home/{folder}/pdf/SKILL.md")
    assert (lost.state, lost.by) == (
        State.SHADOWED,
        workspace.path(f"project/{folder}/pdf/SKILL.md"),
    )


@pytest.mark.seed("O-13")
def test_in_one_folder_agents_comes_after_claude_and_wins(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.claude/skills/x")
    workspace.skill("project/.agents/skills/x")
    workspace.skill("project/.codex/skills/y")
    workspace.skill("project/.github/skills/z")
    assert workspace.listed(workspace.scan(HOST)) == {"x": "project/.agents/skills/x/SKILL.md"}


@pytest.mark.seed("O-14")
@pytest.mark.parametrize(
    "external", ["home/.claude", "home/.agents", "project/.claude", "project/.agents"]
)
def test_an_external_folder_is_searched_at_any_depth_below_skills_and_nowhere_else(
    workspace: Workspace, external: str
):
    workspace.git()
    for place in (
        "skills/one",
        "skills/a/b/c/two",
        "skills/one/inside",
        "skill/three",
        "skillz/four",
        "five",
    ):
        workspace.skill(f"{external}/{place}")
    workspace.skill(f"{external}/skills", name="root")
    workspace.write(f"{external}/skills/six/skill.md", skill_text("six"))
    assert workspace.listed(workspace.scan(HOST)) == {
        "inside": f"{external}/skills/one/inside/SKILL.md",
        "one": f"{external}/skills/one/SKILL.md",
        "root": f"{external}/skills/SKILL.md",
        "two": f"{external}/skills/a/b/c/two/SKILL.md",
    }


@pytest.mark.seed("O-15")
def test_skills_at_home_are_global_and_those_of_the_project_are_project(workspace: Workspace):
    workspace.git()
    for place in ("home/.claude", "home/.agents", "project/.claude", "project/.agents"):
        workspace.skill(f"{place}/skills/{place.replace('/.', '-')}")
    snapshot = workspace.scan(HOST)
    assert levels(workspace, snapshot) == {
        "home-agents": "global",
        "home-claude": "global",
        "project-agents": "project",
        "project-claude": "project",
    }
    assert {skill.name: skill.scope for skill in snapshot.skills} == {
        "home-agents": Scope.USER,
        "home-claude": Scope.USER,
        "project-agents": Scope.PROJECT,
        "project-claude": Scope.PROJECT,
    }
    root = workspace.path("project/.claude/skills")
    skill = snapshot.skills[-1]
    assert skill.source == Source("claude", "project", root, LoadedFrom.SKILLS, "claude:project")


@pytest.mark.seed("O-16")
def test_a_home_without_external_folders_is_passed_over_without_a_word(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.opencode/skills/pdf")
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    assert workspace.listed(snapshot) == {"pdf": "project/.opencode/skills/pdf/SKILL.md"}
    assert (list(snapshot.all_diagnostics()), events) == ([], [])


@pytest.mark.seed("O-17")
def test_the_walk_goes_up_to_the_worktree_root_and_the_farthest_ancestor_wins(workspace: Workspace):
    workspace.git()
    for place in ("", "project/", "project/a/", "project/a/b/"):
        for external in (".claude", ".agents"):
            workspace.skill(f"{place}{external}/skills/{external[1:]}")
        workspace.skill(
            f"{place}.claude/skills/own", name=f"own-{place.strip('/').replace('/', '-')}"
        )
    snapshot = workspace.scan(HOST, cwd="project/a/b")
    assert workspace.listed(snapshot) == {
        "agents": "project/.agents/skills/agents/SKILL.md",
        "claude": "project/.claude/skills/claude/SKILL.md",
        "own-project": "project/.claude/skills/own/SKILL.md",
        "own-project-a": "project/a/.claude/skills/own/SKILL.md",
        "own-project-a-b": "project/a/b/.claude/skills/own/SKILL.md",
    }
    assert len(snapshot.outcomes) == 9


@pytest.mark.seed("O-13", "O-17")
def test_both_external_folders_of_one_level_are_read_before_the_next_level_up(workspace: Workspace):
    workspace.git()
    workspace.skill("project/a/.agents/skills/pdf")
    workspace.skill("project/.claude/skills/pdf")
    snapshot = workspace.scan(HOST, cwd="project/a")
    assert workspace.listed(snapshot) == {"pdf": "project/.claude/skills/pdf/SKILL.md"}
    assert [
        workspace.relative(root.path) for root in snapshot.roots if root.id.startswith("project-")
    ] == [
        "project/a/.claude/skills",
        "project/a/.agents/skills",
        "project/.claude/skills",
        "project/.agents/skills",
    ]


@pytest.mark.seed("O-18")
def test_the_switch_turns_external_folders_off_and_leaves_the_other_sources(workspace: Workspace):
    workspace.git()
    workspace.write("project/opencode.json", json.dumps({"skills": {"paths": ["mine"]}}))
    external = [
        f"{place}/skills/e"
        for place in ("home/.claude", "home/.agents", "project/.claude", "project/.agents")
    ]
    for place in external:
        workspace.skill(place)
    workspace.skill("project/.opencode/skills/own")
    workspace.skill("project/mine/custom")
    workspace.skill("pulled/remote")
    places = {"remote": workspace.path("pulled")}
    snapshot = workspace.scan(HOST, env={"OPENCODE_DISABLE_EXTERNAL_SKILLS": "1"}, places=places)
    assert workspace.listed(snapshot) == {
        "custom": "project/mine/custom/SKILL.md",
        "own": "project/.opencode/skills/own/SKILL.md",
        "remote": "pulled/remote/SKILL.md",
    }
    switched_off = {
        workspace.relative(outcome.candidate.folder): (outcome.state, outcome.rule)
        for outcome in snapshot.claims("e")
    }
    assert switched_off == dict.fromkeys(
        external, (State.DISABLED, "OPENCODE_DISABLE_EXTERNAL_SKILLS")
    )


@pytest.mark.seed("O-19")
@pytest.mark.parametrize("config", ["home/.config/opencode", "home/.opencode", "project/.opencode"])
def test_a_configuration_folder_is_searched_below_skill_and_skills_at_any_depth(
    workspace: Workspace, config: str
):
    workspace.git()
    for place in (
        "skill/one",
        "skills/two",
        "skill/a/b/three",
        "skills/a/b/c/four",
        "skillz/five",
        "six",
    ):
        workspace.skill(f"{config}/{place}")
    assert workspace.listed(workspace.scan(HOST)) == {
        "four": f"{config}/skills/a/b/c/four/SKILL.md",
        "one": f"{config}/skill/one/SKILL.md",
        "three": f"{config}/skill/a/b/three/SKILL.md",
        "two": f"{config}/skills/two/SKILL.md",
    }


@pytest.mark.seed("O-20", "O-21", "O-22")
def test_custom_paths_are_absolute_below_home_or_relative_to_the_working_folder(
    workspace: Workspace,
):
    workspace.git()
    paths = [workspace.path("anywhere"), "~/mine", "near", "./dot/../dot", "../beside"]
    workspace.write("project/opencode.json", json.dumps({"skills": {"paths": paths}}))
    for place in ("anywhere", "home/mine", "project/sub/near", "project/sub/dot", "project/beside"):
        workspace.skill(f"{place}/group/{place.rpartition('/')[2]}")
    workspace.skill("project/near/wrong")
    snapshot = workspace.scan(HOST, cwd="project/sub")
    assert workspace.listed(snapshot) == {
        "anywhere": "anywhere/group/anywhere/SKILL.md",
        "beside": "project/beside/group/beside/SKILL.md",
        "dot": "project/sub/dot/group/dot/SKILL.md",
        "mine": "home/mine/group/mine/SKILL.md",
        "near": "project/sub/near/group/near/SKILL.md",
    }
    assert snapshot.settings.custom_folders == tuple(
        workspace.path(place)
        for place in (
            "anywhere",
            "home/mine",
            "project/sub/near",
            "project/sub/dot",
            "project/beside",
        )
    )


# Registration


@pytest.mark.seed("O-24")
def test_a_file_that_cannot_be_parsed_is_published_and_skipped_and_stops_nobody(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("project/.opencode/skills/after")
    broken = workspace.write(
        "project/.opencode/skills/broken/SKILL.md", "---\nname: [a\ndescription: d\n---\nBody\n"
    )
    workspace.skill("project/.opencode/skills/zebra")
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    assert [skill.name for skill in snapshot.skills] == ["after", "zebra"]
    outcome = workspace.outcome(snapshot, "project/.opencode/skills/broken/SKILL.md")
    assert (outcome.state, outcome.rule, outcome.skill) == (State.INVALID, "yaml-invalid", None)
    assert events == [Event("parse-error", str(broken), str(outcome.reason))]


ACCEPTED = {
    "plain": ("name: a\ndescription: d", ("a", "d")),
    "blank texts": ('name: ""\ndescription: ""', ("", "")),
    "padded": ('name: "  a  "\ndescription: "  d  "', ("  a  ", "  d  ")),
    "a name no folder could have": (
        "name: ../../Evil Name!\ndescription: d",
        ("../../Evil Name!", "d"),
    ),
    "a long name": (f"name: {'n' * 100}\ndescription: d", ("n" * 100, "d")),
    "a long description": (f"name: a\ndescription: {'d' * 2000}", ("a", "d" * 2000)),
    "other fields of any kind": (
        "name: a\ndescription: d\nlicense: [1]\nmodel: {}\nhide: 7\nfoo: ~",
        ("a", "d"),
    ),
    "quoted numbers": ("name: '7'\ndescription: '8'", ("7", "8")),
}


@pytest.mark.seed("O-25")
@pytest.mark.parametrize(("header", "expected"), ACCEPTED.values(), ids=ACCEPTED)
def test_any_text_will_do_as_name_and_description_and_nothing_else_is_checked(
    workspace: Workspace, header: str, expected: tuple[str, str]
):
    workspace.git()
    workspace.write("project/.opencode/skills/x/SKILL.md", f"---\n{header}\n---\nBody\n")
    snapshot = workspace.scan(HOST)
    assert [(skill.name, skill.description) for skill in snapshot.skills] == [expected]


NO_NAME = ("name-missing", "The header has no `name`; this host requires one.", "name")
NO_DESCRIPTION = (
    "description-missing",
    "`description` is missing; this host requires one.",
    "description",
)


def wrong_name(found: str) -> tuple[str, str, str]:
    return "name-missing", f"`name` is {found}; it must be a string.", "name"


def wrong_description(found: str) -> tuple[str, str, str]:
    return (
        "field-type",
        f"`description` is {found}; this host only accepts a string.",
        "description",
    )


REFUSED: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "no name": ("description: d", [NO_NAME]),
    "no description": ("name: a", [NO_DESCRIPTION]),
    "neither": ("license: MIT", [NO_NAME, NO_DESCRIPTION]),
    "another case": ("Name: a\nDescription: d", [NO_NAME, NO_DESCRIPTION]),
    "number as name": ("name: 7\ndescription: d", [wrong_name("`7`")]),
    "truth as name": ("name: true\ndescription: d", [wrong_name("`true`")]),
    "empty name": ("name:\ndescription: d", [wrong_name("empty")]),
    "list as name": ("name: [a]\ndescription: d", [wrong_name("a list")]),
    "number as description": ("name: a\ndescription: 7", [wrong_description("`7`")]),
    "empty description": ("name: a\ndescription:", [wrong_description("empty")]),
    "list as description": ("name: a\ndescription: [d]", [wrong_description("a list")]),
    "mapping as description": ("name: a\ndescription: {d: e}", [wrong_description("a mapping")]),
}


@pytest.mark.seed("O-25", "O-26")
@pytest.mark.parametrize(("header", "findings"), REFUSED.values(), ids=REFUSED)
def test_a_file_without_a_usable_name_or_description_is_reported_and_not_dropped_in_silence(
    workspace: Workspace, header: str, findings: list[tuple[str, str, str]]
):
    workspace.git()
    file = workspace.write("project/.opencode/skills/x/SKILL.md", f"---\n{header}\n---\nBody\n")
    snapshot = workspace.scan(HOST)
    [outcome] = snapshot.outcomes
    assert (outcome.state, outcome.skill, snapshot.shown) == (State.INVALID, None, ())
    errors: list[Any] = [
        finding for finding in outcome.diagnostics if finding.severity.value == "error"
    ]
    assert [(error.code, error.message, error.field, error.file) for error in errors] == [
        (*finding, str(file)) for finding in findings
    ]
    assert outcome.reason == findings[0][1].rstrip(".")


@pytest.mark.seed("O-26")
@pytest.mark.parametrize(
    "text", ["", "\n", "Only a body\n", "\n---\nname: a\ndescription: d\n---\n"]
)
def test_a_file_without_a_header_is_reported_too(workspace: Workspace, text: str):
    workspace.git()
    workspace.write("project/.opencode/skills/x/SKILL.md", text)
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/.opencode/skills/x/SKILL.md": "invalid"
    }


@pytest.mark.seed("O-27", "O-12")
def test_a_name_that_is_taken_gives_a_warning_and_the_new_skill_replaces_the_old(
    workspace: Workspace,
):
    workspace.git()
    old = workspace.skill("home/.agents/skills/pdf", description="old")
    new = workspace.skill("project/.opencode/skills/other", name="pdf", description="new")
    events: list[Event] = []
    skills = workspace.open(HOST, on_event=events.append)
    assert skills.get("pdf").description == "new"
    message = f"The name “pdf” is claimed twice; {new} has it."
    assert events == [Event("duplicate", str(old), message, str(new))]
    replaced = workspace.outcome(skills.snapshot, "home/.agents/skills/pdf/SKILL.md")
    taken = f"The name “pdf” is taken by {new}."
    expected = diagnose("name-collision", taken, file=str(old), field="name", related=(str(new),))
    assert replaced.diagnostics == (expected,)


# What the release changed


def test_a_skill_without_description_is_refused_here_and_only_hidden_in_the_release(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("project/.opencode/skills/bare", description=None)
    ends = {host: workspace.ends(workspace.scan(host)) for host in (HOST, "opencode")}
    file = "project/.opencode/skills/bare/SKILL.md"
    assert ends == {HOST: {file: "invalid"}, "opencode": {file: "hidden"}}


def test_both_editions_give_one_answer_where_the_seed_and_the_release_agree(workspace: Workspace):
    workspace.git()
    workspace.write("project/opencode.json", json.dumps({"skills": {"paths": ["../custom"]}}))
    for path in SCAN_ORDER[:-1]:
        workspace.write(path, skill_text("dup"))
    workspace.skill("project/.claude/skills/.hidden/five")
    workspace.skill("project/.opencode/skills/.hidden/six")
    documented, current = workspace.scan(HOST), workspace.scan("opencode")
    assert workspace.ends(documented) == workspace.ends(current)
