"""OpenClaw as its release behaves, in what the recorded cases do not hold, and where it left its
documents.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from prowess.model.files import FolderItem
from prowess.model.outcome import State
from prowess.model.settings import Override
from prowess.model.skill import Manifest, Requires
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "openclaw"
DOCUMENTED = "openclaw@documented"


def configure(
    workspace: Workspace, path: str = "home/.openclaw/openclaw.json", **skills: Any
) -> None:
    """Write the host's configuration with these keys under `skills`."""
    workspace.write(path, json.dumps({"skills": skills}))


def add_extra(workspace: Workspace, *folders: str) -> None:
    configure(workspace, load={"extraDirs": [workspace.path(folder) for folder in folders]})


def names(workspace: Workspace, host: str = HOST, **options: Any) -> list[str]:
    return list(workspace.listed(workspace.scan(host, **options)))


def problems(workspace: Workspace, path: str) -> tuple[State, list[str]]:
    """The state of a file and the codes of what was found about it."""
    outcome = workspace.outcome(workspace.scan(HOST), path)
    return outcome.state, [one.code for one in outcome.diagnostics]


# Depth and names of folders


def test_skills_are_found_six_levels_below_a_root_and_no_deeper(workspace: Workspace):
    for depth in range(1, 8):
        parents = "/".join(f"{depth}{level}" for level in range(1, depth))
        workspace.skill(f"project/skills/{parents}/depth-{depth}".replace("//", "/"))
    assert names(workspace) == [f"depth-{depth}" for depth in range(1, 7)]


def test_what_lies_below_a_skill_is_no_skill_of_its_own(workspace: Workspace):
    workspace.skill("project/skills/outer")
    workspace.skill("project/skills/outer/inner")
    assert workspace.ends(workspace.scan(HOST)) == {"project/skills/outer/SKILL.md": "ready"}


def test_hidden_folders_and_node_modules_are_passed_over_at_every_level(workspace: Workspace):
    for folder in (".git", ".hidden", "node_modules", "dist", "venv"):
        workspace.skill(f"project/skills/{folder}", name=f"top {folder}")
        workspace.skill(f"project/skills/group/{folder}", name=f"inner {folder}")
    assert names(workspace) == ["inner dist", "inner venv", "top dist", "top venv"]


# Names


def test_the_last_of_one_root_wins_in_the_order_of_paths(workspace: Workspace):
    workspace.skill("project/skills/a/one", name="dup")
    workspace.skill("project/skills/b/two", name="dup")
    workspace.skill("project/skills/c", name="Dup")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/skills/a/one/SKILL.md": "shadowed",
        "project/skills/b/two/SKILL.md": "ready",
        "project/skills/c/SKILL.md": "ready",
    }


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("name: ../../evil", "../../evil"),
        ("name: 中文", "中文"),
        ("name: Declared Name!", "Declared Name!"),
        ("name: '  padded  '", "padded"),
        ("name: 1.0", "1"),
        ("name: true", "true"),
        ("name:", "folder"),
        ("name: ''", "folder"),
        ("license: MIT", "folder"),
    ],
)
def test_a_name_is_any_text_and_the_folders_where_there_is_none(
    workspace: Workspace, header: str, name: str
):
    workspace.write("project/skills/folder/SKILL.md", f"---\n{header}\ndescription: d\n---\nBody\n")
    assert names(workspace) == [name]


# Folders that the configuration adds


def test_an_extra_folder_that_holds_skill_md_is_one_skill(workspace: Workspace):
    workspace.skill("extra/single")
    workspace.skill("extra/single/child")
    workspace.skill("extra/single/skills/grandchild")
    add_extra(workspace, "extra/single")
    assert workspace.ends(workspace.scan(HOST)) == {"extra/single/SKILL.md": "ready"}


def test_an_extra_folder_is_searched_two_levels_deep(workspace: Workspace):
    for folder in ("one", "g/two", "g/h/three"):
        workspace.skill(f"extra/{folder}")
    add_extra(workspace, "extra")
    assert names(workspace) == ["one", "two"]


def test_an_extra_folder_that_is_called_skills_is_searched_six_levels_deep(workspace: Workspace):
    workspace.skill("extra/skills/one")
    workspace.skill("extra/skills/2/3/4/5/6/six")
    workspace.skill("extra/skills/2/3/4/5/6/7/seven")
    add_extra(workspace, "extra/skills")
    assert names(workspace) == ["one", "six"]


def test_a_skills_folder_inside_an_extra_folder_stands_for_it(workspace: Workspace):
    workspace.skill("extra/skills/one")
    workspace.skill("extra/skills/2/3/4/5/6/six")
    workspace.skill("extra/skills/2/3/4/5/6/7/seven")
    workspace.write("extra/README.md", "not a skill")
    add_extra(workspace, "extra")
    assert names(workspace) == ["one", "six"]


def test_a_skills_folder_stands_for_nothing_where_there_are_skills_beside_it(workspace: Workspace):
    workspace.skill("extra/beside")
    workspace.skill("extra/skills/inside")
    workspace.skill("extra/skills/2/3/4/5/six")
    workspace.skill("extra/skills/2/3/4/5/6/seven")
    add_extra(workspace, "extra")
    assert names(workspace) == ["beside", "inside", "six"]


def test_of_extra_folders_the_later_one_wins(workspace: Workspace):
    workspace.skill("one/same")
    workspace.skill("two/same")
    add_extra(workspace, "two", "one")
    assert workspace.listed(workspace.scan(HOST)) == {"same": "one/same/SKILL.md"}


class UnreadableFolders(MemoryFiles):
    """Files on a machine that lets nobody list one folder."""

    def list_folder(self, path: str) -> list[FolderItem]:
        if path == "/closed":
            raise PermissionError(13, "Permission denied", path)
        return super().list_folder(path)


def test_an_extra_folder_that_cannot_be_listed_costs_its_neighbours_nothing():
    config = '{skills: {load: {extraDirs: ["/closed", "/open"]}}}'
    texts = {"/home/me/.openclaw/openclaw.json": config, "/open/it/SKILL.md": skill_text("it")}
    files = UnreadableFolders({**texts, "/closed/lost/SKILL.md": skill_text("lost")})
    snapshot = Skills("/w", host=HOST, facts=make_facts(), files=files).snapshot
    assert [(one.name, one.state) for one in snapshot.outcomes] == [("it", State.READY)]
    assert [(one.code, one.file) for one in snapshot.diagnostics] == [
        ("root-unreadable", "/closed")
    ]


# Links


def test_a_link_that_stays_inside_its_root_is_followed(workspace: Workspace):
    workspace.skill("project/skills/real/child", name="child")
    workspace.skill("project/skills/real")
    workspace.link("project/skills/alias", "real/child")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/skills/alias/SKILL.md": "ready",
        "project/skills/real/SKILL.md": "ready",
    }


@pytest.mark.parametrize("root", ["project/skills", "project/.agents/skills", "extra", "bundled"])
def test_a_link_out_of_its_root_is_refused(workspace: Workspace, root: str):
    workspace.skill("project/elsewhere/it")
    workspace.link(f"{root}/linked", workspace.path("project/elsewhere/it"))
    add_extra(workspace, "extra")
    snapshot = workspace.scan(HOST, env={"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")})
    outcome = workspace.outcome(snapshot, f"{root}/linked/SKILL.md")
    assert len(snapshot.outcomes) == 1
    assert (outcome.state, [one.code for one in outcome.diagnostics]) == (
        State.INVALID,
        ["link-escapes"],
    )
    target = workspace.path("project/elsewhere/it")
    assert (
        outcome.reason
        == f"The link leads to {target}, which is outside the folders that may be followed"
    )


@pytest.mark.parametrize("root", ["home/.openclaw/skills", "home/.agents/skills"])
def test_managed_and_personal_roots_follow_any_link_and_tell_the_real_path(
    workspace: Workspace, root: str
):
    workspace.skill("elsewhere/it")
    workspace.link(f"{root}/linked", workspace.path("elsewhere/it"))
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {"elsewhere/it/SKILL.md": "ready"}
    [skill] = snapshot.skills
    assert skill.folder == workspace.path("elsewhere/it")


@pytest.mark.parametrize(
    ("root", "state"),
    [
        ("project/skills", "ready"),
        ("project/.agents/skills", "ready"),
        ("extra", "ready"),
        ("bundled", "invalid"),
        ("home/.openclaw/agents/main/agent/workshop-skills", "invalid"),
    ],
)
def test_a_target_that_the_user_allows_is_followed_but_not_from_what_ships(
    workspace: Workspace, root: str, state: str
):
    workspace.skill("elsewhere/it")
    workspace.link(f"{root}/linked", workspace.path("elsewhere/it"))
    load = {
        "extraDirs": [workspace.path("extra")],
        "allowSymlinkTargets": [workspace.path("elsewhere")],
    }
    configure(workspace, load=load)
    snapshot = workspace.scan(HOST, env={"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")})
    assert workspace.ends(snapshot) == {f"{root}/linked/SKILL.md": state}


@pytest.mark.parametrize("root", ["project/skills", "home/.openclaw/skills"])
def test_skill_md_may_be_a_link_only_inside_its_own_folder(workspace: Workspace, root: str):
    workspace.write(f"{root}/own/text.md", skill_text("own"))
    workspace.link(f"{root}/own/SKILL.md", "text.md")
    workspace.write(f"{root}/shared.md", skill_text("foreign"))
    workspace.link(f"{root}/foreign/SKILL.md", "../shared.md")
    assert workspace.ends(workspace.scan(HOST)) == {
        f"{root}/own/SKILL.md": "ready",
        f"{root}/foreign/SKILL.md": "invalid",
    }
    assert problems(workspace, f"{root}/foreign/SKILL.md") == (State.INVALID, ["link-escapes"])


@pytest.mark.parametrize("root", ["project/skills", "home/.openclaw/skills"])
def test_a_hard_linked_skill_md_is_refused(workspace: Workspace, root: str):
    file = workspace.skill(f"{root}/it")
    os.link(file, workspace.root / "other.md")
    assert problems(workspace, f"{root}/it/SKILL.md") == (State.INVALID, ["hard-linked"])


def test_loops_and_links_to_nowhere_are_passed_over(workspace: Workspace):
    workspace.skill("project/skills/group/it")
    workspace.link("project/skills/group/loop", "..")
    workspace.link("project/skills/self", "self")
    workspace.link("project/skills/nowhere", "gone")
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {"project/skills/group/it/SKILL.md": "ready"}
    assert list(snapshot.all_diagnostics()) == []


# Limits


def test_of_a_root_two_hundred_skills_are_listed_and_the_rest_is_skipped(workspace: Workspace):
    for number in range(203):
        workspace.skill(f"project/skills/s{number:03}")
    workspace.skill("home/.openclaw/skills/other")
    snapshot = workspace.scan(HOST)
    assert snapshot.counts() == {State.SKIPPED: 3, State.READY: 201}
    assert {
        one.name: one.reason for one in snapshot.outcomes if one.state is State.SKIPPED
    } == dict.fromkeys(("s200", "s201", "s202"), "the limit of 200 skills in one root was reached")


def test_of_a_folder_three_hundred_folders_are_looked_at_and_the_rest_is_skipped(
    workspace: Workspace,
):
    configure(workspace, limits={"maxSkillsLoadedPerSource": 1000})
    for number in range(303):
        workspace.skill(f"project/skills/s{number:03}")
    # Neither files nor what is passed over anyway counts.
    workspace.skill("project/skills/.hidden")
    workspace.write("project/skills/0.txt")
    snapshot = workspace.scan(HOST)
    assert snapshot.counts() == {State.SKIPPED: 4, State.READY: 300}
    assert {one.name: one.reason for one in snapshot.outcomes if one.state is State.SKIPPED} == {
        ".hidden": "its folder begins with a dot; this host skips those",
        **dict.fromkeys(
            ("s300", "s301", "s302"), "only the first 300 folders beside it are searched"
        ),
    }
    assert [(one.code, one.message, one.file) for one in snapshot.diagnostics] == [
        (
            "limit-reached",
            "The folder has 303 folders in it; only the first 300 are searched.",
            workspace.path("project/skills"),
        )
    ]


def test_the_files_beside_a_skill_md_count_against_no_limit(workspace: Workspace):
    workspace.skill("project/skills/it")
    for number in range(310):
        workspace.write(f"project/skills/it/{number:03}.txt")
        (workspace.root / f"project/skills/it/A{number:03}").mkdir()
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {"project/skills/it/SKILL.md": "ready"}
    assert snapshot.diagnostics == ()


@pytest.mark.parametrize(("size", "state"), [(256_000, State.READY), (256_001, State.SKIPPED)])
def test_a_file_of_256000_bytes_is_the_largest_that_loads(
    workspace: Workspace, size: int, state: State
):
    text = skill_text("it", "d", body="")
    workspace.write("project/skills/it/SKILL.md", text + "x" * (size - len(text)))
    outcome = workspace.outcome(workspace.scan(HOST), "project/skills/it/SKILL.md")
    reason = (
        None if state is State.READY else "The file has 256,001 bytes; at most 256,000 are read"
    )
    assert (outcome.state, outcome.reason) == (state, reason)


def test_the_configuration_sets_every_limit(workspace: Workspace):
    limits = {"maxCandidatesPerRoot": 3, "maxSkillsLoadedPerSource": 2, "maxSkillFileBytes": 40}
    configure(workspace, limits=limits)
    for name in ("a", "b", "c", "d"):
        workspace.skill(f"project/skills/{name}")
    workspace.skill("home/.openclaw/skills/long", description="longer than forty bytes")
    snapshot = workspace.scan(HOST)
    assert {one.name: (one.state.value, one.reason) for one in snapshot.outcomes} == {
        "a": ("ready", None),
        "b": ("ready", None),
        "c": ("skipped", "the limit of 2 skills in one root was reached"),
        "d": ("skipped", "only the first 3 folders beside it are searched"),
        "long": ("skipped", "The file has 61 bytes; at most 40 are read"),
    }


# The environment


def test_the_state_folder_moves_managed_skills_and_configuration(workspace: Workspace):
    workspace.skill("home/.openclaw/skills/default")
    workspace.skill("state/skills/moved")
    workspace.skill("extra/from-config")
    configure(workspace, "state/openclaw.json", load={"extraDirs": [workspace.path("extra")]})
    snapshot = workspace.scan(HOST, env={"OPENCLAW_STATE_DIR": workspace.path("state")})
    assert workspace.listed(snapshot) == {
        "from-config": "extra/from-config/SKILL.md",
        "moved": "state/skills/moved/SKILL.md",
    }


def test_a_state_folder_of_its_own_leaves_personal_skills_out(workspace: Workspace):
    workspace.skill("home/.agents/skills/personal")
    workspace.skill("home/.agents/skills/same")
    workspace.skill("state/skills/same")
    snapshot = workspace.scan(HOST, env={"OPENCLAW_STATE_DIR": workspace.path("state")})
    assert workspace.ends(snapshot) == {
        "home/.agents/skills/personal/SKILL.md": "disabled",
        "home/.agents/skills/same/SKILL.md": "disabled",
        "state/skills/same/SKILL.md": "ready",
    }
    # What the host does not look at is not in its list, though a skill that a setting disables is.
    assert workspace.listed(snapshot) == {"same": "state/skills/same/SKILL.md"}


def test_a_state_folder_that_is_the_usual_one_changes_nothing(workspace: Workspace):
    workspace.skill("home/.agents/skills/personal")
    workspace.skill("home/.openclaw/skills/managed")
    snapshot = workspace.scan(
        HOST, env={"OPENCLAW_STATE_DIR": workspace.path("home/.openclaw") + "/"}
    )
    assert workspace.ends(snapshot) == {
        "home/.agents/skills/personal/SKILL.md": "ready",
        "home/.openclaw/skills/managed/SKILL.md": "ready",
    }


def test_the_path_of_the_configuration_moves_the_state_folder(workspace: Workspace):
    workspace.skill("home/.openclaw/skills/default")
    workspace.skill("home/.agents/skills/personal")
    workspace.skill("other/skills/moved")
    workspace.skill("extra/from-config")
    configure(workspace, "other/my.json5", load={"extraDirs": [workspace.path("extra")]})
    snapshot = workspace.scan(HOST, env={"OPENCLAW_CONFIG_PATH": workspace.path("other/my.json5")})
    assert workspace.listed(snapshot) == {
        "from-config": "extra/from-config/SKILL.md",
        "moved": "other/skills/moved/SKILL.md",
        "personal": "home/.agents/skills/personal/SKILL.md",
    }


# The header


@pytest.mark.parametrize(
    "text",
    [
        "---  \nname: it\ndescription: d\n---\t\nBody\n",
        "---\rname: it\rdescription: d\r---\rBody\r",
        "\ufeff---\r\nname: it\r\ndescription: d\r\n---\r\nBody\r\n",
        "---\nname: it\ndescription: d\n---",
    ],
)
def test_blanks_line_ends_and_a_byte_order_mark_make_no_difference(workspace: Workspace, text: str):
    workspace.write("project/skills/it/SKILL.md", text.encode())
    [skill] = workspace.scan(HOST).skills
    assert (skill.name, skill.description) == ("it", "d")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\n---\nname: it\ndescription: d\n---\nBody\n", "header-missing"),
        ("---\nname: it\ndescription: d\n...\nBody\n", "header-unclosed"),
        ("---\nname: it\ndescription: ''\n---\nBody\n", "description-missing"),
        ("---\nname: it\ndescription:\n---\nBody\n", "description-missing"),
        ("---\nname: it\ndescription: d\nfoo: a: b\n---\nBody\n", "yaml-invalid"),
        ("---\nname: it\nname: other\ndescription: d\n---\nBody\n", "yaml-invalid"),
    ],
)
def test_a_file_that_the_host_does_not_load_is_invalid_and_says_why(
    workspace: Workspace, text: str, code: str
):
    workspace.write("project/skills/it/SKILL.md", text)
    state, codes = problems(workspace, "project/skills/it/SKILL.md")
    assert state is State.INVALID
    assert code in codes


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("description: Use when: x: y", "Use when: x: y"),
        ("description: @home", "@home"),
        ("description: [unclosed", "[unclosed"),
        ("description: 'half quoted", "'half quoted"),
    ],
)
def test_a_broken_description_is_rescued_as_text(workspace: Workspace, line: str, description: str):
    workspace.write("project/skills/it/SKILL.md", f"---\nname: it\n{line}\n---\nBody\n")
    [skill] = workspace.scan(HOST).skills
    assert skill.description == description


@pytest.mark.parametrize("key", ["summary", "read_when"])
def test_two_other_fields_are_rescued_where_they_hold_a_colon(workspace: Workspace, key: str):
    workspace.write(
        "project/skills/it/SKILL.md", f"---\nname: it\ndescription: d\n{key}: a: b\n---\nBody\n"
    )
    [skill] = workspace.scan(HOST).skills
    assert skill.frontmatter == {"name": "it", "description": "d", key: "a: b"}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("true", True),
        ("1", True),
        ('"yes"', True),
        ("on", True),
        ("ON", True),
        ("false", False),
        ("0", False),
        ("no", False),
        ("off", False),
        ("maybe", None),
        ("2", None),
    ],
)
def test_flags_are_truth_words_and_anything_else_is_the_default(
    workspace: Workspace, word: str, meant: bool | None
):
    workspace.skill("project/skills/it", user_invocable=word, disable_model_invocation=word)
    [outcome] = workspace.scan(HOST).outcomes
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(
        name="it", description="d", user_invocable=meant, disable_model_invocation=meant
    )
    assert outcome.state is (State.HIDDEN if meant else State.READY)


@pytest.mark.parametrize(
    ("header", "field"),
    [
        (
            "command_dispatch: tool\ncommand_tool: x\n",
            {"command_dispatch": "tool", "command_tool": "x"},
        ),
        ('metadata: {"openclaw": {"always": true}}\n', {"always": True}),
        ('metadata: {"openclaw": {"always": "true"}}\n', {"always": None}),
        (
            'metadata: \'{openclaw: {emoji: "🦞", /* why */ skillKey: "key",},}\'\n',
            {"emoji": "🦞", "skill_key": "key"},
        ),
        ('metadata: {"clawdbot": {"primaryEnv": "KEY"}}\n', {"primary_env": "KEY"}),
        ('metadata: {"openclaw": 1, "clawdbot": {"primaryEnv": "KEY"}}\n', {"primary_env": "KEY"}),
        (
            'metadata: {"openclaw": {"emoji": "a"}, "clawdbot": {"primaryEnv": "KEY"}}\n',
            {"emoji": "a"},
        ),
        ('metadata: {"openclaw": {"os": "darwin, linux"}}\n', {"os": ("darwin", "linux")}),
        ('metadata: {"openclaw": {"os": [" linux ", 1]}}\n', {"os": ("linux", "1")}),
        (
            'metadata: {"openclaw": {"requires": {"anyBins": "a,b", "env": [X]}}}\n',
            {"requires": Requires(any_bins=("a", "b"), env=("X",))},
        ),
        (
            'metadata: {"openclaw": {"install": [{"kind": "BREW", "formula": "x"}, {"kind": "apt"}, 7]}}\n',
            {"install": ({"kind": "brew", "formula": "x"},)},
        ),
        ("metadata: 'not json'\n", {}),
        ("metadata: [1]\n", {}),
    ],
)
def test_metadata_is_read_in_every_form_the_release_takes(
    workspace: Workspace, header: str, field: dict[str, Any]
):
    workspace.write(
        "project/skills/it/SKILL.md", f"---\nname: it\ndescription: d\n{header}---\nBody\n"
    )
    [outcome] = workspace.scan(HOST).outcomes
    assert outcome.skill is not None
    manifest = outcome.skill.manifest
    assert manifest == Manifest(name="it", description="d", metadata=manifest.metadata, **field)


# What the release changed


TOP_LEVEL = """---
name: it
description: d
always: true
skillKey: key
primaryEnv: KEY
emoji: 🌤
homepage: https://example.com
os: [linux]
requires: {bins: [nope]}
install: [{kind: brew, formula: x}]
---
Body
"""


def test_only_the_document_reads_all_of_openclaws_fields_at_the_top(workspace: Workspace):
    workspace.write("project/skills/it/SKILL.md", TOP_LEVEL)
    [documented] = workspace.scan(DOCUMENTED).outcomes
    [current] = workspace.scan(HOST).outcomes
    assert documented.skill is not None
    assert documented.skill.manifest == Manifest(
        name="it",
        description="d",
        always=True,
        skill_key="key",
        primary_env="KEY",
        emoji="🌤",
        homepage="https://example.com",
        os=("linux",),
        requires=Requires(bins=("nope",)),
        install=({"kind": "brew", "formula": "x"},),
    )
    assert current.skill is not None
    assert current.skill.manifest == Manifest(
        name="it", description="d", emoji="🌤", homepage="https://example.com"
    )


def test_only_the_document_gates_by_requirements_at_the_top(workspace: Workspace):
    workspace.skill("project/skills/it", requires="{bins: [nope]}")
    assert [workspace.scan(host).outcomes[0].state for host in (DOCUMENTED, HOST)] == [
        State.INELIGIBLE,
        State.READY,
    ]


def test_only_the_release_looks_into_nested_folders(workspace: Workspace):
    for folder in (
        "project/skills",
        "project/.agents/skills",
        "home/.agents/skills",
        "home/.openclaw/skills",
        "extra",
    ):
        workspace.skill(f"{folder}/near", name=f"near {folder}")
        workspace.skill(f"{folder}/group/far", name=f"far {folder}")
    add_extra(workspace, "extra")
    near = [name for name in names(workspace) if name.startswith("near")]
    assert (len(near), len(names(workspace))) == (5, 10)
    assert names(workspace, DOCUMENTED) == near


def test_only_the_release_has_the_workshop_between_bundled_and_managed(workspace: Workspace):
    workspace.skill("home/.openclaw/agents/main/agent/workshop-skills/made")
    env = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    labels = [
        [root.id for root in workspace.scan(host, env=env).roots] for host in (HOST, DOCUMENTED)
    ]
    assert labels == [
        ["bundled", "workshop", "managed", "personal", "project", "workspace"],
        ["bundled", "managed", "personal", "project", "workspace"],
    ]
    assert (names(workspace, env=env), names(workspace, DOCUMENTED, env=env)) == (["made"], [])


def test_only_the_document_has_a_skills_environment_directly_under_skills(workspace: Workspace):
    configure(
        workspace, weather={"env": {"OPENWEATHER_KEY": "k"}}, entries={"other": {"env": {"A": "b"}}}
    )
    documented = workspace.open(DOCUMENTED).settings().overrides
    current = workspace.open(HOST).settings().overrides
    other = Override(env={"A": "b"})
    assert documented == {"weather": Override(env={"OPENWEATHER_KEY": "k"}), "other": other}
    assert current == {"other": other}


def test_a_raised_limit_on_candidates_raises_the_limit_on_folders(workspace):
    for number in range(40):
        workspace.skill(f"project/skills/s{number:02}")
    limits = "{skills: {limits: {maxCandidatesPerRoot: %d, maxSkillsLoadedPerSource: 100}}}"
    workspace.write("home/.openclaw/openclaw.json", limits % 6)
    assert len(workspace.listed(workspace.scan("openclaw"))) == 6
    workspace.write("home/.openclaw/openclaw.json", limits % 40)
    snapshot = workspace.scan("openclaw")
    assert (len(workspace.listed(snapshot)), snapshot.diagnostics) == (40, ())
